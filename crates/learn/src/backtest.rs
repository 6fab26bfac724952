//! Would this have been right? A model is built from the rows of scale `sd` and `fs` and judged on the
//! rows of scale `test`, which it never saw. Every score has an interval: the middle 90 % of what it
//! is on samples of the same cases drawn with replacement (the bootstrap: Efron, Annals of Statistics
//! 1979), so that one model is called better than another only when it is.

use std::collections::BTreeMap;

use harp_core::{Dataset, Policy, Scale, Scores, Value, counted};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde::ser::Error;
use serde::{Serialize, Serializer};

use crate::model::case_of;
use crate::statistics::median;
use crate::table::TARGETS;
use crate::{
    BuildOptions, Candidate, EvaluatedCase, Feature, Growth, LearnError, TargetModel, build,
    explain_candidates,
};

/// Samples drawn for the intervals.
const SAMPLES: usize = 400;
/// Intervals whose ends are farther apart than this say nothing.
const SAYS_NOTHING: f64 = 100.0;
/// Requests that cost least are too small in a tenth to a fifth of the cases; where more than this percentage is,
/// the model did not know.
const MOSTLY: f64 = 40.0;
/// Ends of intervals this factor apart make requests far larger than needed: without any full-scale run the way out
/// is said.
const WIDE: f64 = 10.0;
/// The level at which the pinball loss is taken.
const PINBALL: f64 = 0.9;

/// Rows of each scale that could be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BacktestRows {
    /// Scaled-down rows learned from.
    pub sd: usize,
    /// Full-scale rows learned from.
    pub fs: usize,
    /// Rows judged on.
    pub test: usize,
    /// Rows killed at a limit, learned from as lower bounds.
    pub killed: usize,
    /// Rows of scale `test` that were killed at a limit: their truth is not known, so they are not judged on.
    pub test_killed: usize,
}

/// The model that was built.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BacktestModel {
    /// The winner's name in the table.
    pub name: String,
    /// Its formula, length scales or importances, if it has any.
    pub formula: Option<String>,
    /// How the target grows with each number near the largest runs learned from.
    pub growth: Vec<Growth>,
    /// Why it won.
    pub explanation: String,
}

/// A feature that was not used.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NotUsed {
    /// Its name.
    pub feature: String,
    /// Why not.
    pub reason: String,
}

/// How requests under the policy would have done.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BacktestRequest {
    /// Percentage of the cases that would have been killed at the first request.
    pub upp: f64,
    /// Mean percentage by which the others were above the truth.
    pub ov_mape: Option<f64>,
    /// Mean of everything reserved until the run fits, divided by the truth.
    pub reserved_ratio: f64,
    /// The same with the last attempt counted at its true size.
    pub used_ratio: f64,
}

/// The middle 90 % of a score over samples of the cases.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BacktestIntervals {
    /// Of `mse`.
    pub mse: (f64, f64),
    /// Of `mae`.
    pub mae: (f64, f64),
    /// Of `mape`.
    pub mape: (f64, f64),
    /// Of `median_ape`.
    pub median_ape: (f64, f64),
    /// Of `upp`.
    pub upp: (f64, f64),
    /// Of `up_mape`; `None` where no estimate is below the truth.
    pub up_mape: Option<(f64, f64)>,
    /// Of `ov_mape`; `None` where all are.
    pub ov_mape: Option<(f64, f64)>,
    /// Of `coverage_90`.
    pub coverage_90: (f64, f64),
    /// Of `coverage_80`.
    pub coverage_80: (f64, f64),
    /// Of `pinball_90`.
    pub pinball_90: (f64, f64),
    /// Of `request.upp`.
    pub request_upp: (f64, f64),
    /// Of `request.ov_mape`; `None` where all requests are too small.
    pub request_ov_mape: Option<(f64, f64)>,
    /// Of `request.reserved_ratio`.
    pub request_reserved_ratio: (f64, f64),
    /// Of `request.used_ratio`.
    pub request_used_ratio: (f64, f64),
}

/// A row that was judged on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedCase {
    /// What it was asked for.
    pub features: BTreeMap<String, Value>,
    /// The measured value.
    pub actual: f64,
    /// What the model said.
    pub estimate: f64,
    /// Lower end of the 90 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// What the policy would have asked for.
    pub request: f64,
}

impl JudgedCase {
    fn of(case: &EvaluatedCase, dataset: &Dataset) -> JudgedCase {
        let (low, high) = case.prediction.distribution.interval(0.9);
        JudgedCase {
            features: case_of(&dataset.columns, &dataset.rows[case.row]),
            actual: case.actual,
            estimate: case.prediction.estimate,
            low,
            high,
            request: case.prediction.request,
        }
    }
}

