//! Fitting every model on every training set of the plan, in parallel, and collecting what each says
//! of the runs it judges. Results come back in a fixed order: any number of threads, same answer.

use rayon::prelude::*;

use super::inside::judge_inside;
use super::{Character, Judgement, Plan};
use crate::pipeline::Pipeline;
use crate::prepare::{Beyond, Prepared};
use crate::regress::ROWS_FOR_WIDE_NETWORK;
use crate::table::Table;
use crate::{BuildOptions, Mix, ModelKind, Validation};

/// What a model said of a run it had not seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Judged {
    /// Row of the table.
    pub row: usize,
    pub group: usize,
    pub predicted: f64,
    pub actual: f64,
    pub full_scale: bool,
    /// How far beyond its training range the run lay, in spans.
    pub spans: f64,
    /// How much the error counts beside others.
    pub weight: f64,
}

impl Judged {
    /// How many times wider than inside the training range doubt is where the run lay.
    pub(crate) fn stretch(&self) -> f64 {
        Beyond::stretch(self.spans)
    }

    /// ln(actual/predicted), brought to distance 0.
    pub(crate) fn residual(&self) -> f64 {
        (self.actual / self.predicted).ln() / self.stretch()
    }
}

/// A model on a mix, judged or left out with the reason.
pub(crate) struct Verdict {
    pub model: ModelKind,
    pub mix: Mix,
    pub outcome: Result<Outcome, String>,
}

/// All that was said, and the size of the model.
#[derive(Default)]
pub(crate) struct Outcome {
    pub judged: Vec<Judged>,
    /// What was said of scaled-down runs inside the measured range; of some or none of them where the
    /// model cannot be fitted on fewer.
    pub inside: Vec<Judged>,
    pub parameters: usize,
    /// Whether it was so far off that it was not judged any further.
    pub beaten: bool,
}

/// What a model said when it had learned from most full-scale runs.
pub(crate) fn fullest(verdicts: &[Verdict], model: ModelKind) -> Option<(&Verdict, &Outcome)> {
    let judged = verdicts.iter().filter(|verdict| verdict.model == model);
    let judged = judged.filter_map(|verdict| Some((verdict, verdict.outcome.as_ref().ok()?)));
    judged.max_by_key(|(verdict, _)| verdict.mix)
}

/// Judges every model on every mix.
pub(crate) fn judge(
    table: &Table,
    plan: &Plan,
    character: &Character,
    options: &BuildOptions,
) -> Vec<Verdict> {
    let prepare = |training: usize| {
        let rows = &plan.trainings[training];
        let bounds = plan.with_lower_bounds(table, training);
        if bounds {
            Prepared::with_lower_bounds(table, rows, options.remove_outliers)
        } else {
            Prepared::of(table, rows, options.remove_outliers)
        }
    };
    let prepared: Vec<Prepared> = (0..plan.trainings.len()).into_par_iter().map(prepare).collect();
    // With one full-scale configuration, which is needed to judge, there is no mix of all others: then every model
    // learns from the scaled-down runs.
    let whole = !plan.mixes.iter().any(|(mix, judged)| *mix == Mix::EVERYTHING && judged.is_ok());
    let judges = |model: ModelKind, mix: Mix| {
        model.in_every_mix() == (mix != Mix::EVERYTHING)
            || plan.validation == Validation::LeaveOneOut
            || (whole && mix.full_scale_percent == 0)
    };
    // The slow ones first, so that no thread is left with them at the end.
    let mut tasks: Vec<(ModelKind, usize)> = Vec::new();
    let unfit = |model: ModelKind| {
        let unwanted = || Some("it was not asked for".to_owned());
        if options.models.contains(&model) { unfit(model, table, character) } else { unwanted() }
    };
    for model in ModelKind::ALL.into_iter().rev().filter(|&model| unfit(model).is_none()) {
        let mixes = plan.mixes.iter().filter(|(mix, _)| judges(model, *mix));
        let judgements = mixes.filter_map(|(_, judgements)| judgements.as_ref().ok()).flatten();
        for training in judgements.map(|judgement| judgement.training) {
            if !tasks.contains(&(model, training)) {
                tasks.push((model, training));
            }
        }
    }
    tasks.sort_by_key(|&(model, _)| !matches!(model, ModelKind::Network));
    let fits: Vec<Result<Pipeline, String>> = tasks
        .par_iter()
        .map(|&(model, training)| {
            let seed = seed_of(options.seed, model, training);
            Pipeline::fit(model, &prepared[training], options, seed)
        })
        .collect();
    let fit_of = |model: ModelKind, training: usize| {
        tasks.iter().position(|&task| task == (model, training)).map(|index| &fits[index])
    };
    let mut verdicts = Vec::new();
    for model in ModelKind::ALL.into_iter().filter(|&model| model != ModelKind::Ensemble) {
        for (mix, judgements) in plan.mixes.iter().filter(|(mix, _)| judges(model, *mix)) {
            let outcome = match (unfit(model), judgements) {
                (Some(reason), _) => Err(reason),
                (None, Err(reason)) => Err(reason.clone()),
                (None, Ok(judgements)) => {
                    let mut outcome = Ok(Outcome::default());
                    for judgement in judgements {
                        match (fit_of(model, judgement.training), &mut outcome) {
                            (Some(Ok(pipeline)), Ok(outcome)) => {
                                outcome.parameters = pipeline.fitted.parameters();
                                outcome.judged.extend(say(table, pipeline, judgement));
                            }
                            // It speaks of fewer runs than others then, and is not held against them.
                            (Some(Err(_)), Ok(_)) if judgement.weight < 1.0 => {}
                            (Some(Err(reason)), Ok(_)) => outcome = Err(reason.clone()),
                            (None, _) | (_, Err(_)) => {}
                        }
                    }
                    outcome
                }
            };
            verdicts.push(Verdict { model, mix: *mix, outcome });
        }
    }
    judge_inside(table, plan, &prepared, options, &mut verdicts);
    verdicts
}

