//! A Gaussian process on logarithms (Rasmussen and Williams 2006): a smooth function with a length
//! scale for each feature (automatic relevance), with or without a power law underneath it, which
//! then carries it beyond the measured range. Length scales, amplitudes and noise are those under
//! which the runs are most likely, with weak priors.

mod curve;
mod kernel;
mod levels;
mod scales;
mod surface;

use serde::{Deserialize, Serialize};

use super::cholesky::dot;
use super::log_space::LogSpace;
use super::{Fitted, Regressor, Training};
use crate::statistics::mean;

pub(crate) use curve::Curve;
use kernel::{Points, distance};
pub(super) use scales::Shape;
pub(crate) use surface::Surfaces;

/// Length scales are learned from a few rows in many steps, then from more rows in a few: the second
/// costs thirty times as much a step. The process then passes through still more.
const ROWS_AND_STEPS: [(usize, usize); 2] = [(100, 40), (300, 25)];
const MOST_ROWS: usize = 800;
/// Fewest configurations for each length scale.
const CONFIGURATIONS_PER_SCALE: f64 = 1.5;
/// The same where each feature has a curve of its own, whose scales are harder to tell.
const CONFIGURATIONS_PER_CURVE: f64 = 3.0;

/// Fewer full-scale runs than this are never believed by their weight: with six of them it passes
/// through their noise.
const ENOUGH_FULL_SCALE: usize = 20;

/// Fits a [`Process`].
pub(crate) struct ProcessRegression(pub Shape);

/// ln T = centre + slopes · place + Σ weight · exp(−½ Σ ((place − point)/length)²).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Process {
    pub space: LogSpace,
    pub centre: f64,
    /// Of the power law underneath; zeros without one.
    pub slopes: Vec<f64>,
    pub lengths: Vec<f64>,
    /// Runs, in units of the lengths.
    pub points: Vec<Vec<f64>>,
    pub weights: Vec<f64>,
    /// Curves of single features, where there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<Curve>,
    /// Surfaces of every two features, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surfaces: Option<Box<Surfaces>>,
}

impl Regressor for ProcessRegression {
    fn standardised(&self) -> bool {
        false
    }

    fn fit(&self, training: &Training<'_>) -> Result<Fitted, String> {
        let logarithms: Vec<f64> = training.targets.iter().map(|target| target.ln()).collect();
        Process::fit(training, &logarithms, self.0).map(Fitted::Process)
    }
}

