//! Documents generated from the code: the reference and the JSON Schema.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::metadata;

const DOCUMENTS: [(&str, &[&str]); 2] =
    [("docs/reference.md", &["reference"]), ("docs/harp.schema.json", &["schema"])];

fn generated(arguments: &[&str]) -> Result<String> {
    let output = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--package", "harp-cli", "--"])
        .args(arguments)
        .current_dir(metadata::root())
        .output()
        .context("cannot run harp")?;
    ensure!(output.status.success(), "harp {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// Writes them.
pub fn write() -> Result<()> {
    for (file, arguments) in DOCUMENTS {
        fs::write(metadata::root().join(file), generated(arguments)?)
            .with_context(|| format!("cannot write {file}"))?;
    }
    Ok(())
}

/// Fails when one differs from what the code says.
pub fn check() -> Result<()> {
    for (file, arguments) in DOCUMENTS {
        let written = fs::read_to_string(metadata::root().join(file)).unwrap_or_default();
        if written != generated(arguments)? {
            bail!("{file} is out of date; run `make docs` and commit it");
        }
    }
    println!("generated documents are up to date");
    Ok(())
}
