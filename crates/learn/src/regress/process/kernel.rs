//! The covariance of a process, and the scales under which runs are most likely.

use super::Curve;
use super::levels::Levels;
use super::scales::{Scales, Shape};
use super::surface::{Pairs, Surfaces};
use crate::regress::Training;
use crate::regress::cholesky::{Cholesky, dot};
use crate::regress::minimise::minimise;
use crate::statistics::mean;

/// Least noise, as a standard deviation of the logarithm.
const LEAST_NOISE: f64 = 0.005;

/// Rows in the log space and their values around the mean.
pub(super) struct Points<'a> {
    pub(super) places: Vec<&'a [f64]>,
    pub(super) values: Vec<f64>,
    /// Variance of the noise of each row, relative.
    noises: Vec<f64>,
    /// Whether a row weighs more than the lightest.
    heavy: Vec<bool>,
    /// Variance of the values.
    pub(super) variance: f64,
    shape: Shape,
    /// Of each feature, where single features matter.
    levels: Vec<Levels>,
}

/// A covariance and what it was made of.
struct Covariance {
    /// The lower triangle of the whole.
    whole: Vec<Vec<f64>>,
    /// Of the smooth function alone; zeros without one.
    smooth: Vec<Vec<f64>>,
    /// For each row, what single features say of it and each before it.
    single: Vec<Pairs>,
    /// For each feature, its bells by level.
    bells: Vec<Vec<f64>>,
}

pub(super) fn distance(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(l, r)| (l - r) * (l - r)).sum()
}

