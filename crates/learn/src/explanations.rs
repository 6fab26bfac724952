//! What every candidate says of itself, so that people can look at those that did not win, too.

use harp_core::Dataset;
use rayon::prelude::*;

use crate::build::{learned_from, prepared_for};
use crate::pipeline::Pipeline;
use crate::validate::seed_of;
use crate::{BuildOptions, LearnError, ModelKind, TargetModel};

/// Gives each candidate that competed its formula, length scales or importances when it is fitted on all runs,
/// as the winner is. `dataset` and `options` are those the model was built with.
pub fn explain_candidates(
    model: &mut TargetModel,
    dataset: &Dataset,
    options: &BuildOptions,
) -> Result<(), LearnError> {
    let Some((winning, mix)) = model.winner().map(|winner| (winner.model, winner.mix)) else { return Ok(()) };
    let table = learned_from(dataset, options)?;
    let prepared = prepared_for(&table, mix, options, model.killed.is_empty());
    let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    let explain = |kind: ModelKind| {
        let seed = seed_of(options.seed, kind, usize::MAX);
        Pipeline::fit(kind, &prepared, options, seed).ok()?.formula(&names, &prepared)
    };
    let competed = |kind: &ModelKind| {
        let mut same = model.candidates.iter().filter(|candidate| candidate.model == *kind);
        *kind != winning && same.any(|candidate| candidate.scores.is_some())
    };
    let kinds: Vec<ModelKind> = ModelKind::ALL.into_iter().filter(competed).collect();
    let mut explained: Vec<(ModelKind, Option<String>)> =
        kinds.into_par_iter().map(|kind| (kind, explain(kind))).collect();
    explained.push((winning, model.formula.clone()));
    for candidate in model.candidates.iter_mut().filter(|candidate| candidate.scores.is_some()) {
        let found = explained.iter().find(|(kind, _)| *kind == candidate.model);
        // An ensemble that did not win is fitted nowhere: what it is made of was said when it was put together.
        candidate.formula = found.and_then(|(_, words)| words.clone()).or(candidate.formula.take());
    }
    Ok(())
}
