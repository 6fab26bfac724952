//! Random tables, cells and files fed to the learners. `cargo xtask fuzz [SECONDS] [SEED]`; a failure tells the seed
//! of its table.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use harp_learn::ModelFile;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use xtask::feed;

/// Runs tables for some time.
pub fn fuzz(seconds: &str, seed: &str) -> Result<()> {
    let seconds: u64 = seconds.parse().context("SECONDS is a number")?;
    let first: u64 = seed.parse().context("SEED is a number")?;
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut tables, mut models) = (0u64, 0u64);
    while Instant::now() < end || tables == 0 {
        let seed = first + tables;
        match catch_unwind(AssertUnwindSafe(|| one(seed))) {
            Ok(Ok(built)) => models += u64::from(built),
            Ok(Err(error)) => bail!("seed {seed}: {error:#}"),
            Err(_) => bail!("seed {seed}: panicked"),
        }
        tables += 1;
    }
    println!("{tables} tables from seed {first} on: {models} models, the others refused; no failure");
    Ok(())
}

/// One table, from its text to predictions; whether there was a model.
fn one(seed: u64) -> Result<bool> {
    let mut random = Pcg64::seed_from_u64(seed);
    let text = table(&mut random);
    let Some(model) = feed::table(&text, random.next_u64())? else { return Ok(false) };
    let mut file = ModelFile::new("fuzz", "fuzz", vec![model]).to_text()?.into_bytes();
    for _ in 0..20 {
        let place = below(&mut random, file.len());
        let kept = std::mem::replace(&mut file[place], random.next_u32() as u8);
        // Damaged files are refused or, where only a blank changed, read; either way without a panic.
        let _ = ModelFile::from_text(&String::from_utf8_lossy(&file));
        file[place] = kept;
    }
    Ok(true)
}

/// A CSV table with strange cells, and now and then damaged bytes.
fn table(random: &mut Pcg64) -> Vec<u8> {
    let width = 1 + below(random, 6);
    let rows = below(random, 60);
    let mut text: String = (0..width).map(|column| format!("f{column},")).collect();
    text.push_str("seconds,split\n");
    for _ in 0..rows {
        for _ in 0..width {
            text.push_str(&cell(random));
            text.push(',');
        }
        // Mostly what can be learned from: a table that is refused at its first row tests little.
        let odd = below(random, 150) == 0;
        let split = if odd {
            ["", "SD", "fs "][below(random, 3)]
        } else {
            ["sd", "sd", "fs", "test"][below(random, 4)]
        };
        let target =
            if odd { cell(random) } else { format!("{:.4}", 1e-3 + f64::from(random.next_u32()) / 1e6) };
        text.push_str(&format!("{target},{split}\n"));
    }
    let mut bytes = text.into_bytes();
    for _ in 0..if below(random, 4) == 0 { 1 + below(random, 8) } else { 0 } {
        let place = below(random, bytes.len());
        bytes[place] = random.next_u32() as u8;
    }
    bytes
}

fn cell(random: &mut Pcg64) -> String {
    match below(random, 16) {
        0 => String::new(),
        1 => "0".to_owned(),
        2 => "-3".to_owned(),
        3 => "1e300".to_owned(),
        4 => "1e-300".to_owned(),
        5 => ["nan", "inf", "true", "a", "\"b,c\"", "ü"][below(random, 6)].to_owned(),
        6..=10 => (1u64 << below(random, 20)).to_string(),
        _ => format!("{:.4}", f64::from(random.next_u32()) / 1e6),
    }
}

fn below(random: &mut Pcg64, limit: usize) -> usize {
    (random.next_u64() % limit as u64) as usize
}
