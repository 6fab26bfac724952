//! Model files: JSON with a format name, a version and a checksum; data only, never code.
//!
//! Described in `docs/model-file.md`. Reading checks everything a prediction relies on, so that a
//! file from a stranger can be wrong but cannot make harp panic, hang or run code.

use std::collections::BTreeMap;

use harp_core::{Target, Timestamp, Value};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use sha2::{Digest, Sha256};

use crate::{Cause, ModelFileError, TargetModel};

/// The version written; every version up to it is read.
pub const MODEL_FILE_VERSION: u64 = 1;
const FORMAT: &str = "harp-model";
const LARGEST_FILE: usize = 64 << 20;

/// What a model file holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFile {
    /// The application, as in the experiment file.
    pub application: String,
    /// The program that wrote it, with its version.
    pub created_by: String,
    /// The features in the order of the experiment.
    pub features: Vec<String>,
    /// One model a target.
    pub targets: Vec<TargetModel>,
    /// Which runs it learned from; files of earlier harps do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<Learned>,
}

/// Which runs a model learned from: what came later, it has not seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Learned {
    /// When the latest of them began.
    pub until: Timestamp,
    /// How many there were.
    pub runs: usize,
    /// Fingerprints of the programs they ran, as far as they were taken.
    pub programs: Vec<String>,
    /// Names of the machines they ran on.
    pub hosts: Vec<String>,
    /// What was measured of those that differ, as it was learned from: measured again, rates are a little other.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machines: BTreeMap<String, BTreeMap<String, Value>>,
    /// The standard deviation of ln(truth/estimate) on a machine without runs, where several are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_machine: Option<f64>,
    /// The moment since when they differ from those before, where there is one: a model of both is of
    /// neither.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mixed: Option<Mixed>,
}

/// Runs that differ from those before them, in what a model learned from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Mixed {
    /// When the first of them began.
    pub since: Timestamp,
    /// How many there are.
    pub runs: usize,
    /// How many times longer they took, as far as it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Why, most likely.
    pub cause: Cause,
}

/// The outer object. `model` is kept as text, so that the checksum covers what was written.
#[derive(Serialize, Deserialize)]
struct Envelope {
    format: String,
    version: u64,
    checksum: String,
    model: Box<RawValue>,
}

impl ModelFile {
    /// A file of these models; the features are those of the first, then what only others look at.
    pub fn new(application: &str, created_by: &str, targets: Vec<TargetModel>) -> ModelFile {
        let mut features: Vec<String> = Vec::new();
        for feature in targets.iter().flat_map(|model| &model.features) {
            if !features.contains(&feature.name) {
                features.push(feature.name.clone());
            }
        }
        ModelFile {
            application: application.to_owned(),
            created_by: created_by.to_owned(),
            features,
            targets,
            learned: None,
        }
    }

    /// The model of a target.
    pub fn target(&self, target: &Target) -> Option<&TargetModel> {
        self.targets.iter().find(|model| model.target == *target)
    }

    /// The file's text; the same model gives the same text.
    pub fn to_text(&self) -> Result<String, ModelFileError> {
        let model = to_raw_value(self).map_err(malformed)?;
        let envelope = Envelope {
            format: FORMAT.to_owned(),
            version: MODEL_FILE_VERSION,
            checksum: checksum(model.get()),
            model,
        };
        serde_json::to_string(&envelope).map(|text| text + "\n").map_err(malformed)
    }

    /// Reads a file's text, checking format, version, checksum and that the parts fit together.
    pub fn from_text(text: &str) -> Result<ModelFile, ModelFileError> {
        if text.len() > LARGEST_FILE {
            return Err(ModelFileError::TooLarge { bytes: text.len(), limit: LARGEST_FILE });
        }
        let envelope: Envelope = serde_json::from_str(text).map_err(malformed)?;
        if envelope.format != FORMAT {
            return Err(ModelFileError::WrongFormat { format: envelope.format });
        }
        if envelope.version > MODEL_FILE_VERSION {
            return Err(ModelFileError::NewerVersion {
                version: envelope.version,
                newest: MODEL_FILE_VERSION,
            });
        }
        if checksum(envelope.model.get()) != envelope.checksum {
            return Err(ModelFileError::Checksum);
        }
        let file: ModelFile = serde_json::from_str(envelope.model.get()).map_err(malformed)?;
        for model in &file.targets {
            model.check().map_err(|reason| ModelFileError::Inconsistent {
                reason: format!("{}: {reason}", model.target),
            })?;
        }
        Ok(file)
    }
}

fn malformed(error: serde_json::Error) -> ModelFileError {
    ModelFileError::Malformed { reason: error.to_string() }
}

/// `sha256:` and the digest of the text without the white space between its tokens, so that a file
/// that was only indented is still whole.
fn checksum(text: &str) -> String {
    let mut inside_text = false;
    let mut escaped = false;
    let canonical: Vec<u8> = text
        .bytes()
        .filter(|&byte| {
            let keep = inside_text || !byte.is_ascii_whitespace();
            match byte {
                b'"' if !escaped => inside_text = !inside_text,
                _ => {}
            }
            escaped = inside_text && byte == b'\\' && !escaped;
            keep
        })
        .collect();
    let digest = Sha256::digest(&canonical);
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}
