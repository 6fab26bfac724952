//! Features in logarithms, centred and scaled: the space in which run times are sums. Positive
//! numbers become ln x, numbers that may be 0 become ln(1 + x), indicators and others stay.

use serde::{Deserialize, Serialize};

use super::Training;
use super::power_law::{Factor, Form};
use crate::prepare::Role;

/// How each column becomes a coordinate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LogSpace {
    pub forms: Vec<Form>,
    pub means: Vec<f64>,
    pub deviations: Vec<f64>,
}

impl LogSpace {
    /// Learns forms, weighted means and deviations.
    pub(super) fn fit(training: &Training<'_>) -> LogSpace {
        let width = training.inputs.first().map_or(0, Vec::len);
        let forms: Vec<Form> = (0..width).map(|column| Form::of(training, column)).collect();
        let total: f64 = training.weights.iter().sum();
        let mut space = LogSpace { forms, means: vec![0.0; width], deviations: vec![1.0; width] };
        for column in 0..width {
            let value = |row: &Vec<f64>| Factor { column, form: space.forms[column] }.of(row);
            let average = |of: &dyn Fn(f64) -> f64| {
                let rows = training.inputs.iter().zip(training.weights);
                rows.map(|(row, weight)| weight * of(value(row))).sum::<f64>() / total
            };
            let mean = average(&|value| value);
            let deviation = average(&|value| (value - mean).powi(2)).sqrt();
            space.means[column] = mean;
            space.deviations[column] =
                if deviation > 1e-12 * (1.0 + mean.abs()) && deviation.is_finite() { deviation } else { 1.0 };
        }
        space
    }

    /// A row's coordinates.
    pub(super) fn apply(&self, row: &[f64]) -> Vec<f64> {
        let columns = self.forms.iter().zip(self.means.iter().zip(&self.deviations)).enumerate();
        columns
            .map(|(column, (&form, (mean, deviation)))| (Factor { column, form }.of(row) - mean) / deviation)
            .collect()
    }

    /// Whether it fits rows of the given width.
    pub(super) fn check(&self, width: usize) -> Result<(), String> {
        let sound = self.forms.len() == width
            && self.means.len() == width
            && self.deviations.len() == width
            && self.forms.iter().all(Form::is_sound)
            && self.means.iter().all(|mean| mean.is_finite())
            && self.deviations.iter().all(|&deviation| deviation > 0.0 && deviation.is_finite());
        if sound { Ok(()) } else { Err(format!("the logarithms do not fit {width} columns")) }
    }
}

impl Form {
    /// Whether it gives numbers.
    pub(super) fn is_sound(&self) -> bool {
        match *self {
            Form::Logarithm { floor } => floor > 0.0 && floor.is_finite(),
            Form::LogarithmOfOnePlus | Form::Plain => true,
        }
    }

    /// How a column of the training rows enters.
    pub(super) fn of(training: &Training<'_>, column: usize) -> Form {
        let values = || training.inputs.iter().map(move |row| row[column]);
        let smallest = values().fold(f64::INFINITY, f64::min);
        let largest = values().fold(f64::NEG_INFINITY, f64::max);
        let number = training.roles.get(column).is_none_or(|role| role.role == Role::Number);
        // Off and on reads best as a factor. Of 0 and 10 it must be a power: a factor taken on to 50
        // would enter five times.
        let switch = largest <= 1.0 && values().all(|value| value == smallest || value == largest);
        if number && smallest > 0.0 {
            Form::Logarithm { floor: smallest / 10.0 }
        } else if number && smallest >= 0.0 && !switch {
            Form::LogarithmOfOnePlus
        } else {
            Form::Plain
        }
    }
}
