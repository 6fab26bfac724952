//! A model of one target, and how it predicts a case. It holds everything needed to predict and to
//! explain; it never looks at a measured value of the case.

use std::collections::BTreeMap;

use harp_core::{
    Column, Distribution, Evidence, OutOfRange, Policy, Prediction, Reexecution, Row, Target, Value,
};
use serde::{Deserialize, Serialize};

use crate::choose::cheapest_request;
use crate::custom::{Comparison, Custom};
use crate::ensemble::{Member, Said, together};
use crate::killed::{Killed, Raise, killed_warning};
use crate::pipeline::Pipeline;
use crate::prepare::Beyond;
use crate::transfer::{Correction, Reuse};
use crate::validate::{Residuals, Upwards};
use crate::{Candidate, Feature, Growth, LearnError, Measured};

/// Equally likely truths from which the cheapest request is found.
const COST_POINTS: usize = 64;
/// Where no run of the size was ever seen, intervals hold the truth less often than they say: of requests that
/// are expected to cost at most this share more than the cheapest, the largest is made there.
const INDIFFERENCE: f64 = 0.05;
/// A request for memory is at least this many times the estimate.
const ROOM_FOR_MEMORY: f64 = 1.05;
/// What a prediction may be at all.
const SMALLEST: f64 = 1e-300;
const LARGEST: f64 = 1e300;

/// How the candidates were judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Validation {
    /// On full-scale runs, each by models that saw neither it nor a repetition of it.
    FullScale,
    /// On full-scale runs, and, as there are few, on the largest scaled-down ones too, each by
    /// models that saw only smaller ones.
    FullScaleAndLargest,
    /// On the largest scaled-down runs, by models that saw only smaller ones: there are no
    /// full-scale runs.
    Largest,
    /// On each configuration in turn, by models that saw all the others: nothing better is possible
    /// with so few.
    LeaveOneOut,
}

/// A model of one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetModel {
    /// What it predicts.
    pub target: Target,
    /// How the winner was chosen and what the request is.
    pub policy: Policy,
    /// What happens to a job killed at its limit.
    pub reexecution: Reexecution,
    /// The seed it was built with.
    pub seed: u64,
    /// Every feature of the table, in its order.
    pub features: Vec<Feature>,
    /// What stands behind it.
    pub evidence: Evidence,
    /// How the candidates were judged.
    pub validation: Validation,
    /// The whole table.
    pub candidates: Vec<Candidate>,
    /// Index of the winner in the table.
    pub winner: usize,
    /// Why it won, and what it was then fitted on, in words.
    pub explanation: String,
    /// The winner's formula, if it has one.
    pub formula: Option<String>,
    /// How the target grows with each number near the largest runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub growth: Vec<Growth>,
    /// Runs killed at a limit, learned from as lower bounds.
    pub censored_runs: usize,
    /// Those of them that needed more than the finished runs promise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) killed: Vec<Killed>,
    /// What a person should know: runs left out, contradicted bounds.
    pub warnings: Vec<String>,
    /// The winner, fitted on everything.
    pub(crate) pipeline: Pipeline,
    /// Further members, if the winner is an ensemble; the first has the rest of the weight.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) members: Vec<Member>,
    /// Where the truth may lie around its prediction.
    pub(crate) residuals: Residuals,
    /// Sums of phases the runs allow, where they explain them well: a phase that hardly shows in small runs may
    /// rule larger ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) phases: Option<Box<Pipeline>>,
    /// The components it is put together from, where that is better than one model of the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom: Option<Box<Custom>>,
    /// How a formula of components did beside one model of the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Box<Comparison>>,
    /// What the few runs of the application say of a model of another one's runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<Box<Correction>>,
    /// What reuse of other applications' runs is worth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuse: Option<Box<Reuse>>,
}

impl TargetModel {
    /// The winner's row of the table.
    pub fn winner(&self) -> Option<&Candidate> {
        self.candidates.get(self.winner)
    }

