//! From a table to a model: fit every candidate, judge, choose, fit the winner again on everything.

use harp_core::{Dataset, Evidence, Target};

use crate::choose::tabulate;
use crate::describe::{censored_warning, explain, features_of, formula_of, left_out_warnings, what_to_run};
use crate::ensemble::{Ensemble, Member};
use crate::pipeline::Pipeline;
use crate::prepare::{Prepared, without_disturbed};
use crate::table::Table;
use crate::validate::{Character, Plan, Residuals, balanced, judge, seed_of};
use crate::{BuildOptions, LearnError, Mix, ModelKind, TargetModel};

/// Fewest different configurations that can teach anything.
pub const FEWEST_CONFIGURATIONS: usize = 4;

/// More runs than this are thinned before anything is learned.
const MOST_RUNS: usize = 20_000;

/// Builds a model of the table's target.
///
/// Rows of scale `test` are not looked at. Runs killed at a limit teach as lower bounds, never as if
/// they had finished. The winner is fitted again on all scaled-down and all full-scale
/// runs; its scores, adjustment and interval come from the fits that had not seen what they judged.
pub fn build(dataset: &Dataset, options: &BuildOptions) -> Result<TargetModel, LearnError> {
    let table = Table::of(dataset)?.thinned(MOST_RUNS);
    if table.groups < FEWEST_CONFIGURATIONS {
        return Err(LearnError::NotEnoughEvidence {
            target: dataset.target.clone(),
            configurations: table.groups,
            needed: FEWEST_CONFIGURATIONS,
            runs: table.rows.len(),
            censored: table.censored.len(),
            advice: what_to_run(&table, FEWEST_CONFIGURATIONS),
        });
    }
    let one_sided = matches!(dataset.target, Target::Walltime | Target::CpuTime);
    let table = if one_sided && options.remove_outliers { without_disturbed(table) } else { table };
    let character = Character::of(&table);
    let plan = Plan::of(&table, options.seed);
    let mut verdicts = judge(&table, &plan, &character, options);
    let ensemble = options.models.contains(&ModelKind::Ensemble).then(|| Ensemble::of(&verdicts)).flatten();
    let members = ensemble.as_ref().map(|ensemble| ensemble.members.clone()).unwrap_or_default();
    verdicts.extend(ensemble.map(|ensemble| ensemble.verdict));
    let scored = tabulate(&verdicts, options.reexecution);
    let nothing = |reason: String| LearnError::NoCandidate { target: dataset.target.clone(), reason };
    let Some(winner) = scored.winner(options.policy) else {
        let reason = scored.candidates.iter().rev().find_map(|candidate| candidate.excluded.clone());
        return Err(nothing(reason.unwrap_or_else(|| "there were none".to_owned())));
    };
    let model = scored.candidates[winner].model;
    let judged = scored.outcomes[winner].map_or(&[][..], |outcome| &outcome.judged);
    // What is shipped learned from every full-scale run, so the interval comes from the fits of the
    // same model that saw most of them.
    let residuals = match scored.nearest_to_shipped(model) {
        Some(outcome) => Residuals::of(&outcome.judged, &character.knowing(&outcome.inside)),
        None => Residuals::of(&[], &character),
    };

    let all: Vec<usize> = (0..table.rows.len()).collect();
    let rows = match scored.candidates[winner].mix {
        Mix { full_scale_percent: 1.. } => balanced(&table, &all),
        _ => all.iter().map(|&row| (row, 1.0)).collect(),
    };
    let prepared = Prepared::with_lower_bounds(&table, &rows, options.remove_outliers);
    let fit = |model: ModelKind| {
        let seed = seed_of(options.seed, model, usize::MAX);
        Pipeline::fit(model, &prepared, options, seed)
    };
    let members = if model == ModelKind::Ensemble { members } else { vec![(model, 1.0)] };
    let mut fitted = Vec::new();
    for (model, _) in &members {
        fitted.push(fit(*model).map_err(&nothing)?);
    }
    let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    let formula = formula_of(&members, &fitted, &names);
    let pipeline = fitted.remove(0);
    let others = members.iter().skip(1).zip(fitted);

    let mut validation_rows: Vec<usize> = judged.iter().map(|said| said.row).collect();
    validation_rows.sort_unstable();
    validation_rows.dedup();
    let learned = |full_scale: bool| {
        let kept = |row: &usize| !prepared.outliers.iter().any(|outlier| outlier.row == *row);
        all.iter().filter(|row| table.rows[**row].full_scale == full_scale && kept(row)).count()
    };
    let evidence = Evidence {
        scaled_down_runs: learned(false),
        full_scale_runs: learned(true),
        validation_runs: validation_rows.len(),
    };
    let mut built = TargetModel {
        target: dataset.target.clone(),
        policy: options.policy,
        reexecution: options.reexecution,
        seed: options.seed,
        features: features_of(&table, &prepared),
        explanation: explain(&scored.candidates, winner, options.policy, plan.validation, &evidence),
        evidence,
        validation: plan.validation,
        winner,
        formula,
        censored_runs: table.censored.len(),
        warnings: left_out_warnings(&table, &prepared),
        pipeline,
        members: others.map(|((_, weight), pipeline)| Member { weight: *weight, pipeline }).collect(),
        residuals,
        candidates: scored.candidates,
        custom: None,
        comparison: None,
        correction: None,
        reuse: None,
    };
    let contradicted = censored_warning(&built, dataset, &table);
    built.warnings.extend(contradicted);
    Ok(built)
}
