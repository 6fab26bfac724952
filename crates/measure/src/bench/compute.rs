//! What one thread computes: chains that do not wait for each other, as much as fits into registers.

use std::hint::black_box;

const ROUNDS: u64 = 2_000_000;
const CHAINS: usize = 8;

/// Multiplies and adds whole numbers; gives the number of operations.
pub(super) fn integers() -> u64 {
    let mut values: [u64; CHAINS] = black_box([1, 2, 3, 4, 5, 6, 7, 8]);
    let (factor, term) = black_box((6_364_136_223_846_793_005, 1_442_695_040_888_963_407));
    for _ in 0..ROUNDS {
        for value in &mut values {
            *value = value.wrapping_mul(factor).wrapping_add(term);
        }
    }
    black_box(values);
    2 * ROUNDS * CHAINS as u64
}

/// The same with real numbers that stay of one size.
pub(super) fn floats() -> u64 {
    let mut values: [f64; CHAINS] = black_box([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]);
    let (factor, term) = black_box((0.999_999, 1e-6));
    for _ in 0..ROUNDS {
        for value in &mut values {
            *value = *value * factor + term;
        }
    }
    black_box(values);
    2 * ROUNDS * CHAINS as u64
}