    /// What runs killed at a limit say against the finished ones, where they do.
    pub fn contradicted(&self) -> Option<String> {
        killed_warning(&self.killed, self.censored_runs)
    }

    /// Predicts a case from its features; no measured value of it is needed.
    pub fn predict(&self, case: &BTreeMap<String, Value>) -> Result<Prediction, LearnError> {
        let cells: Vec<Option<&Value>> =
            self.features.iter().map(|feature| case.get(&feature.name)).collect();
        self.admit(&cells)?;
        let (centre, beyond) = match &self.custom {
            Some(custom) => custom.centre(case)?,
            None => {
                let (centre, beyond) = self.centre(&cells);
                (centre * self.correct(case), beyond)
            }
        };
        let stretch = self.stretch(&cells, beyond);
        let believable = |truth: f64| match (&self.custom, &self.correction) {
            (None, None) => self.pipeline.bounds.clip(truth, beyond),
            _ => truth,
        };
        let opinions = match (&self.phases, &self.custom, &self.correction) {
            (Some(phases), None, None) => phases.opinions(&cells),
            _ => Vec::new(),
        };
        let raise = Raise::of(&self.killed, &self.pipeline.bounds, &cells, beyond);
        let distribution =
            self.distribution(centre, self.bias(beyond), stretch, &opinions, &raise, believable)?;
        let estimate = distribution.median();
        let request = match self.policy {
            Policy::Mae | Policy::Wtm => self.adjusted(centre),
            Policy::Upp { per_mille } => distribution.quantile(1.0 - f64::from(per_mille) / 1000.0),
            Policy::Cost => {
                let level = |index: usize| (index as f64 + 0.5) / COST_POINTS as f64;
                let truths: Vec<f64> =
                    (0..COST_POINTS).map(|index| distribution.quantile(level(index))).collect();
                let indifference = if self.evidence.full_scale_runs == 0 { INDIFFERENCE } else { 0.0 };
                cheapest_request(&truths, self.reexecution, indifference)
            }
        };
        // Memory a little short kills a job as surely as memory far short, and a little more costs
        // nothing: its request covers the upper end of the 90 % interval whatever the policy, and leaves room
        // for what allocators round up to, which no interval of a few runs knows.
        let floor = match self.target {
            Target::PeakMemory => distribution.quantile(0.95).max(ROOM_FOR_MEMORY * estimate),
            _ => estimate,
        };
        Ok(Prediction {
            target: self.target.clone(),
            estimate,
            distribution,
            request: request.max(floor),
            evidence: self.evidence.clone(),
            out_of_range: self.out_of_range(&cells),
        })
    }

    /// The middle of the prediction, and how far beyond the measured range the case lies.
    pub(crate) fn estimate_and_distance(
        &self,
        case: &BTreeMap<String, Value>,
    ) -> Result<(f64, Beyond), LearnError> {
        let cells: Vec<Option<&Value>> =
            self.features.iter().map(|feature| case.get(&feature.name)).collect();
        self.admit(&cells)?;
        let (centre, beyond) = self.centre(&cells);
        Ok((centre * self.bias(beyond).exp() * self.correct(case), beyond))
    }

    /// What a model of another application's runs is multiplied by.
    fn correct(&self, case: &BTreeMap<String, Value>) -> f64 {
        self.correction.as_ref().map_or(1.0, |correction| correction.logarithm(case).exp())
    }

    /// What the members say together, and how far beyond the measured range the case lies.
    pub(crate) fn centre(&self, cells: &[Option<&Value>]) -> (f64, Beyond) {
        let (first, beyond) = self.pipeline.predict(cells);
        let rest: f64 = self.members.iter().map(|member| member.weight).sum();
        let say = |weight: f64, pipeline: &Pipeline, value: f64| Said {
            weight,
            value,
            extrapolates: pipeline.fitted.extrapolates(),
        };
        let mut said = vec![say(1.0 - rest, &self.pipeline, first)];
        said.extend(
            self.members
                .iter()
                .map(|member| say(member.weight, &member.pipeline, member.pipeline.predict(cells).0)),
        );
        (together(&said, beyond.spans > 0.0), beyond)
    }