impl Process {
    /// Fits the process to the given logarithms, or says why it cannot.
    pub(super) fn fit(training: &Training<'_>, logarithms: &[f64], shape: Shape) -> Result<Process, String> {
        let width = training.inputs.first().map_or(0, Vec::len);
        let needed = match (shape.curves, shape.smooth) {
            (true, true) => CONFIGURATIONS_PER_CURVE * (2 * width + 3) as f64,
            (true, false) => CONFIGURATIONS_PER_CURVE * (width + 3) as f64,
            (false, _) => CONFIGURATIONS_PER_SCALE * (width + 2) as f64,
        };
        let needed = needed.ceil() as usize;
        if training.configurations < needed || width == 0 {
            return Err(format!("{} configurations are too few, it needs {needed}", training.configurations));
        }
        let own_noise = match heavier(training.weights) {
            Some(heavier) => shape.own_noise || heavier < ENOUGH_FULL_SCALE,
            None => false,
        };
        let shape = Shape { own_noise, ..shape };
        let space = LogSpace::fit(training);
        let places: Vec<Vec<f64>> = training.inputs.iter().map(|row| space.apply(row)).collect();
        let chosen = spread_out(training, MOST_ROWS);
        let centre = mean(chosen.iter().map(|&row| logarithms[row])).unwrap_or(0.0);
        let points = |rows: &[usize]| Points::of(&places, logarithms, training, rows, centre, shape);
        let all = points(&chosen);
        let mut scales = all.believed(width);
        let mut seen = 0;
        for (rows, steps) in ROWS_AND_STEPS {
            let some = spread_out(training, rows);
            if some.len() > seen {
                seen = some.len();
                scales = points(&some).likeliest(scales, steps);
            }
        }
        let factor = all.factor(&scales).ok_or("its kernel is not positive")?;
        let solved = factor.solve(all.values.clone());
        let lengths = if shape.smooth { &scales.lengths } else { &scales.widths };
        let lengths: Vec<f64> = lengths.iter().map(|length| length.exp()).collect();
        let smooth = if shape.smooth { all.places.as_slice() } else { &[] };
        let amplitude = (2.0 * scales.amplitude).exp();
        let slope = if shape.trend { (2.0 * scales.slope).exp() } else { 0.0 };
        let slopes = (0..width)
            .map(|column| {
                slope * all.places.iter().zip(&solved).map(|(place, w)| place[column] * w).sum::<f64>()
            })
            .collect();
        let process = Process {
            centre: centre + all.variance * solved.iter().sum::<f64>(),
            slopes,
            points: smooth
                .iter()
                .map(|place| place.iter().zip(&lengths).map(|(x, length)| x / length).collect())
                .collect(),
            weights: smooth.iter().zip(&solved).map(|(_, weight)| amplitude * weight).collect(),
            curves: if shape.curves { all.curves(&scales, &solved) } else { Vec::new() },
            surfaces: shape.surfaces.then(|| Box::new(all.surfaces(&scales, &solved))),
            lengths,
            space,
        };
        process.check(width)?;
        Ok(process)
    }

    /// ln T.
    pub(super) fn logarithm(&self, row: &[f64]) -> f64 {
        let place = self.space.apply(row);
        let scaled: Vec<f64> = place.iter().zip(&self.lengths).map(|(x, length)| x / length).collect();
        let smooth: f64 = self
            .points
            .iter()
            .zip(&self.weights)
            .map(|(point, weight)| weight * (-0.5 * distance(point, &scaled)).exp())
            .sum();
        let curves: f64 = self.curves.iter().zip(&place).map(|(curve, &x)| curve.value(x)).sum();
        let surfaces = self.surfaces.as_ref().map_or(0.0, |surfaces| surfaces.value(&place));
        self.centre + dot(&self.slopes, &place) + smooth + curves + surfaces
    }

    pub(super) fn predict(&self, row: &[f64]) -> f64 {
        self.logarithm(row).min(700.0).exp()
    }

    pub(super) fn parameters(&self) -> usize {
        let curves = self.curves.len() + usize::from(!self.curves.is_empty());
        self.lengths.len() + 2 + self.slopes.iter().filter(|slope| **slope != 0.0).count() + curves
    }

    pub(super) fn check(&self, width: usize) -> Result<(), String> {
        self.space.check(width)?;
        let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        let sound = self.centre.is_finite()
            && self.slopes.len() == width
            && finite(&self.slopes)
            && self.lengths.len() == width
            && self.lengths.iter().all(|&length| length > 0.0 && length.is_finite())
            && self.points.len() == self.weights.len()
            && self.points.iter().all(|point| point.len() == width && finite(point))
            && finite(&self.weights)
            && (self.curves.is_empty() || self.curves.len() == width)
            && self.curves.iter().all(Curve::is_sound)
            && self.surfaces.as_ref().is_none_or(|surfaces| surfaces.check(width));
        if sound { Ok(()) } else { Err("the process does not fit the features".to_owned()) }
    }

    /// The length scales, shortest first: along a short one the target changes most.
    pub(crate) fn describe(&self, name: impl Fn(usize) -> String) -> String {
        let mut order: Vec<usize> = (0..self.lengths.len()).collect();
        order.sort_by(|&a, &b| self.lengths[a].total_cmp(&self.lengths[b]).then(a.cmp(&b)));
        let texts: Vec<String> =
            order.iter().map(|&column| format!("{} {:.2}", name(column), self.lengths[column])).collect();
        format!("length scales in deviations of the logarithms: {}", texts.join(", "))
    }
}

