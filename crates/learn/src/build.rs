//! From a table to a model: fit every candidate, judge, choose, fit the winner again on everything.

use harp_core::{Dataset, Evidence, Target};

use crate::choose::tabulate;
use crate::describe::{
    censored_warning, explain, features_of, formula_of, left_out_warnings, loss_warning, shares_of,
    unusable_warning, what_to_run,
};
use crate::ensemble::{Ensemble, Member, Said, together};
use crate::growth::growth_of;
use crate::killed::Killed;
use crate::pipeline::Pipeline;
use crate::prepare::{Prepared, without_disturbed, without_unknown};
use crate::start_up::{flat_warning, start_up_warning};
use crate::statistics::mean;
use crate::table::{Table, TableRow};
use crate::validate::{Character, Plan, Residuals, Verdict, balanced, judge, seed_of, small_only_warning};
use crate::{BuildOptions, Candidate, LearnError, Mix, ModelKind, TargetModel};

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
    let table = learned_from(dataset, options)?;
    if table.groups < FEWEST_CONFIGURATIONS {
        return Err(LearnError::NotEnoughEvidence {
            target: dataset.target.clone(),
            configurations: table.groups,
            needed: FEWEST_CONFIGURATIONS,
            runs: table.rows.len(),
            censored: table.censored.len(),
            advice: unusable_warning(&table).unwrap_or_else(|| what_to_run(&table, FEWEST_CONFIGURATIONS)),
        });
    }
    let character = Character::of(&table);
    let plan = Plan::of(&table, options.seed);
    let mut verdicts = judge(&table, &plan, &character, options);
    let nothing = |reason: String| LearnError::NoCandidate { target: dataset.target.clone(), reason };
    // What could be fitted on parts may ask for too much of the whole, where more columns vary.
    let chosen = loop {
        match Chosen::of(&table, &character, &verdicts, options) {
            Ok(chosen) => break chosen,
            Err(NotChosen::Unfit(model, reason)) => {
                let same = verdicts.iter_mut().filter(|verdict| verdict.model == model);
                same.for_each(|verdict| verdict.outcome = Err(reason.clone()));
            }
            Err(NotChosen::Nothing(reason)) => return Err(nothing(reason)),
        }
    };
    let Chosen { members, mut fitted, prepared, residuals, candidates, winner, mut validation_rows } = chosen;
    let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
    let formula = formula_of(&members, &fitted, &names, &prepared);
    let pipeline = fitted.remove(0);
    let others = members.iter().skip(1).zip(fitted);

    validation_rows.sort_unstable();
    validation_rows.dedup();
    let learned = |full_scale: bool| {
        let kept = |row: &usize| !prepared.outliers.iter().any(|outlier| outlier.row == *row);
        let rows = 0..table.rows.len();
        rows.filter(|&row| table.rows[row].full_scale == full_scale && kept(&row)).count()
    };
    let evidence = Evidence {
        scaled_down_runs: learned(false),
        full_scale_runs: learned(true),
        validation_runs: validation_rows.len(),
    };
    let phases = options
        .models
        .contains(&ModelKind::Phases)
        .then(|| Pipeline::fit(ModelKind::Phases, &prepared, options, options.seed).ok().map(Box::new))
        .flatten();
    let mut built = TargetModel {
        target: dataset.target.clone(),
        policy: options.policy,
        reexecution: options.reexecution,
        seed: options.seed,
        features: features_of(&table, &prepared),
        explanation: explain(&candidates, winner, options.policy, plan.validation, &evidence),
        evidence,
        validation: plan.validation,
        winner,
        formula,
        growth: Vec::new(),
        censored_runs: table.censored.len(),
        killed: Vec::new(),
        warnings: left_out_warnings(&table, &prepared),
        pipeline,
        members: others.map(|((_, weight), pipeline)| Member { weight: *weight, pipeline }).collect(),
        residuals,
        candidates,
        phases,
        custom: None,
        comparison: None,
        correction: None,
        reuse: None,
    };
    built.growth = growth_of(&built, &table);
    built.killed = Killed::of(&table, |cells| built.centre(cells).0);
    let contradicted = built.contradicted().or_else(|| censored_warning(&built, dataset, &table));
    built.warnings.extend(contradicted);
    built.warnings.extend(loss_warning(options.loss, &members));
    let start_up = start_up_warning(&built.target, &prepared, built.evidence.full_scale_runs);
    built.warnings.extend(start_up);
    built.warnings.extend(flat_warning(&built.target, &prepared, &character));
    built.warnings.extend(small_only_warning(&table));
    Ok(built)
}

/// The rows that are learned from.
pub(crate) fn learned_from(dataset: &Dataset, options: &BuildOptions) -> Result<Table, LearnError> {
    let table = without_unknown(Table::of(dataset)?).thinned(MOST_RUNS);
    let one_sided = matches!(dataset.target, Target::Walltime | Target::CpuTime);
    let enough = table.groups >= FEWEST_CONFIGURATIONS;
    Ok(if enough && one_sided && options.remove_outliers { without_disturbed(table) } else { table })
}