/// A model judged on rows it never saw. Percentages are 0 to 100.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Backtest {
    /// Rows used.
    pub rows: BacktestRows,
    /// The policy of choice and request.
    pub policy: Policy,
    /// The winner.
    pub model: BacktestModel,
    /// Scores of the estimates.
    #[serde(flatten)]
    pub scores: Scores,
    /// Percentage of the cases inside their 90 % interval.
    pub coverage_90: f64,
    /// Percentage of the cases inside their 80 % interval.
    pub coverage_80: f64,
    /// Mean pinball loss of the 0.9 quantile, divided by the truth.
    pub pinball_90: f64,
    /// The requests.
    pub request: BacktestRequest,
    /// How sure the scores are.
    pub intervals: BacktestIntervals,
    /// The whole table; as JSON with the names that people see.
    #[serde(serialize_with = "with_names")]
    pub candidates: Vec<Candidate>,
    /// Features that were not used.
    pub not_used: Vec<NotUsed>,
    /// The rows judged on, in their order; many, so that only those who ask get them.
    #[serde(skip)]
    pub judged: Vec<JudgedCase>,
    /// What a person should know.
    pub warnings: Vec<String>,
    /// How long building took.
    pub seconds_to_build: f64,
}

/// Model files name models as the code does, answers as tables do.
fn with_names<S: Serializer>(candidates: &[Candidate], serializer: S) -> Result<S::Ok, S::Error> {
    let named = |candidate: &Candidate| {
        let mut value = serde_json::to_value(candidate).map_err(S::Error::custom)?;
        value["model"] = candidate.model.name().into();
        Ok(value)
    };
    candidates.iter().map(named).collect::<Result<Vec<_>, _>>()?.serialize(serializer)
}

/// Builds a model of the table and judges it on the rows of scale `test`. `clock` tells the seconds
/// since any moment; this room has none of its own.
pub fn backtest(
    dataset: &Dataset,
    options: &BuildOptions,
    clock: impl Fn() -> f64,
) -> Result<Backtest, LearnError> {
    let started = clock();
    let mut model = build(dataset, options)?;
    let seconds_to_build = clock() - started;
    explain_candidates(&mut model, dataset, options)?;
    Backtest::of(&model, dataset, seconds_to_build)
}

/// The scores of a set of cases.
struct Scored {
    estimate: Scores,
    request: Scores,
    coverage_90: f64,
    coverage_80: f64,
    pinball_90: f64,
    reserved_ratio: f64,
    used_ratio: f64,
}

impl Scored {
    fn of(model: &TargetModel, cases: &[&EvaluatedCase]) -> Option<Scored> {
        let scores = |of: &dyn Fn(&EvaluatedCase) -> f64| {
            Scores::of(&cases.iter().map(|case| (of(case), case.actual)).collect::<Vec<_>>())
        };
        let mean = |of: &dyn Fn(&EvaluatedCase) -> f64| {
            cases.iter().map(|case| of(case)).sum::<f64>() / cases.len() as f64
        };
        let inside =
            |case: &EvaluatedCase, probability: f64| if case.is_inside(probability) { 100.0 } else { 0.0 };
        let pinball = |case: &EvaluatedCase| {
            let above = (case.actual - case.prediction.distribution.quantile(PINBALL)) / case.actual;
            above.max(0.0) * PINBALL + (-above).max(0.0) * (1.0 - PINBALL)
        };
        let rule = model.reexecution;
        let request = |case: &EvaluatedCase| case.prediction.request;
        Some(Scored {
            estimate: scores(&|case| case.prediction.estimate)?,
            request: scores(&request)?,
            coverage_90: mean(&|case| inside(case, 0.9)),
            coverage_80: mean(&|case| inside(case, 0.8)),
            pinball_90: mean(&pinball),
            reserved_ratio: mean(&|case| rule.reserved(request(case), case.actual) / case.actual),
            used_ratio: mean(&|case| rule.used(request(case), case.actual) / case.actual),
        })
    }
}

impl NotUsed {
    fn of(feature: &Feature) -> Option<NotUsed> {
        let reason = feature.dropped.as_ref()?.to_string();
        Some(NotUsed { feature: feature.name.clone(), reason })
    }
}