/// How many rows are of the heavier scale; `None` unless rows weigh one of two things.
fn heavier(weights: &[f64]) -> Option<usize> {
    let lightest = weights.iter().copied().fold(f64::INFINITY, f64::min);
    let heaviest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let two = weights.iter().all(|&weight| weight == lightest || weight == heaviest);
    (two && lightest < heaviest).then(|| weights.iter().filter(|&&weight| weight == heaviest).count())
}

/// At most so many rows, evenly; heavy rows (full scale) up to half of them.
fn spread_out(training: &Training<'_>, most: usize) -> Vec<usize> {
    let count = training.inputs.len();
    if count <= most {
        return (0..count).collect();
    }
    let lightest = training.weights.iter().copied().fold(f64::INFINITY, f64::min);
    let (heavy, light): (Vec<usize>, Vec<usize>) =
        (0..count).partition(|&row| training.weights[row] > lightest);
    let heavies = heavy.len().min((most / 2).max(most.saturating_sub(light.len())));
    let evenly = |rows: &[usize], wanted: usize| -> Vec<usize> {
        (0..wanted.min(rows.len())).map(|index| rows[index * rows.len() / wanted]).collect()
    };
    let mut chosen = evenly(&light, most - heavies);
    chosen.extend(evenly(&heavy, heavies));
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Vec<Vec<f64>> {
        (0..40).map(|i| vec![10.0 * 1.2f64.powi(i % 20), 1.0 + f64::from(i / 20)]).collect()
    }

    fn fit(trend: bool, law: impl Fn(&[f64]) -> f64) -> Process {
        let inputs = grid();
        let targets: Vec<f64> = inputs.iter().map(|row| law(row)).collect();
        let weights = vec![1.0; targets.len()];
        let training = Training::plain(&inputs, &targets, &weights);
        let logarithms: Vec<f64> = targets.iter().map(|target| target.ln()).collect();
        Process::fit(&training, &logarithms, Shape { trend, own_noise: true, ..Shape::SMOOTH }).unwrap()
    }

    /// A few heavy rows that deviate from what all others say are noisy, whatever they weigh.
    #[test]
    fn heavy_rows_are_as_noisy_as_they_look() {
        let law = |row: &[f64]| row[0].powf(1.2) / row[1];
        let mut inputs = grid();
        let mut targets: Vec<f64> = inputs.iter().map(|row| law(row)).collect();
        let mut weights = vec![1.0; targets.len()];
        for (index, size) in [25.0, 60.0, 120.0, 250.0].into_iter().enumerate() {
            let row = vec![size, 1.5];
            targets.push(law(&row) * if index % 2 == 0 { 1.15 } else { 0.87 });
            inputs.push(row);
            weights.push(10.0);
        }
        let training = Training::plain(&inputs, &targets, &weights);
        let logarithms: Vec<f64> = targets.iter().map(|target| target.ln()).collect();
        for curves in [false, true] {
            let shape = Shape { trend: true, curves, ..Shape::SMOOTH };
            let found = Process::fit(&training, &logarithms, shape).unwrap();
            for row in &inputs[40..] {
                let off = (found.predict(row) / law(row) - 1.0).abs();
                assert!(off < 0.05, "{row:?}: off by {off}");
            }
        }
    }

    #[test]
    fn a_curve_is_followed_and_a_law_carried_on() {
        let wave = |row: &[f64]| row[0] * (0.3 * row[0].ln().sin()).exp() / row[1];
        let found = fit(true, wave);
        let inside = [60.0, 1.5];
        assert!((found.predict(&inside) / wave(&inside) - 1.0).abs() < 0.05, "{}", found.predict(&inside));
        let law = |row: &[f64]| row[0].powf(1.5) / row[1];
        let outside = [2000.0, 2.0];
        assert!((fit(true, law).predict(&outside) / law(&outside) - 1.0).abs() < 0.1);
    }
}