/// A model that learned from killed runs, too, is bent by them if it misses the finished runs by more than this
/// many times what it does without, and by more than this.
const BENT: f64 = 1.5;
const BENT_LEAST: f64 = 0.02;

/// How far models are off on the runs they learned from: the mean distance of the logarithms.
fn misfit(table: &Table, members: &[(ModelKind, f64)], fitted: &[Pipeline]) -> f64 {
    let off = |row: &TableRow| {
        let cells: Vec<_> = row.cells.iter().map(Option::as_ref).collect();
        let said = members.iter().zip(fitted).map(|(&(_, weight), pipeline)| {
            let extrapolates = pipeline.fitted.extrapolates();
            Said { weight, value: pipeline.predict(&cells).0, extrapolates }
        });
        (together(&said.collect::<Vec<_>>(), false) / row.target).ln().abs()
    };
    mean(table.rows.iter().map(off)).unwrap_or(0.0)
}

/// All rows as what is shipped learns from them, when it won on a mix; with killed runs as bounds or without.
pub(crate) fn prepared_for(table: &Table, mix: Mix, options: &BuildOptions, with_bounds: bool) -> Prepared {
    let all: Vec<usize> = (0..table.rows.len()).collect();
    let rows = match mix {
        Mix { full_scale_percent: 1.. } => balanced(table, &all),
        _ => all.iter().map(|&row| (row, 1.0)).collect(),
    };
    if with_bounds {
        Prepared::with_lower_bounds(table, &rows, options.remove_outliers)
    } else {
        Prepared::of(table, &rows, options.remove_outliers)
    }
}

/// The winner under the policy, fitted on everything.
struct Chosen {
    members: Vec<(ModelKind, f64)>,
    fitted: Vec<Pipeline>,
    prepared: Prepared,
    residuals: Residuals,
    candidates: Vec<Candidate>,
    winner: usize,
    validation_rows: Vec<usize>,
}

/// Why there is none.
enum NotChosen {
    /// A model that was to be shipped cannot be fitted on everything.
    Unfit(ModelKind, String),
    Nothing(String),
}

impl Chosen {
    fn of(
        table: &Table,
        character: &Character,
        verdicts: &[Verdict],
        options: &BuildOptions,
    ) -> Result<Chosen, NotChosen> {
        let ensemble =
            options.models.contains(&ModelKind::Ensemble).then(|| Ensemble::of(verdicts)).flatten();
        let members = ensemble.as_ref().map(|ensemble| ensemble.members.clone()).unwrap_or_default();
        let together = ensemble.map(|ensemble| ensemble.verdict);
        let mut scored = tabulate(verdicts.iter().chain(&together), options.reexecution);
        let ensembles = scored.candidates.iter_mut().filter(|row| row.model == ModelKind::Ensemble);
        ensembles.for_each(|row| row.formula = Some(shares_of(&members)));
        let Some(winner) = scored.winner(options.policy) else {
            let reason = scored.candidates.iter().rev().find_map(|candidate| candidate.excluded.clone());
            return Err(NotChosen::Nothing(reason.unwrap_or_else(|| "there were none".to_owned())));
        };
        let model = scored.candidates[winner].model;
        let mix = scored.candidates[winner].mix;
        let prepared = prepared_for(table, mix, options, true);
        let members = if model == ModelKind::Ensemble { members } else { vec![(model, 1.0)] };
        let fit = |prepared: &Prepared| -> Result<Vec<Pipeline>, NotChosen> {
            let each = members.iter().map(|&(model, _)| {
                let seed = seed_of(options.seed, model, usize::MAX);
                let fitted = Pipeline::fit(model, prepared, options, seed);
                fitted.map_err(|reason| NotChosen::Unfit(model, reason))
            });
            each.collect()
        };
        let (mut prepared, mut fitted) = (prepared, None);
        if !table.lower_bounds.is_empty() {
            let finished = prepared_for(table, mix, options, false);
            let (bent, plain) = (fit(&prepared), fit(&finished)?);
            let straight = misfit(table, &members, &plain);
            let bends = |bent: &Vec<Pipeline>| misfit(table, &members, bent) > BENT * straight + BENT_LEAST;
            if bent.as_ref().map_or(true, bends) {
                (prepared, fitted) = (finished, Some(plain));
            } else {
                fitted = bent.ok();
            }
        }
        let fitted = fitted.map_or_else(|| fit(&prepared), Ok)?;
        // What is shipped learned from every full-scale run, so the interval comes from the fits of the
        // same model that saw most of them.
        let residuals = match scored.nearest_to_shipped(model) {
            Some(outcome) => Residuals::of(&outcome.judged, &character.knowing(&outcome.inside)),
            None => Residuals::of(&[], character),
        };
        let judged = scored.outcomes[winner].map_or(&[][..], |outcome| &outcome.judged);
        let validation_rows = judged.iter().map(|said| said.row).collect();
        Ok(Chosen {
            members,
            fitted,
            prepared,
            residuals,
            candidates: scored.candidates,
            winner,
            validation_rows,
        })
    }
}
