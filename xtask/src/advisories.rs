//! Known vulnerabilities among the dependencies, from the RustSec database.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::metadata;

/// Asks `cargo audit`. Where it is not installed or its database cannot be fetched, nothing is known
/// and that is said; only an advisory that was found is a failure.
pub fn check() -> Result<()> {
    let installed =
        Command::new("cargo-audit").arg("--version").output().is_ok_and(|output| output.status.success());
    if !installed {
        println!(
            "advisories: NOT CHECKED, cargo-audit is not installed (cargo install cargo-audit --locked)"
        );
        return Ok(());
    }
    let output = Command::new("cargo-audit")
        .args(["audit", "--json"])
        .current_dir(metadata::root())
        .output()
        .context("cannot run cargo audit")?;
    let Ok(report) = serde_json::from_slice::<serde_json::Value>(&output.stdout) else {
        println!("advisories: NOT CHECKED, the database cannot be fetched");
        return Ok(());
    };
    let found = report["vulnerabilities"]["list"].as_array().map(Vec::len).unwrap_or_default();
    if found > 0 {
        bail!("{found} advisories: run cargo audit to see them");
    }
    println!("advisories: none");
    Ok(())
}