    /// The prediction raised by the winner's adjustment.
    fn adjusted(&self, centre: f64) -> f64 {
        let factor = self.winner().map_or(1.0, |winner| winner.adjustment.factor);
        (centre * factor).clamp(SMALLEST, LARGEST)
    }

    /// Whether the case says everything the model looks at, in a form it can use.
    fn admit(&self, cells: &[Option<&Value>]) -> Result<(), LearnError> {
        let mut used = self.pipeline.used(self.features.len());
        // Those after the ones it was learned with are looked at by a formula or a correction.
        used.iter_mut().skip(self.pipeline.features()).for_each(|used| *used = true);
        for ((feature, cell), used) in self.features.iter().zip(cells).zip(used) {
            let name = || feature.name.clone();
            match (cell, &feature.measured) {
                (None, _) if used && !feature.missing => {
                    return Err(LearnError::MissingFeature { feature: name() });
                }
                (Some(Value::Text(value)), Measured::Numbers { .. }) if used => {
                    return Err(LearnError::NotANumber { feature: name(), value: value.clone() });
                }
                (Some(Value::Real(value)), _) if !value.is_finite() => {
                    return Err(LearnError::NotFinite { feature: name() });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Features outside what was measured, those the model does not use included: of what never
    /// varied nothing is known.
    fn out_of_range(&self, cells: &[Option<&Value>]) -> Vec<OutOfRange> {
        let mut outside = Vec::new();
        for (feature, cell) in self.features.iter().zip(cells) {
            let Some(value) = cell else { continue };
            let note = |measured, known| OutOfRange {
                feature: feature.name.clone(),
                value: Some((*value).clone()),
                measured,
                known,
            };
            match &feature.measured {
                Measured::Numbers { smallest, largest } => {
                    let inside = |number: f64| number >= *smallest && number <= *largest;
                    if !value.as_number().is_some_and(inside) {
                        outside.push(note(Some((*smallest, *largest)), Vec::new()));
                    }
                }
                Measured::Categories { levels, .. } => {
                    if !levels.contains(&value.to_string()) {
                        outside.push(note(None, levels.clone()));
                    }
                }
                Measured::Nothing => outside.push(note(None, Vec::new())),
            }
        }
        outside
    }

    /// What predictions are off by, as a logarithm. What was found on the largest runs, predicted from smaller ones,
    /// is true beyond the measured range and not inside it.
    fn bias(&self, beyond: Beyond) -> f64 {
        let of_the_whole = self.custom.is_none() && self.correction.is_none();
        let share = match self.validation {
            Validation::Largest if of_the_whole => Upwards::of(Beyond::stretch(beyond.spans)).share(),
            _ => 1.0,
        };
        share * self.residuals.location
    }

    /// How many times wider than inside the measured range the distribution is.
    fn stretch(&self, cells: &[Option<&Value>], beyond: Beyond) -> f64 {
        let scale = self.residuals.scale;
        let widened = scale * Beyond::stretch(beyond.spans) / Beyond::stretch(self.residuals.spans);
        let unknown: f64 = self
            .features
            .iter()
            .zip(cells)
            .filter_map(|(feature, cell)| match (&feature.measured, cell) {
                (Measured::Categories { levels, spread }, Some(value))
                    if !levels.contains(&value.to_string()) =>
                {
                    Some(spread * spread)
                }
                _ => None,
            })
            .sum();
        (widened.powi(2) + unknown).sqrt() / scale
    }

    /// Quantiles spread around the centre, none farther than is believed of any prediction: a handful of runs
    /// would otherwise ask for more than there is time in the world.
    fn distribution(
        &self,
        centre: f64,
        bias: f64,
        stretch: f64,
        opinions: &[(f64, f64)],
        raise: &Raise,
        believable: impl Fn(f64) -> f64,
    ) -> Result<Distribution, LearnError> {
        let location = self.residuals.location;
        let value = |logarithm: f64| {
            let exponent = (bias + stretch * (logarithm - location)).clamp(-300.0, 300.0);
            believable((centre * exponent.exp()).clamp(SMALLEST, LARGEST))
        };
        let upwards = Upwards::of(stretch);
        let mut highest = SMALLEST;
        let quantiles = self.residuals.quantiles(upwards).map(|(level, logarithm)| {
            let own = value(logarithm);
            let raised = if level > 0.5 {
                opinion(opinions, level).map(|said| believable(said * (logarithm - location).exp()))
            } else {
                None
            };
            let said = raised.map_or(own, |raised| upwards.towards(own, raised));
            // Rounding must not put one below the last.
            highest = raise.raise(level, said).clamp(highest, LARGEST);
            (level, highest)
        });
        Distribution::new(quantiles.collect())
            .map_err(|error| LearnError::BadDistribution { reason: error.to_string() })
    }

    /// Whether everything a prediction relies on fits together.
    pub(crate) fn check(&self) -> Result<(), String> {
        let spread = |feature: &Feature| match feature.measured {
            Measured::Categories { spread, .. } => spread >= 0.0 && spread.is_finite(),
            Measured::Numbers { smallest, largest } => smallest <= largest,
            Measured::Nothing => true,
        };
        if !self.features.iter().all(spread) {
            return Err("what was measured of a feature is not sound".to_owned());
        }
        let factor = self.winner().map(|winner| winner.adjustment.factor);
        if !factor.is_some_and(|factor| factor > 0.0 && factor.is_finite()) {
            return Err("there is no winner with a usable factor".to_owned());
        }
        if !self.reexecution.growth.is_finite() {
            return Err("the growth of requests is not a number".to_owned());
        }
        self.residuals.check()?;
        self.killed.iter().try_for_each(|killed| killed.check(self.pipeline.features()))?;
        let weights = || self.members.iter().map(|member| member.weight);
        if !weights().all(|weight| weight > 0.0) || weights().sum::<f64>() >= 1.0 {
            return Err("the weights of the members are not shares".to_owned());
        }
        self.custom.as_ref().map_or(Ok(()), |custom| custom.check())?;
        self.correction.as_ref().map_or(Ok(()), |correction| correction.check())?;
        let learned_with = self.pipeline.features();
        let further = self.custom.is_some() || self.correction.is_some();
        if self.features.len() < learned_with || (self.features.len() > learned_with && !further) {
            return Err("the encoding has another number of features".to_owned());
        }
        self.members.iter().try_for_each(|member| member.pipeline.check(learned_with))?;
        self.phases.as_ref().map_or(Ok(()), |phases| phases.check(learned_with))?;
        self.pipeline.check(learned_with)
    }
}

/// The value up to which a share of opinions lies, of weights and rising values.
fn opinion(opinions: &[(f64, f64)], share: f64) -> Option<f64> {
    let mut below = 0.0;
    let reaches = |(weight, _): &&(f64, f64)| {
        below += weight;
        below >= share - 1e-9
    };
    opinions.iter().find(reaches).or(opinions.last()).map(|(_, value)| *value)
}

/// A row's cells by name; missing cells are left out.
pub(crate) fn case_of(columns: &[Column], row: &Row) -> BTreeMap<String, Value> {
    case_of_cells(columns, &row.cells)
}

pub(crate) fn case_of_cells(columns: &[Column], cells: &[Option<Value>]) -> BTreeMap<String, Value> {
    let cells = columns.iter().zip(cells);
    cells.filter_map(|(column, cell)| cell.clone().map(|value| (column.name.clone(), value))).collect()
}
