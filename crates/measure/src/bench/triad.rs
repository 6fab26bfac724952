//! The triad of STREAM (McCalpin 1995): a = b + s · c over arrays no cache holds, 24 bytes an element.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const BYTES: f64 = 24.0;

/// Bytes moved by some threads together, in 10⁹ a second. The arrays have `array` bytes each, shared by
/// the threads; every thread fills its own part first, so that it lies in memory near it.
pub(super) fn rate(threads: usize, array: u64, time: Duration) -> f64 {
    let elements = (array as usize / size_of::<f64>() / threads).max(1024);
    let (barrier, enough, begin) = (Barrier::new(threads), AtomicBool::new(false), Instant::now());
    let rates: Vec<f64> = thread::scope(|scope| {
        let one = || {
            let mut sum = vec![0.0f64; elements];
            let (left, right) = (vec![1.0f64; elements], vec![2.0f64; elements]);
            let factor = black_box(3.0);
            sum.iter_mut().for_each(|value| *value = 1.0);
            let mut best = 0.0f64;
            // All stop after the same pass: one that stopped early would leave memory to the others.
            while !enough.load(Ordering::SeqCst) {
                barrier.wait();
                let started = Instant::now();
                for ((sum, left), right) in sum.iter_mut().zip(&left).zip(&right) {
                    *sum = left + factor * right;
                }
                black_box(&mut sum);
                let is_last = barrier.wait().is_leader();
                let seconds = started.elapsed().as_secs_f64().max(1e-9);
                best = best.max(elements as f64 * BYTES / seconds / 1e9);
                if is_last && begin.elapsed() >= time {
                    enough.store(true, Ordering::SeqCst);
                }
                barrier.wait();
            }
            best
        };
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        started.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    rates.iter().sum()
}
