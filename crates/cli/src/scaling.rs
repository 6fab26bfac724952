//! Scaling curves: how a target grows with each numeric feature, measured, predicted and tested.

use std::collections::{BTreeMap, BTreeSet};

use harp_core::{Dataset, Observed, Row, Scale, Value};
use harp_learn::{Measured, TargetModel};
use harp_report::text::{feature as feature_text, is_bytes, plural};
use harp_report::{
    AxisView, CurvePoint, Estimate, MeasuredPoint, Quantity, ScalingSeries, ScalingView, TestPoint,
};

use crate::failure::Failure;
use crate::views::{features_of, target_words};

/// Points of a curve.
const CURVE_POINTS: usize = 48;

/// A run measured at other values is moved by the model's ratio; further than this it would say more about
/// the model than about the run.
const FARTHEST_MOVE: f64 = 4.0;

type Features = BTreeMap<String, Value>;

/// One curve for each numeric feature that varies, the one the target depends on most first.
///
/// Each picture holds the other features at the values of the largest tested (or else measured) case.
/// Runs measured at other values are moved there by the ratio of the model's two predictions (partial
/// residuals) and marked as such; those that would be moved by more than a few times are left out.
pub fn views(model: &TargetModel, table: &Dataset, coverage: f64) -> Result<Vec<ScalingView>, Failure> {
    let rows: Vec<(Features, &Row)> = table.rows.iter().map(|row| (features_of(table, row), row)).collect();
    let mut views = Vec::new();
    for feature in model.features.iter().filter(|feature| feature.dropped.is_none()) {
        match feature.measured {
            Measured::Numbers { smallest, largest } if largest > smallest => {
                let curve = Curve::over(&feature.name, model, &rows, coverage);
                views.extend(curve.map(|curve| curve.draw()).transpose()?);
            }
            _ => {}
        }
    }
    views.sort_by(|left, right| change(right).total_cmp(&change(left)));
    Ok(views)
}

/// How much the target changes along a curve, in the logarithm.
fn change(view: &ScalingView) -> f64 {
    let of_series = |series: &ScalingSeries| {
        let ends = series.curve.first().zip(series.curve.last());
        ends.map_or(0.0, |(first, last)| (last.y.value / first.y.value).ln().abs())
    };
    view.series.iter().map(of_series).fold(0.0, f64::max)
}

/// A curve about to be drawn.
struct Curve<'a> {
    name: &'a str,
    model: &'a TargetModel,
    rows: &'a [(Features, &'a Row)],
    coverage: f64,
    /// The other numeric features and the values they are held at.
    held: Features,
}

