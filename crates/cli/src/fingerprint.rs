//! What tells one state of a program from another: its command line, and what is in the files it names.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use harp_experiment::{Command, Template};
use sha2::{Digest, Sha256};

use crate::project::Project;

/// Files up to this size are read whole, of larger ones only both ends: a program that was built again
/// differs there, and nobody waits for gigabytes.
const WHOLE: u64 = 16 << 20;
const END: u64 = 1 << 20;
/// Hexadecimal digits that are kept.
const DIGITS: usize = 12;

/// The fingerprint of an experiment's program as it is now.
pub fn of(project: &Project) -> String {
    let mut digest = Sha256::new();
    for word in words(&project.experiment.program.command) {
        digest.update(word.as_bytes());
        digest.update([0]);
        if let Some((length, content)) = find(project, &word).and_then(|file| content(&file).ok()) {
            digest.update(length.to_le_bytes());
            digest.update(content);
        }
    }
    let digits: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    digits[..DIGITS].to_owned()
}

/// The words of the command as they are written, placeholders in their braces.
fn words(command: &Command) -> Vec<String> {
    let written =
        |template: &Template| template.fill(&|name| Some(format!("{{{name}}}"))).unwrap_or_default();
    match command {
        Command::Words(words) => words.iter().map(written).collect(),
        Command::Shell(line) => {
            let line = written(line);
            line.split(|c: char| c.is_whitespace() || "\"'();|&<>".contains(c))
                .filter(|word| !word.is_empty())
                .map(str::to_owned)
                .collect()
        }
    }
}

/// The file a word names: beside the experiment, in the program's directory, or on the PATH.
fn find(project: &Project, word: &str) -> Option<PathBuf> {
    let here = project.directory.join(word);
    let there = project.directory.join(&project.experiment.program.directory).join(word);
    let mut places = vec![here, there];
    if !word.contains('/') {
        let path = std::env::var_os("PATH").unwrap_or_default();
        places.extend(std::env::split_paths(&path).map(|folder| folder.join(word)));
    }
    places.into_iter().find(|file| fs::metadata(file).is_ok_and(|facts| facts.is_file()))
}

/// A file's length and what is looked at of it.
fn content(path: &Path) -> std::io::Result<(u64, Vec<u8>)> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut content = Vec::new();
    if length <= WHOLE {
        file.read_to_end(&mut content)?;
    } else {
        file.by_ref().take(END).read_to_end(&mut content)?;
        file.seek(SeekFrom::End(-(END as i64)))?;
        file.read_to_end(&mut content)?;
    }
    Ok((length, content))
}