/// Why a model does not suit the table at all.
fn unfit(model: ModelKind, table: &Table, character: &Character) -> Option<String> {
    let rows = table.rows.len();
    match model {
        ModelKind::Ensemble => Some("it is made of others".to_owned()),
        ModelKind::Constant => None,
        _ if character.flat => Some("the target is the same in all runs but for noise".to_owned()),
        ModelKind::Network if rows < ROWS_FOR_WIDE_NETWORK => {
            Some(format!("{rows} runs are too few for it; from {ROWS_FOR_WIDE_NETWORK} on it competes"))
        }
        ModelKind::SmallNetwork if rows >= ROWS_FOR_WIDE_NETWORK => {
            Some(format!("{rows} runs are enough for the larger network"))
        }
        ModelKind::CurvedPowerLaw
        | ModelKind::CurvedProcess
        | ModelKind::CurvedBoosting
        | ModelKind::CurvesProcess
            if !table.rows.iter().any(|row| row.full_scale) =>
        {
            Some("exponents that change with size need a full-scale run to hold them".to_owned())
        }
        ModelKind::CurvedProcess | ModelKind::CurvedBoosting | ModelKind::CurvesProcess
            if table.groups_among((0..rows).filter(|&row| table.rows[row].full_scale)) == 1 =>
        {
            Some("the only full-scale configuration is needed to judge".to_owned())
        }
        _ => None,
    }
}

pub(super) fn say(table: &Table, pipeline: &Pipeline, judgement: &Judgement) -> Vec<Judged> {
    let rows = judgement.rows.iter();
    rows.map(|&row| {
        let known = &table.rows[row];
        let cells: Vec<_> = known.cells.iter().map(Option::as_ref).collect();
        let (predicted, beyond) = pipeline.predict(&cells);
        Judged {
            row,
            group: known.group,
            predicted,
            actual: known.target,
            full_scale: known.full_scale,
            spans: beyond.spans,
            weight: judgement.weight,
        }
    })
    .collect()
}

/// A seed for each fit, so that none depends on the order in which they run.
pub(crate) fn seed_of(seed: u64, model: ModelKind, training: usize) -> u64 {
    let model = ModelKind::ALL.iter().position(|&other| other == model).unwrap_or(0) as u64;
    seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (model << 32) ^ training as u64
}
