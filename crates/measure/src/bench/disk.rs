//! How fast a folder takes what is written until it is safe there.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

const PIECE: usize = 4 << 20;
const MOST: usize = 64;

/// Bytes a second, in 10⁹, or nothing where it cannot be written to. The file is gone afterwards.
pub(super) fn rate(folder: &Path, time: Duration) -> Option<f64> {
    let path = folder.join(format!(".harp-bench-{}", std::process::id()));
    let rate = write(&path, time);
    let _ = fs::remove_file(&path);
    rate.ok()
}

fn write(path: &Path, time: Duration) -> std::io::Result<f64> {
    // Not zeros: some disks store those without writing them.
    let piece: Vec<u8> = (0..PIECE).map(|index| (index.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let mut file = File::create(path)?;
    let started = Instant::now();
    let mut written = 0;
    while written < MOST && (written < 2 || started.elapsed() < time) {
        file.write_all(&piece)?;
        written += 1;
    }
    file.sync_all()?;
    Ok((written * PIECE) as f64 / started.elapsed().as_secs_f64().max(1e-9) / 1e9)
}
