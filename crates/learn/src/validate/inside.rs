//! The second round where full-scale runs are few: models that did well on these are judged among the
//! scaled-down runs too.

use rayon::prelude::*;

use super::judge::{Judged, Verdict, fullest, say, seed_of};
use super::{Judgement, Plan};
use crate::ensemble::{Spoken, error};
use crate::pipeline::Pipeline;
use crate::prepare::Prepared;
use crate::table::Table;
use crate::{BuildOptions, ModelKind};

/// Models whose error is more than this times the lowest are too far off. A few full-scale runs flatter some
/// model by chance, which must not shut out all others.
const TOO_FAR: f64 = 3.0;

/// Adds what is said of scaled-down runs, and marks the models that were too far off for this round.
pub(super) fn judge_inside(
    table: &Table,
    plan: &Plan,
    prepared: &[Prepared],
    options: &BuildOptions,
    verdicts: &mut [Verdict],
) {
    if plan.inside.is_empty() {
        return;
    }
    let most = Spoken::most(verdicts.iter().filter_map(|verdict| verdict.outcome.as_ref().ok()));
    let mut errors: Vec<(ModelKind, f64)> = Vec::new();
    for model in ModelKind::ALL {
        let error = fullest(verdicts, model).and_then(|(_, outcome)| error(model, outcome, most));
        errors.extend(error.map(|error| (model, error)));
    }
    let lowest = errors.iter().map(|(_, error)| *error).fold(f64::INFINITY, f64::min);
    errors.retain(|(_, error)| *error <= TOO_FAR * lowest);
    let tasks: Vec<(ModelKind, &Judgement)> = errors
        .iter()
        .flat_map(|(model, _)| plan.inside.iter().map(|judgement| (*model, judgement)))
        .collect();
    let say_inside = |&(model, judgement): &(ModelKind, &Judgement)| -> (ModelKind, Vec<Judged>) {
        let seed = seed_of(options.seed, model, judgement.training);
        let fitted = Pipeline::fit(model, &prepared[judgement.training], options, seed);
        // What cannot be fitted on fewer runs says nothing of some of them.
        (model, fitted.map(|pipeline| say(table, &pipeline, judgement)).unwrap_or_default())
    };
    let said: Vec<(ModelKind, Vec<Judged>)> = tasks.par_iter().map(say_inside).collect();
    for verdict in verdicts {
        let Ok(outcome) = &mut verdict.outcome else { continue };
        outcome.beaten = !errors.iter().any(|(model, _)| *model == verdict.model);
        let own = said.iter().filter(|(model, _)| *model == verdict.model);
        outcome.inside = own.flat_map(|(_, judged)| judged.iter().copied()).collect();
    }
}