impl Backtest {
    /// Judges a model that was built before.
    pub fn of(model: &TargetModel, dataset: &Dataset, seconds_to_build: f64) -> Result<Backtest, LearnError> {
        let evaluation = model.evaluate(dataset, |row| row.scale == Scale::Test)?;
        let (cases, test_killed) = (evaluation.cases, evaluation.censored_runs);
        let refused: Vec<&LearnError> = evaluation.refused.iter().map(|(_, error)| error).collect();
        let all: Vec<&EvaluatedCase> = cases.iter().collect();
        let scored = Scored::of(model, &all)
            .ok_or_else(|| LearnError::NothingToJudge { target: dataset.target.clone() })?;
        let intervals = intervals(model, &all);
        let mut warnings = model.warnings.clone();
        warnings.extend(refused.first().map(|error| {
            let rows = counted(refused.len(), "test row");
            let why = match error {
                LearnError::MissingFeature { feature } => format!("`{feature}` is missing"),
                LearnError::NotANumber { feature, value } => format!("`{feature}` is `{value}`, no number"),
                other => other.to_string(),
            };
            format!("{rows} left out, as a cell that the model looks at says nothing: {why}")
        }));
        warnings.extend(doubts(model, dataset, &cases, &intervals));
        Ok(Backtest {
            rows: BacktestRows {
                sd: model.evidence.scaled_down_runs,
                fs: model.evidence.full_scale_runs,
                test: all.len(),
                killed: model.censored_runs,
                test_killed,
            },
            policy: model.policy,
            model: BacktestModel {
                name: model.winner().map(ToString::to_string).unwrap_or_default(),
                formula: model.formula.clone(),
                growth: model.growth.clone(),
                explanation: model.explanation.clone(),
            },
            scores: scored.estimate,
            coverage_90: scored.coverage_90,
            coverage_80: scored.coverage_80,
            pinball_90: scored.pinball_90,
            request: BacktestRequest {
                upp: scored.request.upp,
                ov_mape: scored.request.ov_mape,
                reserved_ratio: scored.reserved_ratio,
                used_ratio: scored.used_ratio,
            },
            intervals,
            candidates: model.candidates.clone(),
            not_used: model.features.iter().filter_map(NotUsed::of).collect(),
            judged: cases.iter().map(|case| JudgedCase::of(case, dataset)).collect(),
            warnings,
            seconds_to_build,
        })
    }
}

/// What makes the result, or the requests, doubtful.
fn doubts(
    model: &TargetModel,
    dataset: &Dataset,
    cases: &[EvaluatedCase],
    intervals: &BacktestIntervals,
) -> Vec<String> {
    let mut doubts = Vec::new();
    let asked = dataset.rows.iter().filter(|row| row.scale == Scale::Test);
    let left_out = asked.filter(|row| row.observed.exact().is_some_and(|actual| !TARGETS.contains(&actual)));
    match left_out.count() {
        0 => {}
        rows => doubts.push(format!(
            "test rows left out, as their target is not a number between {:e} and {:e}: {rows}",
            TARGETS.start(),
            TARGETS.end()
        )),
    }
    let mut unseen: BTreeMap<&str, usize> = BTreeMap::new();
    for outside in cases.iter().flat_map(|case| &case.prediction.out_of_range) {
        if outside.measured.is_none() && !outside.known.is_empty() {
            *unseen.entry(&outside.feature).or_default() += 1;
        }
    }
    let of = cases.len();
    for (feature, count) in unseen {
        doubts
            .push(format!("in {count} of {of} test rows `{feature}` is what it was in no run learned from"));
    }
    for (feature, far) in far_numbers(cases) {
        let (low, high) = (Value::Real(far.measured.0), Value::Real(far.measured.1));
        doubts.push(format!(
            "in {} of {of} test rows `{feature}` is far outside the {low} to {high} of the runs learned from, {} at \
             the farthest: `harp predict` would refuse them",
            far.rows,
            Value::Real(far.farthest)
        ));
    }
    let width = |case: &EvaluatedCase| {
        let (low, high) = case.prediction.distribution.interval(0.9);
        high / low
    };
    let width = median(&mut cases.iter().map(width).collect::<Vec<_>>()).unwrap_or(1.0);
    if width > SAYS_NOTHING {
        doubts.push(format!(
            "the ends of the 90 % intervals are a factor of {} apart: they say next to nothing, and neither do \
             the requests; more runs, best larger ones, are needed",
            if width < 1e4 { format!("{width:.0}") } else { format!("{width:.0e}") }
        ));
    } else if width > WIDE && model.evidence.full_scale_runs == 0 {
        doubts.push(format!(
            "the ends of the 90 % intervals are a factor of {width:.0} apart, as no run learned from is a full-scale \
             one: one would tell more than any model"
        ));
    }
    let (low, high) = intervals.coverage_90;
    if high < 90.0 {
        doubts.push(format!(
            "90 % intervals held the truth in {} of such cases: these are not like the runs learned from, or the \
             models do not know how the program goes on; more full-scale runs would tell",
            percentages(low, high)
        ));
    }
    let (low, high) = intervals.request_upp;
    if model.policy == Policy::Cost && low > MOSTLY {
        let more = match model.evidence.full_scale_runs {
            0 => "one full-scale run would tell more than any model",
            _ => "more full-scale runs like these would tell",
        };
        doubts.push(format!(
            "{} of the requests were too small: what they were expected to cost rests on runs that do not show how \
             the program goes on; {more}",
            percentages(low, high)
        ));
    }
    if let Policy::Upp { per_mille } = model.policy {
        let promised = f64::from(per_mille) / 10.0;
        if low > promised {
            doubts.push(format!(
                "the policy allows {promised} % of the requests to be too small, and {} of such cases were",
                percentages(low, high)
            ));
        }
    }
    doubts
}

