//! Latin hypercube: with `n` points, each of `n` equal slices of every dimension holds one of them
//! (M. D. McKay, R. J. Beckman and W. J. Conover, Technometrics 21 (1979) 239–245).

use super::chance::Chance;

/// `count` points in `dimensions` dimensions, each coordinate from 0 to below 1.
pub(crate) fn points(count: usize, dimensions: usize, chance: &mut Chance) -> Vec<Vec<f64>> {
    let mut points = vec![Vec::with_capacity(dimensions); count];
    for _ in 0..dimensions {
        let mut slices: Vec<usize> = (0..count).collect();
        chance.shuffle(&mut slices);
        for (point, slice) in points.iter_mut().zip(slices) {
            let within = chance.unit();
            // Rounding must not carry a point into the next slice.
            let coordinate = (slice as f64 + within) / count as f64;
            let end = (slice + 1) as f64 / count as f64;
            point.push(if coordinate < end { coordinate } else { slice as f64 / count as f64 });
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_slice_of_every_dimension_holds_one_point(
            count in 1usize..60, dimensions in 1usize..8, seed in any::<u64>()
        ) {
            let points = points(count, dimensions, &mut Chance::new(seed, 0));
            for dimension in 0..dimensions {
                let mut slices: Vec<f64> = points.iter().map(|point| point[dimension]).collect();
                slices.sort_by(f64::total_cmp);
                for (slice, coordinate) in slices.iter().enumerate() {
                    prop_assert!(*coordinate >= slice as f64 / count as f64);
                    prop_assert!(*coordinate < (slice + 1) as f64 / count as f64);
                }
            }
        }
    }
}
