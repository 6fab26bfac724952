//! A short benchmark of this machine, a few seconds in all: what its threads compute, what its memory and
//! its disk move. Rates are of plain code as this program was compiled, to compare machines with each
//! other, not with data sheets. The best of several tries counts: others on the machine only slow it down.

mod compute;
mod disk;
mod triad;

use std::path::Path;
use std::time::{Duration, Instant};

use harp_core::{Bytes, Descriptors, Host};

use crate::available_cores;

/// How long each figure is measured.
const EACH: Duration = Duration::from_millis(400);
/// Arrays of fewer bytes may stay in some cache.
const SMALLEST_ARRAY: u64 = 32 << 20;
/// Arrays are this many times as large as the largest cache (McCalpin's rule for STREAM).
const TIMES_CACHE: u64 = 4;

/// Measures this machine; `step` is told what comes next. Files are written in `folder`.
pub fn bench(host: &Host, folder: &Path, step: &mut dyn FnMut(&str)) -> Descriptors {
    let threads = available_cores().0.len().max(1);
    let cache = host.caches.iter().map(|cache| cache.size).max();
    let array = array_size(cache, host.memory);
    step("integer operations of one thread");
    let integer_gops = best(compute::integers);
    step("floating-point operations of one thread");
    let floating_gflops = best(compute::floats);
    step("memory bandwidth of one thread");
    let bandwidth_one_gbs = triad::rate(1, array, EACH);
    step(&format!("memory bandwidth of {threads} threads"));
    let bandwidth_gbs = triad::rate(threads, array, EACH);
    step("writing to disk");
    Descriptors {
        cores: Some(threads as f64),
        integer_gops: Some(integer_gops),
        floating_gflops: Some(floating_gflops),
        bandwidth_one_gbs: Some(bandwidth_one_gbs),
        bandwidth_gbs: Some(bandwidth_gbs),
        cache_mib: cache.map(|cache| cache.as_f64() / f64::from(1 << 20)),
        disk_write_gbs: disk::rate(folder, EACH),
        gpu_tflops: None,
    }
}

/// The best rate, in 10⁹ a second, of work that says how much it did.
fn best(work: fn() -> u64) -> f64 {
    let mut best = 0.0f64;
    let begin = Instant::now();
    while begin.elapsed() < EACH {
        let started = Instant::now();
        let done = work();
        best = best.max(done as f64 / started.elapsed().as_secs_f64().max(1e-9) / 1e9);
    }
    best
}

/// Bytes of one of the three arrays all threads share: beyond the caches, at most an eighth of memory.
fn array_size(cache: Option<Bytes>, memory: Option<Bytes>) -> u64 {
    let wanted = cache.map_or(0, |cache| cache.0.saturating_mul(TIMES_CACHE)).max(SMALLEST_ARRAY);
    memory.map_or(wanted, |memory| wanted.min(memory.0 / 24))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_larger_than_caches_and_smaller_than_memory() {
        let size = |cache: u64, memory: u64| array_size(Some(Bytes(cache << 20)), Some(Bytes(memory << 20)));
        assert_eq!(size(32, 64 << 10), 128 << 20);
        assert_eq!(size(1, 64 << 10), 32 << 20);
        assert_eq!(size(512, 2400), 100 << 20);
        assert_eq!(array_size(None, None), SMALLEST_ARRAY);
    }

    #[test]
    fn this_machine_is_measured_step_by_step() {
        let folder = tempfile::tempdir().unwrap();
        let mut steps = Vec::new();
        let found = bench(&crate::host(), folder.path(), &mut |step| steps.push(step.to_owned()));
        assert_eq!(steps.len(), 5);
        assert!(found.entries().iter().all(|(_, rate)| *rate > 0.0 && rate.is_finite()), "{found:?}");
        assert!(found.entries().len() >= 6, "{found:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "a file was left behind");
    }
}
