//! The covariance of a process, and the scales under which runs are most likely.

use super::Curve;
use crate::regress::Training;
use crate::regress::cholesky::{Cholesky, dot};
use crate::regress::minimise::minimise;
use crate::statistics::mean;

/// Least noise, as a standard deviation of the logarithm.
const LEAST_NOISE: f64 = 0.005;

/// What a process is made of besides the smooth function of all features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::regress) struct Shape {
    pub trend: bool,
    pub curves: bool,
    /// Whether full-scale runs have a noise of their own, found with the other scales. Otherwise they
    /// are as much less noisy as they weigh more.
    pub own_noise: bool,
}

/// What the kernel is made of, as logarithms.
#[derive(Debug, Clone)]
pub(super) struct Scales {
    pub(super) lengths: Vec<f64>,
    pub(super) amplitude: f64,
    noise: f64,
    pub(super) slope: f64,
    /// Of the curves of single features.
    height: f64,
    widths: Vec<f64>,
    /// How many times the others' noise that of heavy rows is.
    heavy_noise: f64,
}

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
        Points {
            places: rows.iter().map(|&row| places[row].as_slice()).collect(),
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
        let deviation = 0.5 * self.variance.ln();
        Scales {
            lengths: vec![3.0f64.ln(); width],
            amplitude: deviation - 0.4,
            noise: deviation.min(0.0) - 2.5,
            slope: deviation - 0.7,
            height: deviation - 1.5,
            widths: vec![0.7; width],
            heavy_noise: 0.0,
        }
    }

    /// The scales under which the values are likeliest, searched from the given ones.
    pub(super) fn likeliest(&self, start: Scales, steps: usize) -> Scales {
        let width = start.lengths.len();
        let believed = self.believed(width);
        let start = start.numbers(self.shape);
        let (numbers, _) = minimise(start, steps, |numbers, gradient| {
            self.surprise(&Scales::of(numbers, width, &believed, self.shape), &believed, gradient)
        });
        Scales::of(&numbers, width, &believed, self.shape)
    }

    /// The curves of single features; runs at one place count together.
    pub(super) fn curves(&self, scales: &Scales, solved: &[f64]) -> Vec<Curve> {
        let height = (2.0 * scales.height).exp();
        let one = |(column, width): (usize, &f64)| {
            let mut found: Vec<(f64, f64)> =
                self.places.iter().zip(solved).map(|(place, w)| (place[column], height * w)).collect();
            found.sort_by(|a, b| a.0.total_cmp(&b.0));
            found.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    kept.1 += next.1;
                }
                same
            });
            Curve::of(&found, width.exp())
        };
        scales.widths.iter().enumerate().map(one).collect()
    }

    /// The lower triangle of the covariance; `None` if a number is not finite.
    pub(super) fn kernel(&self, scales: &Scales) -> Option<Vec<Vec<f64>>> {
        let smooth = self.smooth(scales);
        self.whole(scales, smooth)
    }

    /// The smooth part alone.
    fn smooth(&self, scales: &Scales) -> Vec<Vec<f64>> {
        let inverse: Vec<f64> = scales.lengths.iter().map(|length| (-length).exp()).collect();
        let scaled: Vec<Vec<f64>> = self
            .places
            .iter()
            .map(|place| place.iter().zip(&inverse).map(|(x, i)| x * i).collect())
            .collect();
        let amplitude = (2.0 * scales.amplitude).exp();
        let count = scaled.len();
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

    fn whole(&self, scales: &Scales, mut kernel: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
        let slope = if self.shape.trend { (2.0 * scales.slope).exp() } else { 0.0 };
        let height = (2.0 * scales.height).exp();
        let narrow: Vec<f64> = scales.widths.iter().map(|width| (-width).exp()).collect();
        for (row, values) in kernel.iter_mut().enumerate() {
            for (column, value) in values[..=row].iter_mut().enumerate() {
                *value += self.variance;
                if slope > 0.0 {
                    *value += slope * dot(self.places[row], self.places[column]);
                }
                if self.shape.curves {
                    let places = self.places[row].iter().zip(self.places[column]);
                    *value += height
                        * places
                            .zip(&narrow)
                            .map(|((l, r), n)| (-0.5 * ((l - r) * n).powi(2)).exp())
                            .sum::<f64>();
                }
            }
            values[row] += self.noise(scales, row);
            if !values[row].is_finite() {
                return None;
            }
        }
        Some(kernel)
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
        let smooth = self.smooth(scales);
        let Some(factor) = self.whole(scales, smooth.clone()).and_then(Cholesky::of) else {
            return f64::INFINITY;
        };
        let solved = factor.solve(self.values.clone());
        let inverse = factor.inverse();
        let width = scales.lengths.len();
        let mut along = vec![0.0; width];
        let (mut of_amplitude, mut of_slope, mut of_height) = (0.0, 0.0, 0.0);
        let (mut of_noise, mut of_heavy_noise) = (0.0, 0.0);
        let mut of_widths = vec![0.0; width];
        let height = (2.0 * scales.height).exp();
        let narrow: Vec<f64> = scales.widths.iter().map(|width| (-width).exp()).collect();
        let slope = if self.shape.trend { (2.0 * scales.slope).exp() } else { 0.0 };
        let noise = (2.0 * scales.noise).exp();
        for row in 0..solved.len() {
            for column in 0..=row {
                let twice = if row == column { 1.0 } else { 2.0 };
                // Half of (K⁻¹ − ααᵀ), counted on both sides of the diagonal.
                let share = 0.5 * twice * (inverse[row][column] - solved[row] * solved[column]);
                let weight = share * smooth[row][column];
                of_amplitude += 2.0 * weight;
                let places = self.places[row].iter().zip(self.places[column]);
                along.iter_mut().zip(places).for_each(|(a, (l, r))| *a += weight * (l - r) * (l - r));
                if slope > 0.0 {
                    of_slope += 2.0 * share * slope * dot(self.places[row], self.places[column]);
                }
                if self.shape.curves {
                    let places = self.places[row].iter().zip(self.places[column]);
                    for (index, ((l, r), n)) in places.zip(&narrow).enumerate() {
                        let beyond = ((l - r) * n).powi(2);
                        let value = share * height * (-0.5 * beyond).exp();
                        of_height += 2.0 * value;
                        of_widths[index] += value * beyond;
                    }
                }
                if row == column {
                    of_noise += 2.0 * share * noise * self.relative_noise(scales, row);
                    if self.heavy[row] {
                        of_heavy_noise += 2.0 * share * self.noise(scales, row);
                    }
                }
            }
        }
        for (index, (value, length)) in along.iter().zip(&scales.lengths).enumerate() {
            gradient[index] = value * (-2.0 * length).exp();
        }
        gradient[width] = of_amplitude;
        gradient[width + 1] = of_noise;
        if self.shape.trend {
            gradient[width + 2] = of_slope;
        }
        if self.shape.curves {
            let first = width + 2 + usize::from(self.shape.trend);
            gradient[first] = of_height;
            gradient[first + 1..=first + width].copy_from_slice(&of_widths);
        }
        if self.shape.own_noise
            && let Some(last) = gradient.last_mut()
        {
            *last = of_heavy_noise;
        }
        let numbers = scales.numbers(self.shape);
        let middle = believed.numbers(self.shape);
        let mut surprise = 0.5 * dot(&self.values, &solved) + factor.half_log_determinant();
        for (index, (number, middle)) in numbers.iter().zip(&middle).enumerate() {
            let first = width + 3 + usize::from(self.shape.trend);
            let of_heights = (width..first).contains(&index);
            let deviation = if of_heights { 1.5 } else { 1.0 };
            let beyond = (number - middle) / deviation;
            surprise += 0.5 * beyond * beyond;
            gradient[index] += beyond / deviation;
        }
        surprise
    }
}

