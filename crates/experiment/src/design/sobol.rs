//! Sobol points: however many are taken, they fill the space evenly.
//!
//! Direction numbers by S. Joe and F. Y. Kuo, "Constructing Sobol sequences with better
//! two-dimensional projections", SIAM J. Sci. Comput. 30 (2008) 2635–2654 (their table
//! new-joe-kuo-6.21201); order of points by I. A. Antonov and V. M. Saleev, USSR Comput. Math. Math.
//! Phys. 19 (1979) 252–256. A seed moves all points by a digital shift (P. L'Ecuyer and C. Lemieux,
//! "Recent advances in randomized quasi-Monte Carlo methods", 2002), which keeps how evenly they lie.

use super::chance::Chance;

/// Degree, coefficients and initial numbers of the primitive polynomials of dimensions 2, 3, …
const POLYNOMIALS: [(u32, u32, &[u32]); 20] = [
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
    (6, 19, &[1, 1, 1, 15, 7, 5]),
    (6, 22, &[1, 3, 1, 15, 13, 25]),
    (6, 25, &[1, 1, 5, 5, 19, 61]),
    (7, 1, &[1, 3, 7, 11, 23, 15, 103]),
    (7, 4, &[1, 3, 7, 13, 13, 15, 69]),
];

/// How many dimensions there are numbers for.
pub(crate) const MOST_DIMENSIONS: usize = POLYNOMIALS.len() + 1;

const BITS: usize = 32;

/// The sequence in some dimensions.
pub(crate) struct Sobol {
    directions: Vec<[u32; BITS]>,
    shift: Vec<u32>,
    state: Vec<u32>,
    index: u32,
}

impl Sobol {
    /// The sequence in at most [`MOST_DIMENSIONS`] dimensions, moved by chance if there is any.
    pub(crate) fn new(dimensions: usize, chance: Option<&mut Chance>) -> Sobol {
        let directions: Vec<[u32; BITS]> = (0..dimensions.min(MOST_DIMENSIONS)).map(directions).collect();
        let shift = match chance {
            Some(chance) => directions.iter().map(|_| (chance.bits() >> 32) as u32).collect(),
            None => vec![0; directions.len()],
        };
        Sobol { state: vec![0; directions.len()], directions, shift, index: 0 }
    }

    /// The next point, each coordinate from 0 to below 1.
    pub(crate) fn next_point(&mut self) -> Vec<f64> {
        let point = self
            .state
            .iter()
            .zip(&self.shift)
            .map(|(state, shift)| f64::from(state ^ shift) / f64::from(2.0f32.powi(BITS as i32)))
            .collect();
        let bit = self.index.trailing_ones() as usize;
        for (state, directions) in self.state.iter_mut().zip(&self.directions) {
            *state ^= directions.get(bit).copied().unwrap_or(0);
        }
        self.index = self.index.wrapping_add(1);
        point
    }
}

/// The direction numbers of a dimension, from 0.
fn directions(dimension: usize) -> [u32; BITS] {
    let mut numbers = [0u32; BITS];
    let Some((degree, coefficients, initial)) =
        dimension.checked_sub(1).and_then(|index| POLYNOMIALS.get(index))
    else {
        for (bit, number) in numbers.iter_mut().enumerate() {
            *number = 1 << (BITS - 1 - bit);
        }
        return numbers;
    };
    let degree = *degree as usize;
    for bit in 0..BITS {
        numbers[bit] = match initial.get(bit) {
            Some(number) => number << (BITS - 1 - bit),
            None => {
                let mut number = numbers[bit - degree] ^ (numbers[bit - degree] >> degree);
                for term in 1..degree {
                    if coefficients >> (degree - 1 - term) & 1 == 1 {
                        number ^= numbers[bit - term];
                    }
                }
                number
            }
        };
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_points_are_the_known_ones() {
        let mut sobol = Sobol::new(3, None);
        let points: Vec<Vec<f64>> = (0..8).map(|_| sobol.next_point()).collect();
        assert_eq!(
            points,
            [
                [0.0, 0.0, 0.0],
                [0.5, 0.5, 0.5],
                [0.75, 0.25, 0.25],
                [0.25, 0.75, 0.75],
                [0.375, 0.375, 0.625],
                [0.875, 0.875, 0.125],
                [0.625, 0.125, 0.875],
                [0.125, 0.625, 0.375],
            ]
        );
    }

    /// Polynomials over the two-element field as bits, multiplied modulo another.
    fn multiply(mut left: u32, mut right: u32, modulus: u32, degree: u32) -> u32 {
        let mut product = 0;
        while right > 0 {
            if right & 1 == 1 {
                product ^= left;
            }
            left <<= 1;
            if left >> degree & 1 == 1 {
                left ^= modulus;
            }
            right >>= 1;
        }
        product
    }

    #[test]
    fn the_table_holds_primitive_polynomials_and_odd_small_numbers() {
        for (degree, coefficients, initial) in POLYNOMIALS {
            let modulus = (1 << degree) | (coefficients << 1) | 1;
            // x has order 2^degree - 1 exactly if the polynomial is primitive.
            let mut power = 1;
            let order = (1..).find(|_| {
                power = multiply(power, 2 % modulus.max(3), modulus, degree);
                power == 1 || degree == 1
            });
            assert_eq!(order, Some((1u32 << degree) - 1), "{degree} {coefficients}");
            assert_eq!(initial.len(), degree as usize);
            for (index, number) in initial.iter().enumerate() {
                assert!(number % 2 == 1 && *number < 2 << index, "{initial:?}");
            }
        }
    }

    #[test]
    fn every_projection_is_stratified_with_any_shift() {
        for seed in 0..5 {
            let mut sobol = Sobol::new(MOST_DIMENSIONS, Some(&mut Chance::new(seed, 0)));
            let points: Vec<Vec<f64>> = (0..64).map(|_| sobol.next_point()).collect();
            for dimension in 0..MOST_DIMENSIONS {
                let mut cells: Vec<usize> =
                    points.iter().map(|point| (point[dimension] * 64.0) as usize).collect();
                cells.sort_unstable();
                assert_eq!(cells, (0..64).collect::<Vec<_>>(), "dimension {dimension}");
            }
        }
    }

    #[test]
    fn pairs_of_the_first_dimensions_fill_a_square() {
        let mut sobol = Sobol::new(2, Some(&mut Chance::new(3, 0)));
        let mut cells: Vec<usize> = (0..16)
            .map(|_| sobol.next_point())
            .map(|point| (point[0] * 4.0) as usize * 4 + (point[1] * 4.0) as usize)
            .collect();
        cells.sort_unstable();
        assert_eq!(cells, (0..16).collect::<Vec<_>>());
    }
}
