//! The binary people install: static, stripped, one file.

use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::metadata;

/// Only the platform with a static C library installed is built for.
const TARGET: &str = "x86_64-unknown-linux-gnu";
const LARGEST: u64 = 25_000_000;

/// Builds it and checks that it needs no library at run time and is small.
pub fn release() -> Result<()> {
    let root = metadata::root();
    // With an explicit target the flags do not reach build scripts and procedural macros, which
    // cannot be static.
    let status = Command::new(env!("CARGO"))
        .args(["build", "--release", "--locked", "--package", "harp-cli", "--target", TARGET])
        .env("RUSTFLAGS", "-C target-feature=+crt-static")
        .current_dir(&root)
        .status()
        .context("cannot run cargo build")?;
    ensure!(status.success(), "the build failed");
    let metadata = metadata::cargo_metadata()?;
    let target_directory = metadata["target_directory"].as_str().context("no target directory")?;
    let binary = format!("{target_directory}/{TARGET}/release/harp");
    let content = std::fs::read(&binary).with_context(|| format!("cannot read {binary}"))?;
    if has_interpreter(&content).context("the binary is not an ELF file")? {
        bail!("{binary} is not static: it asks for a dynamic loader");
    }
    let size = content.len() as u64;
    ensure!(size < LARGEST, "{binary} has {size} bytes, more than {LARGEST}");
    println!("{binary}: static, {:.1} MB", size as f64 / 1e6);
    Ok(())
}

/// Whether a 64-bit little-endian ELF file has a program header of type PT_INTERP (3).
fn has_interpreter(content: &[u8]) -> Option<bool> {
    let number = |offset: usize, length: usize| -> Option<u64> {
        let bytes = content.get(offset..offset.checked_add(length)?)?;
        Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    };
    (content.get(..5)? == b"\x7fELF\x02").then_some(())?;
    let (start, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let kinds: Option<Vec<u64>> =
        (0..count).map(|index| number((start + index * size) as usize, 4)).collect();
    Some(kinds?.contains(&3))
}
