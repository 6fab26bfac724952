//! Chance by seed. Written out here, down to the shuffle, so that a sweep stays the same when a
//! library changes how it draws.

use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;

/// A stream of draws.
pub(crate) struct Chance(Pcg64);

impl Chance {
    /// The stream of a seed with a number; streams of different numbers have nothing to do with each
    /// other.
    pub(crate) fn new(seed: u64, stream: u64) -> Chance {
        // PCG starts similar seeds in similar states; some draws ahead they have parted.
        let mut generator = Pcg64::new(u128::from(seed) << 64 | u128::from(seed), u128::from(stream));
        for _ in 0..8 {
            generator.next_u64();
        }
        Chance(generator)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from 0 to below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A whole number from 0 to below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// Any order with equal probability (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_and_streams_part() {
        let first = |seed, stream| Chance::new(seed, stream).bits();
        assert_eq!(first(1, 0), first(1, 0));
        assert_ne!(first(1, 0), first(2, 0));
        assert_ne!(first(1, 0), first(1, 1));
    }

    #[test]
    fn every_order_is_about_equally_likely() {
        let mut chance = Chance::new(7, 0);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            let mut order = [0, 1, 2];
            chance.shuffle(&mut order);
            *counts.entry(order).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| (850..1150).contains(count)), "{counts:?}");
    }
}