impl<'a> Points<'a> {
    pub(super) fn of(
        places: &'a [Vec<f64>],
        logarithms: &[f64],
        training: &Training<'_>,
        rows: &[usize],
        centre: f64,
        shape: Shape,
    ) -> Points<'a> {
        let values: Vec<f64> = rows.iter().map(|&row| logarithms[row] - centre).collect();
        let variance = mean(values.iter().map(|value| value * value)).unwrap_or(0.0).max(1e-6);
        let lightest = training.weights.iter().copied().fold(f64::INFINITY, f64::min);
        let places: Vec<&[f64]> = rows.iter().map(|&row| places[row].as_slice()).collect();
        let width = places.first().map_or(0, |place| place.len());
        let single = shape.curves || shape.surfaces;
        Points {
            levels: (0..if single { width } else { 0 }).map(|column| Levels::of(&places, column)).collect(),
            places,
            values,
            noises: rows
                .iter()
                .map(|&row| if shape.own_noise { 1.0 } else { lightest / training.weights[row] })
                .collect(),
            heavy: rows.iter().map(|&row| training.weights[row] > lightest).collect(),
            variance,
            shape,
        }
    }

    /// Starting scales, which are also what is believed beforehand.
    pub(super) fn believed(&self, width: usize) -> Scales {
        Scales::believed(width, self.variance)
    }

    /// The scales under which the values are likeliest, searched from the given ones.
    pub(super) fn likeliest(&self, start: Scales, steps: usize) -> Scales {
        let believed = self.believed(start.lengths.len());
        let (numbers, _) = minimise(start.numbers(self.shape), steps, |numbers, gradient| {
            self.surprise(&believed.clone().with(numbers, self.shape), &believed, gradient)
        });
        believed.with(&numbers, self.shape)
    }

    /// The curves of single features; runs at one place count together.
    pub(super) fn curves(&self, scales: &Scales, solved: &[f64]) -> Vec<Curve> {
        let height = (2.0 * scales.height).exp();
        let one = |(levels, width): (&Levels, &f64)| {
            let mut bells: Vec<(f64, f64)> = levels.values.iter().map(|&value| (value, 0.0)).collect();
            levels.of_row.iter().zip(solved).for_each(|(&level, w)| bells[level as usize].1 += height * w);
            Curve::of(&bells, width.exp())
        };
        self.levels.iter().zip(&scales.widths).map(one).collect()
    }

    /// The surfaces of two features.
    pub(super) fn surfaces(&self, scales: &Scales, solved: &[f64]) -> Surfaces {
        let height = (2.0 * scales.surface).exp();
        let widths = scales.widths.iter().map(|width| width.exp()).collect();
        Surfaces::of(&self.levels, widths, solved.iter().map(|w| height * w).collect())
    }

    /// The factor of the covariance; `None` if it is not positive.
    pub(super) fn factor(&self, scales: &Scales) -> Option<Cholesky> {
        Cholesky::of(&self.covariance(scales)?.whole)
    }

    /// `None` if a number is not finite.
    fn covariance(&self, scales: &Scales) -> Option<Covariance> {
        let smooth = self.smooth(scales);
        let bells: Vec<Vec<f64>> =
            self.levels.iter().zip(&scales.widths).map(|(levels, width)| levels.bells(width.exp())).collect();
        let single: Vec<Pairs> = match self.levels.is_empty() {
            true => Vec::new(),
            false => (0..self.values.len()).map(|row| self.single(&bells, row)).collect(),
        };
        let slope = if self.shape.trend { (2.0 * scales.slope).exp() } else { 0.0 };
        let height = if self.shape.curves { (2.0 * scales.height).exp() } else { 0.0 };
        let surface = if self.shape.surfaces { (2.0 * scales.surface).exp() } else { 0.0 };
        let mut whole = smooth.clone();
        for (row, values) in whole.iter_mut().enumerate() {
            for (column, value) in values[..=row].iter_mut().enumerate() {
                *value += self.variance;
                if slope > 0.0 {
                    *value += slope * dot(self.places[row], self.places[column]);
                }
                if let Some(single) = single.get(row) {
                    *value += height * single.sums[column] + surface * single.of(column);
                }
            }
            values[row] += self.noise(scales, row);
            if !values[row].is_finite() {
                return None;
            }
        }
        Some(Covariance { whole, smooth, single, bells })
    }

    /// The smooth part alone.
    fn smooth(&self, scales: &Scales) -> Vec<Vec<f64>> {
        let count = self.places.len();
        if !self.shape.smooth {
            return vec![vec![0.0; count]; count];
        }
        let inverse: Vec<f64> = scales.lengths.iter().map(|length| (-length).exp()).collect();
        let scaled: Vec<Vec<f64>> = self
            .places
            .iter()
            .map(|place| place.iter().zip(&inverse).map(|(x, i)| x * i).collect())
            .collect();
        let amplitude = (2.0 * scales.amplitude).exp();
        (0..count)
            .map(|row| {
                let mut values = vec![0.0; count];
                for column in 0..=row {
                    values[column] = amplitude * (-0.5 * distance(&scaled[row], &scaled[column])).exp();
                }
                values
            })
            .collect()
    }

    /// What single features say of a row and each up to it.
    fn single(&self, bells: &[Vec<f64>], row: usize) -> Pairs {
        let mut pairs = Pairs::none(row + 1);
        for (levels, bells) in self.levels.iter().zip(bells) {
            pairs.add(levels.part(bells, row), &levels.of_row);
        }
        pairs
    }

    /// Variance of a row's noise.
    fn noise(&self, scales: &Scales, row: usize) -> f64 {
        let noise = (2.0 * scales.noise).exp() + LEAST_NOISE * LEAST_NOISE;
        noise * self.relative_noise(scales, row)
    }

    fn relative_noise(&self, scales: &Scales, row: usize) -> f64 {
        let own = self.shape.own_noise && self.heavy[row];
        self.noises[row] * if own { (2.0 * scales.heavy_noise).exp() } else { 1.0 }
    }

    /// Minus the logarithm of likelihood and priors, with the gradient.
    fn surprise(&self, scales: &Scales, believed: &Scales, gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let Some(Covariance { whole, smooth, single, bells }) = self.covariance(scales) else {
            return f64::INFINITY;
        };
        let Some(factor) = Cholesky::of(&whole) else { return f64::INFINITY };
        let solved = factor.solve(self.values.clone());
        let inverse = factor.inverse();
        let width = scales.lengths.len();
        let mut along = Scales::all(width, 0.0);
        let slope = if self.shape.trend { (2.0 * scales.slope).exp() } else { 0.0 };
        let height = if self.shape.curves { (2.0 * scales.height).exp() } else { 0.0 };
        let surface = if self.shape.surfaces { (2.0 * scales.surface).exp() } else { 0.0 };
        let noise = (2.0 * scales.noise).exp();
        // For each feature, how much the surprise grows with each bell.
        let mut of_bells: Vec<Vec<f64>> = bells.iter().map(|bells| vec![0.0; bells.len()]).collect();
        for row in 0..solved.len() {
            // Half of (K⁻¹ − ααᵀ), counted on both sides of the diagonal.
            let share = |column: usize| {
                let twice = if row == column { 1.0 } else { 2.0 };
                0.5 * twice * (inverse[(column, row)] - solved[row] * solved[column])
            };
            let shares: Vec<f64> = (0..=row).map(share).collect();
            for (column, share) in shares.iter().enumerate() {
                if self.shape.smooth {
                    let weight = share * smooth[row][column];
                    along.amplitude += 2.0 * weight;
                    let places = self.places[row].iter().zip(self.places[column]);
                    let lengths = along.lengths.iter_mut();
                    lengths.zip(places).for_each(|(a, (l, r))| *a += weight * (l - r) * (l - r));
                }
                if slope > 0.0 {
                    along.slope += 2.0 * share * slope * dot(self.places[row], self.places[column]);
                }
            }
            if let Some(single) = single.get(row) {
                for (column, share) in shares.iter().enumerate() {
                    along.height += 2.0 * share * height * single.sums[column];
                    along.surface += 2.0 * share * surface * single.of(column);
                }
                for (levels, (bells, of_bells)) in self.levels.iter().zip(bells.iter().zip(&mut of_bells)) {
                    let (bells, of_bells) = (levels.part(bells, row), levels.part_mut(of_bells, row));
                    let columns = shares.iter().zip(&single.sums).zip(&levels.of_row);
                    for ((share, sum), &level) in columns {
                        let level = level as usize;
                        of_bells[level] += share * (height + surface * (sum - bells[level]));
                    }
                }
            }
            along.noise += 2.0 * shares[row] * noise * self.relative_noise(scales, row);
            if self.heavy[row] {
                along.heavy_noise += 2.0 * shares[row] * self.noise(scales, row);
            }
        }
        for (value, length) in along.lengths.iter_mut().zip(&scales.lengths) {
            *value *= (-2.0 * length).exp();
        }
        for (column, levels) in self.levels.iter().enumerate() {
            let narrow = (-scales.widths[column]).exp();
            let pairs = levels.values.iter().flat_map(|a| levels.values.iter().map(move |b| a - b));
            let grows = pairs.map(|apart| (apart * narrow).powi(2));
            let of_bells = of_bells[column].iter().zip(&bells[column]);
            along.widths[column] = grows.zip(of_bells).map(|(grows, (of, bell))| grows * of * bell).sum();
        }
        let numbers = scales.numbers(self.shape);
        let middle = believed.numbers(self.shape);
        let doubts = Scales::doubts(width).numbers(self.shape);
        let mut surprise = 0.5 * dot(&self.values, &solved) + factor.half_log_determinant();
        gradient.copy_from_slice(&along.numbers(self.shape));
        for (index, (number, middle)) in numbers.iter().zip(&middle).enumerate() {
            let beyond = (number - middle) / doubts[index];
            surprise += 0.5 * beyond * beyond;
            gradient[index] += beyond / doubts[index];
        }
        surprise
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::regress::Penalty;

    /// The gradient is that of the function.
    #[test]
    fn the_gradient_is_right() {
        let places: Vec<Vec<f64>> =
            (0..12).map(|i| vec![f64::from(i % 4) - 1.5, f64::from(i / 4) - 1.0]).collect();
        let values: Vec<f64> = (0..12).map(|i| (f64::from(i) * 0.7).sin()).collect();
        let weights: Vec<f64> = (0..12).map(|i| if i < 4 { 3.0 } else { 1.0 }).collect();
        let training = Training {
            inputs: &places,
            targets: &values,
            weights: &weights,
            roles: &[],
            configurations: 12,
            seed: 1,
            penalty: Penalty::Squares,
            law: None,
        };
        let rows: Vec<usize> = (0..12).collect();
        let whole = Shape { smooth: true, trend: true, curves: true, surfaces: true, own_noise: true };
        for shape in [whole, Shape { smooth: false, ..whole }, Shape { curves: false, ..whole }] {
            let points = Points::of(&places, &values, &training, &rows, 0.1, shape);
            let believed = points.believed(2);
            let start = [0.3, 0.8, -0.4, -1.5, -0.6, -0.9, -0.7, 0.4, 0.1, 0.5];
            let count = believed.numbers(shape).len();
            let mut gradient = vec![0.0; count];
            let mut ignored = vec![0.0; count];
            let surprise = |numbers: &[f64], gradient: &mut [f64]| {
                points.surprise(&believed.clone().with(numbers, shape), &believed, gradient)
            };
            surprise(&start[..count], &mut gradient);
            for index in 0..count {
                let mut value = |step: f64| {
                    let mut moved = start;
                    moved[index] += step;
                    surprise(&moved[..count], &mut ignored)
                };
                let slope = (value(1e-5) - value(-1e-5)) / 2e-5;
                assert!(
                    (slope - gradient[index]).abs() < 1e-4 * (1.0 + slope.abs()),
                    "{shape:?} {index}: {slope} {}",
                    gradient[index]
                );
            }
        }
    }
}