impl Scales {
    fn numbers(&self, shape: Shape) -> Vec<f64> {
        let mut numbers = self.lengths.clone();
        numbers.extend([self.amplitude, self.noise]);
        if shape.trend {
            numbers.push(self.slope);
        }
        if shape.curves {
            numbers.push(self.height);
            numbers.extend(&self.widths);
        }
        if shape.own_noise {
            numbers.push(self.heavy_noise);
        }
        numbers
    }

    fn of(numbers: &[f64], width: usize, otherwise: &Scales, shape: Shape) -> Scales {
        let number =
            |index: usize, fallback: f64| numbers.get(index).map_or(fallback, |n| n.clamp(-12.0, 12.0));
        let first = width + 2 + usize::from(shape.trend);
        Scales {
            lengths: (0..width).map(|index| number(index, 0.0).clamp(-3.0, 6.0)).collect(),
            amplitude: number(width, otherwise.amplitude),
            noise: number(width + 1, otherwise.noise),
            slope: if shape.trend { number(width + 2, otherwise.slope) } else { otherwise.slope },
            height: if shape.curves { number(first, otherwise.height) } else { otherwise.height },
            widths: (0..width)
                .map(|index| match shape.curves {
                    true => number(first + 1 + index, 0.0).clamp(-3.0, 6.0),
                    false => otherwise.widths[index],
                })
                .collect(),
            heavy_noise: match (shape.own_noise, numbers.last()) {
                (true, Some(last)) => last.clamp(-12.0, 12.0),
                _ => 0.0,
            },
        }
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
        let shape = Shape { trend: true, curves: true, own_noise: true };
        let points = Points::of(&places, &values, &training, &rows, 0.1, shape);
        let believed = points.believed(2);
        let start = [0.3, 0.8, -0.4, -1.5, -0.6, -0.9, 0.4, 0.1, 0.5];
        let mut gradient = vec![0.0; 9];
        let mut ignored = vec![0.0; 9];
        points.surprise(&Scales::of(&start, 2, &believed, shape), &believed, &mut gradient);
        for index in 0..9 {
            let mut value = |step: f64| {
                let mut moved = start;
                moved[index] += step;
                points.surprise(&Scales::of(&moved, 2, &believed, shape), &believed, &mut ignored)
            };
            let slope = (value(1e-5) - value(-1e-5)) / 2e-5;
            assert!(
                (slope - gradient[index]).abs() < 1e-4 * (1.0 + slope.abs()),
                "{index}: {slope} {}",
                gradient[index]
            );
        }
    }
}