impl<'a> Curve<'a> {
    /// A curve over one feature; none without a row that has it.
    fn over(
        name: &'a str,
        model: &'a TargetModel,
        rows: &'a [(Features, &'a Row)],
        coverage: f64,
    ) -> Option<Curve<'a>> {
        let largest = |scale: Option<Scale>| {
            rows.iter()
                .filter(|(features, row)| {
                    features.contains_key(name) && scale.is_none_or(|scale| row.scale == scale)
                })
                .max_by(|left, right| left.1.observed.value().total_cmp(&right.1.observed.value()))
        };
        let (reference, _) = largest(Some(Scale::Test)).or_else(|| largest(None))?;
        let mut curve = Curve { name, model, rows, coverage, held: Features::new() };
        curve.held = curve.others(reference).0;
        Some(curve)
    }

    /// The features the model uses besides the one along the axis: numbers and categories.
    fn others(&self, features: &Features) -> (Features, Features) {
        let used: BTreeSet<&str> = self
            .model
            .features
            .iter()
            .filter(|feature| feature.dropped.is_none() && feature.name != self.name)
            .map(|feature| feature.name.as_str())
            .collect();
        features
            .iter()
            .filter(|(name, _)| used.contains(name.as_str()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .partition(|(_, value)| value.as_number().is_some())
    }

    fn predict(&self, case: &Features) -> Result<Estimate, Failure> {
        Ok(Estimate::of(&self.model.predict(case)?, self.coverage))
    }

    fn draw(&self) -> Result<ScalingView, Failure> {
        let mut series: BTreeMap<String, (Features, ScalingSeries)> = BTreeMap::new();
        let mut left_out = 0;
        let mut xs = Vec::new();
        let mut measured_up_to = None;
        for (features, row) in self.rows {
            let Some(x) = features.get(self.name).and_then(Value::as_number) else { continue };
            xs.push(x);
            let (numbers, categories) = self.others(features);
            let label = label(&categories);
            let (_, series) = series.entry(label.clone()).or_insert_with(|| {
                let fixed = self.held.clone().into_iter().chain(categories).collect();
                (fixed, ScalingSeries { name: label, ..ScalingSeries::default() })
            });
            let here = numbers == self.held;
            if row.scale == Scale::Test {
                if here {
                    series.tests.push(TestPoint {
                        x,
                        predicted: self.predict(features)?,
                        actual: Some(row.observed),
                    });
                }
                continue;
            }
            measured_up_to = Some(measured_up_to.map_or(x, |known: f64| known.max(x)));
            let y = if here { Some(row.observed) } else { self.moved(features, row.observed)? };
            match y {
                Some(y) => series.measured.push(MeasuredPoint { x, y, scale: row.scale, moved: !here }),
                None => left_out += 1,
            }
        }
        let low = xs.iter().copied().fold(f64::INFINITY, f64::min);
        let high = xs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (fixed, series) in series.values_mut() {
            for x in self.places(low, high) {
                let mut case = fixed.clone();
                case.insert(self.name.to_owned(), Value::Real(x));
                series.curve.push(CurvePoint { x, y: self.predict(&case)? });
            }
        }
        let x = if low > 0.0 { AxisView::logarithmic } else { AxisView::linear };
        let quantity = if is_bytes(self.name) { Quantity::Bytes } else { Quantity::Number };
        let x = x(self.name.to_owned(), quantity);
        let x = if self.is_counted(low, high) { x.counted() } else { x };
        let any_moved = series.values().any(|(_, series)| series.measured.iter().any(|run| run.moved));
        let target = target_words(&self.model.target);
        Ok(ScalingView {
            title: format!("How {target} grows with {}", self.name),
            subtitle: self.subtitle(any_moved, left_out),
            x,
            y: AxisView::logarithmic(target, Quantity::of(&self.model.target)),
            coverage: self.coverage,
            measured_up_to,
            series: series.into_values().map(|(_, series)| series).collect(),
        })
    }

    /// What a run would have shown at the held values, if the model is right about the difference; nothing
    /// where that is too large to believe.
    fn moved(&self, features: &Features, observed: Observed) -> Result<Option<Observed>, Failure> {
        let mut there = features.clone();
        there.extend(self.held.clone());
        let factor = self.predict(&there)?.value / self.predict(features)?.value;
        Ok(scaled(observed, factor))
    }

    /// Whether only whole numbers make sense along the axis, and they are few enough to be seen.
    fn is_counted(&self, low: f64, high: f64) -> bool {
        let is_whole =
            |features: &Features| matches!(features.get(self.name), Some(Value::Integer(_)) | None);
        let is_resource = ["nodes", "cores", "threads", "gpus"].contains(&self.name);
        (is_resource || high - low < CURVE_POINTS as f64)
            && self.rows.iter().all(|(features, _)| is_whole(features))
    }

    /// Where the curve is worked out: evenly in the logarithm where that exists; only at whole numbers
    /// where nothing lies between them.
    fn places(&self, low: f64, high: f64) -> Vec<f64> {
        if high - low < CURVE_POINTS as f64 && self.is_counted(low, high) {
            return (0..=(high - low) as u32).map(|step| low + f64::from(step)).collect();
        }
        let share = |index: usize| index as f64 / (CURVE_POINTS - 1) as f64;
        let place = |index: usize| {
            if low > 0.0 { low * (high / low).powf(share(index)) } else { low + (high - low) * share(index) }
        };
        (0..CURVE_POINTS).map(place).collect()
    }

    fn subtitle(&self, any_moved: bool, left_out: usize) -> String {
        if self.held.is_empty() {
            return String::new();
        }
        let held: Vec<String> =
            self.held.iter().map(|(name, value)| format!("{name}={}", feature_text(name, value))).collect();
        let mut text = format!("with {}", held.join(", "));
        if any_moved {
            text.push_str("; dots: runs at other values, scaled by the model's ratio");
        }
        if left_out > 0 {
            text.push_str(&format!("; not shown, as too far away to scale: {}", plural(left_out, "run")));
        }
        text
    }
}

/// `method=pow`; empty without categories.
fn label(categories: &Features) -> String {
    categories.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// A measurement times a factor of the model; nothing where that is too large to believe.
fn scaled(observed: Observed, factor: f64) -> Option<Observed> {
    (FARTHEST_MOVE.recip()..=FARTHEST_MOVE).contains(&factor).then_some(match observed {
        Observed::Exact(value) => Observed::Exact(value * factor),
        Observed::AtLeast(value) => Observed::AtLeast(value * factor),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_moved_only_as_far_as_can_be_believed() {
        assert_eq!(scaled(Observed::Exact(2.0), 3.0), Some(Observed::Exact(6.0)));
        assert_eq!(scaled(Observed::AtLeast(2.0), 0.25), Some(Observed::AtLeast(0.5)));
        for factor in [4.1, 0.2, f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(scaled(Observed::Exact(2.0), factor), None);
        }
    }
}