/// A range of percentages for people.
fn percentages(low: f64, high: f64) -> String {
    match (low.round(), high.round()) {
        (_, high) if high <= 0.0 => "none".to_owned(),
        (low, _) if low >= 100.0 => "all".to_owned(),
        (low, high) if low >= high => format!("{low} %"),
        (low, high) => format!("{low} to {high} %"),
    }
}

/// Test rows in which a number is far outside what was measured.
struct Far {
    rows: usize,
    measured: (f64, f64),
    farthest: f64,
}

/// Numbers far outside what was measured, by feature.
fn far_numbers(cases: &[EvaluatedCase]) -> BTreeMap<&str, Far> {
    let mut found: BTreeMap<&str, Far> = BTreeMap::new();
    let outside = cases.iter().flat_map(|case| &case.prediction.out_of_range);
    for outside in outside.filter(|outside| outside.is_far()) {
        let value = outside.value.as_ref().and_then(Value::as_number);
        let (Some(value), Some(measured)) = (value, outside.measured) else { continue };
        let far = found.entry(&outside.feature).or_insert(Far { rows: 0, measured, farthest: value });
        far.rows += 1;
        let distance = |value: f64| {
            if value > 0.0 && measured.0 > 0.0 {
                (value / measured.1).max(measured.0 / value)
            } else {
                (value - measured.1).max(measured.0 - value)
            }
        };
        if distance(value) > distance(far.farthest) {
            far.farthest = value;
        }
    }
    found
}

/// Scores over samples of the cases, drawn with replacement by the model's seed.
fn intervals(model: &TargetModel, cases: &[&EvaluatedCase]) -> BacktestIntervals {
    let mut random = Pcg64::seed_from_u64(model.seed);
    let samples: Vec<Scored> = (0..SAMPLES)
        .filter_map(|_| {
            let draw = |_| cases[(random.next_u64() % cases.len() as u64) as usize];
            Scored::of(model, &(0..cases.len()).map(draw).collect::<Vec<_>>())
        })
        .collect();
    let some = |of: &dyn Fn(&Scored) -> Option<f64>| {
        let mut values: Vec<f64> = samples.iter().filter_map(of).collect();
        values.sort_by(f64::total_cmp);
        let last = values.len().saturating_sub(1);
        let at = |share: f64| values.get((share * last as f64).round() as usize).copied();
        Some((at(0.05)?, at(0.95)?))
    };
    let middle =
        |of: &dyn Fn(&Scored) -> f64| some(&|scored| Some(of(scored))).unwrap_or((f64::NAN, f64::NAN));
    BacktestIntervals {
        mse: middle(&|scored| scored.estimate.mse),
        mae: middle(&|scored| scored.estimate.mae),
        mape: middle(&|scored| scored.estimate.mape),
        median_ape: middle(&|scored| scored.estimate.median_ape),
        upp: middle(&|scored| scored.estimate.upp),
        up_mape: some(&|scored| scored.estimate.up_mape),
        ov_mape: some(&|scored| scored.estimate.ov_mape),
        coverage_90: middle(&|scored| scored.coverage_90),
        coverage_80: middle(&|scored| scored.coverage_80),
        pinball_90: middle(&|scored| scored.pinball_90),
        request_upp: middle(&|scored| scored.request.upp),
        request_ov_mape: some(&|scored| scored.request.ov_mape),
        request_reserved_ratio: middle(&|scored| scored.reserved_ratio),
        request_used_ratio: middle(&|scored| scored.used_ratio),
    }
}
