//! From what the rooms return to what `report` shows.

use std::collections::BTreeMap;

use harp_core::{Row, Scale, Target, Value};
use harp_history::Recorded;
use harp_learn::{AdjustmentKind, TargetModel};
use harp_report::{CandidateView, CandidatesView, CaseView, Estimate, SweepView, TargetView};

use crate::failure::Failure;
use crate::scaling;

/// The table of candidates of a model.
pub fn candidates_view(model: &TargetModel) -> CandidatesView {
    let candidates = model.candidates.iter().enumerate().map(|(index, candidate)| CandidateView {
        regressor: candidate.model.to_string(),
        mix: candidate.mix.to_string(),
        adjusted_by: match candidate.adjustment.kind {
            AdjustmentKind::None => String::new(),
            kind => kind.to_string(),
        },
        adjustment: Some(candidate.adjustment.factor),
        scores: candidate.scores.clone(),
        reserved_ratio: candidate.reserved_ratio,
        cost: candidate.reexecution.map(|told| told.cost),
        reward: candidate.reexecution.map(|told| told.reward),
        chosen: index == model.winner,
        formula: candidate.formula.as_deref().map(|formula| of_target(model, formula)),
        note: candidate.excluded.clone(),
    });
    CandidatesView {
        target: model.target.clone(),
        policy: model.policy.to_string(),
        reason: model.explanation.clone(),
        candidates: candidates.collect(),
    }
}

/// The test cases of a table, predicted and compared, with candidates and curves.
pub fn target_view(
    model: &TargetModel,
    table: &harp_core::Dataset,
    unfinished: &[BTreeMap<String, Value>],
    coverage: f64,
) -> Result<TargetView, Failure> {
    let tested = table.of_scale(Scale::Test).map(|row| (features_of(table, row), Some(row.observed)));
    let tested: Vec<_> = tested.collect();
    // A case that failed was predicted all the same.
    let is_tested = |case: &BTreeMap<String, Value>| tested.iter().any(|(tested, _)| tested == case);
    let unfinished = unfinished.iter().filter(|case| !is_tested(case)).map(|case| (case.clone(), None));
    let mut cases = Vec::new();
    for (features, observed) in tested.iter().cloned().chain(unfinished) {
        let prediction = model.predict(&features)?;
        let estimate = Estimate::of(&prediction, coverage);
        let mut case = CaseView::from_parts(features, estimate, prediction.request, observed);
        case.out_of_range = prediction.out_of_range;
        cases.push(case);
    }
    let mut view = TargetView::new(model.target.clone(), coverage, model.evidence.clone(), cases);
    view.candidates = Some(candidates_view(model));
    view.scaling = scaling::views(model, table, coverage)?;
    Ok(view)
}

/// The test cases whose runs did not complete, each once.
pub fn unfinished_tests(recorded: &[Recorded]) -> Vec<BTreeMap<String, Value>> {
    let mut cases = Vec::new();
    for Recorded { run, .. } in recorded {
        let case = run.configuration.features();
        let is_meant = run.configuration.scale == Scale::Test && !run.outcome.is_completed();
        if is_meant && !cases.contains(&case) {
            cases.push(case);
        }
    }
    cases
}

/// A row's cells by name; missing cells are left out.
pub fn features_of(table: &harp_core::Dataset, row: &Row) -> BTreeMap<String, Value> {
    let cells = table.columns.iter().zip(&row.cells);
    cells.filter_map(|(column, cell)| Some((column.name.clone(), cell.clone()?))).collect()
}

/// What was run, counted.
pub fn sweep_view(runs: &[Recorded]) -> SweepView {
    let completed = |scale: Scale| {
        let of_scale = runs.iter().filter(|recorded| recorded.run.configuration.scale == scale);
        of_scale.filter(|recorded| recorded.run.outcome.is_completed()).count()
    };
    let is_censored = |recorded: &&Recorded| {
        recorded.run.outcome.walltime_is_lower_bound() || recorded.run.outcome.memory_is_lower_bound()
    };
    let unfinished = runs.iter().filter(|recorded| !recorded.run.outcome.is_completed());
    let censored = unfinished.clone().filter(is_censored).count();
    SweepView {
        scaled_down: completed(Scale::Sd),
        full_scale: completed(Scale::Fs),
        test: completed(Scale::Test),
        failed: unfinished.count() - censored,
        censored,
        time_spent: runs.iter().filter_map(|recorded| recorded.run.usage.walltime).sum(),
        money_spent: None,
    }
}

/// A target in words.
pub fn target_words(target: &Target) -> String {
    match target {
        Target::Walltime => "walltime".to_owned(),
        Target::PeakMemory => "peak memory".to_owned(),
        Target::CpuTime => "processor time".to_owned(),
        Target::Metric(name) => name.clone(),
    }
}

/// How the target grows, as a sentence.
pub fn growth(growth: &[harp_learn::Growth]) -> Option<String> {
    harp_learn::growth_in_words(growth)
        .map(|words| format!("Near the largest runs it grows, on average, {words}."))
}

/// A model's formula, with the target in front instead of the general `T`.
pub fn formula(model: &TargetModel) -> Option<String> {
    model.formula.as_deref().map(|formula| of_target(model, formula))
}

/// Formulas longer than this are read by nobody, and this much of each part still is.
const LONGEST: usize = 300;
const PART: usize = 120;

/// A formula as far as a person reads it: of each member of an ensemble the beginning.
pub fn in_short(formula: &str) -> String {
    if formula.chars().count() <= LONGEST {
        return formula.to_owned();
    }
    let parts = formula.split("; ").map(|part| match part.char_indices().nth(PART) {
        None => part.to_owned(),
        Some((end, _)) => {
            let ends = [" · ", ", ", " + "].into_iter().filter_map(|between| part[..end].rfind(between));
            format!("{} …", &part[..ends.max().unwrap_or(end)])
        }
    });
    format!("{} (in full with --json)", parts.collect::<Vec<_>>().join("; "))
}

fn of_target(model: &TargetModel, formula: &str) -> String {
    let symbol = match &model.target {
        Target::Walltime | Target::CpuTime => "seconds".to_owned(),
        Target::PeakMemory => "bytes".to_owned(),
        Target::Metric(name) => name.clone(),
    };
    formula.replace("T ≈ ", &format!("{symbol} ≈ "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_formulas_are_cut_between_factors() {
        let law = "T ≈ 3.1e-9 · n^2.98 · threads^-0.87 + 0.4";
        assert_eq!(in_short(law), law);
        let factors: Vec<String> = (0..60).map(|index| format!("größe{index}^0.5")).collect();
        let long = format!("80 % curved power law: T ≈ 2 · {}; 20 % linear: {law}", factors.join(" · "));
        let short = in_short(&long);
        assert!(short.starts_with("80 % curved power law: T ≈ 2 · größe0^0.5 · "), "{short}");
        assert!(short.contains("^0.5 …; 20 % linear: T ≈ 3.1e-9"), "{short}");
        assert!(short.ends_with("+ 0.4 (in full with --json)") && short.chars().count() < LONGEST, "{short}");
    }
}
