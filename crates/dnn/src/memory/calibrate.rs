//! Measured peaks say what a framework takes beside the formula, and how far the formula was off.

use harp_core::{Bytes, median};
use serde::Serialize;

use crate::ModelError;

use super::Overhead;

/// A peak that was measured, and what the formula says without any overhead.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Measured {
    /// What the formula says, in bytes.
    pub formula: f64,
    /// What was measured, in bytes.
    pub peak: f64,
}

/// What peaks say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// Peaks used.
    pub peaks: usize,
    /// The overhead that fits them.
    pub overhead: Overhead,
    /// How far the formula with the usual overhead was off, in percent of the peak: the mean.
    pub formula_error: f64,
    /// And at its worst.
    pub formula_worst: f64,
    /// How far the calibrated formula is off a peak it was not fitted to, in percent: the mean.
    pub calibrated_error: f64,
}

/// Slopes outside this are no rounding of an allocator; the description is of another network.
const FACTORS: (f64, f64) = (0.8, 3.0);
/// Fewer peaks say nothing of a factor.
const ENOUGH_FOR_FACTOR: usize = 4;

/// Fits the overhead to peaks.
pub fn calibrate(peaks: &[Measured]) -> Result<Calibration, ModelError> {
    if peaks.len() < 2 {
        let reason = format!("hold {}; at least 2 are needed", peaks.len());
        return Err(ModelError::new("peaks", reason));
    }
    if let Some(wrong) = peaks.iter().find(|peak| peak.peak.is_nan() || peak.peak <= 0.0) {
        return Err(ModelError::new("peaks", format!("hold {}, which is no size", wrong.peak)));
    }
    let usual = Overhead::default();
    let errors: Vec<f64> = peaks.iter().map(|peak| off(&usual, peak)).collect();
    let held_out: Vec<f64> = (0..peaks.len())
        .map(|left_out| {
            let others: Vec<Measured> = peaks
                .iter()
                .enumerate()
                .filter(|(index, _)| *index != left_out)
                .map(|(_, peak)| *peak)
                .collect();
            off(&fit(&others), &peaks[left_out])
        })
        .collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    Ok(Calibration {
        peaks: peaks.len(),
        overhead: fit(peaks),
        formula_error: mean(&errors),
        formula_worst: errors.iter().copied().fold(0.0, f64::max),
        calibrated_error: mean(&held_out),
    })
}

fn off(overhead: &Overhead, peak: &Measured) -> f64 {
    let said = peak.formula * overhead.factor + overhead.fixed.as_f64();
    100.0 * (said - peak.peak).abs() / peak.peak
}

/// A line through the peaks by the median of all slopes (Theil, 1950; Sen, 1968): one peak that was
/// disturbed moves it little.
fn fit(peaks: &[Measured]) -> Overhead {
    let mut slopes = Vec::new();
    for (index, first) in peaks.iter().enumerate() {
        for second in &peaks[index + 1..] {
            let run = second.formula - first.formula;
            if run.abs() > 0.01 * first.formula.abs().max(second.formula.abs()) {
                slopes.push((second.peak - first.peak) / run);
            }
        }
    }
    let factor = match peaks.len() >= ENOUGH_FOR_FACTOR && slopes.len() >= ENOUGH_FOR_FACTOR {
        true => median(&mut slopes).unwrap_or(1.0).clamp(FACTORS.0, FACTORS.1),
        false => 1.0,
    };
    let mut rests: Vec<f64> = peaks.iter().map(|peak| peak.peak - factor * peak.formula).collect();
    Overhead { fixed: Bytes(median(&mut rests).unwrap_or(0.0).max(0.0).round() as u64), factor }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_though_one_peak_is_disturbed() {
        let peak = |formula: f64, more: f64| Measured { formula, peak: 5e8 + 1.1 * formula + more };
        let peaks = [peak(1e9, 0.0), peak(2e9, 0.0), peak(4e9, 2e9), peak(8e9, 0.0), peak(9e9, 0.0)];
        let found = calibrate(&peaks).unwrap();
        assert!((found.overhead.factor - 1.1).abs() < 0.02, "{found:?}");
        assert!((found.overhead.fixed.as_f64() - 5e8).abs() < 1e8, "{found:?}");
        assert!(found.calibrated_error < found.formula_error);
        assert!(calibrate(&peaks[..1]).is_err());
    }
}
