//! Words and descriptions for people: features measured and dropped, why the winner won, what was
//! left out, what to run next.

use std::collections::BTreeMap;

use harp_core::{Dataset, Evidence, Loss, Policy, Target, Value, counted};

use crate::model::case_of;
use crate::pipeline::Pipeline;
use crate::prepare::{Encoding, Prepared, Reason, number_of};
use crate::regress::MENDED;
use crate::statistics::{mean, normal_quantile, student_quantile};
use crate::table::{TARGETS, Table, TableRow, Unknown};
use crate::{Candidate, Dropped, Feature, Measured, ModelKind, TargetModel, Validation};

/// What was measured of each feature, and why it is not used, if it is not.
pub(crate) fn features_of(table: &Table, prepared: &Prepared) -> Vec<Feature> {
    let columns = prepared.encoder.columns();
    let used = |feature: usize| prepared.roles.iter().any(|role| role.feature == feature);
    let name = |column: usize| table.columns[columns[column].feature].name.clone();
    // Runs that were left out for it say that it may be.
    let was_empty = |feature: usize| {
        table.left_out.iter().any(|left_out| left_out.column == feature && left_out.why == Unknown::Empty)
    };
    (0..table.columns.len())
        .map(|feature| {
            let cells = || table.rows.iter().map(move |row| row.cells[feature].as_ref());
            let encoding = &prepared.encoder.features[feature];
            let reasons = || {
                let dropped = prepared.reduction.dropped.iter();
                dropped.filter(|(column, _)| columns[*column].feature == feature).map(|(_, reason)| reason)
            };
            let dropped = match encoding {
                _ if used(feature) => None,
                Encoding::Absent => Some(Dropped::Empty),
                _ => Some(match reasons().find(|reason| **reason != Reason::Constant) {
                    Some(Reason::Duplicate(column)) => Dropped::Duplicate { of: name(*column) },
                    Some(Reason::Combination(columns)) => {
                        let mut with: Vec<String> = columns.iter().map(|&column| name(column)).collect();
                        with.dedup();
                        Dropped::Collinear { with }
                    }
                    Some(Reason::Constant) | None => Dropped::Constant,
                }),
            };
            let measured = match encoding {
                Encoding::Absent => Measured::Nothing,
                Encoding::Number { .. } => {
                    let numbers = || cells().flatten().filter_map(number_of);
                    Measured::Numbers {
                        smallest: numbers().fold(f64::INFINITY, f64::min),
                        largest: numbers().fold(f64::NEG_INFINITY, f64::max),
                    }
                }
                Encoding::Category { .. } => category(table, feature),
            };
            Feature {
                name: table.columns[feature].name.clone(),
                measured,
                missing: cells().any(|cell| cell.is_none()) || was_empty(feature),
                dropped,
            }
        })
        .collect()
}

fn category(table: &Table, feature: usize) -> Measured {
    let mut levels: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in &table.rows {
        if let Some(value) = &row.cells[feature] {
            levels.entry(value.to_string()).or_default().push(row.target.ln());
        }
    }
    let means: Vec<f64> = levels.values().filter_map(|logs| mean(logs.iter().copied())).collect();
    Measured::Categories { levels: levels.into_keys().collect(), spread: spread_of_another(&means) }
}

/// Levels of a category differ by this factor, as if so many of them had been seen to.
const USUAL_FACTOR: f64 = 2.0;
const USUAL_LEVELS: f64 = 2.0;

/// How far another level may lie from the middle of the known ones, as the deviation of a normal distribution
/// that reaches as far at 95 %: a few levels hardly tell how levels differ, and their middle is not known either
/// (the predictive Student's t of a normal sample: Gelman et al., Bayesian Data Analysis, 3.2).
fn spread_of_another(means: &[f64]) -> f64 {
    let count = means.len().max(1) as f64;
    let middle = mean(means.iter().copied()).unwrap_or(0.0);
    let squares: f64 = means.iter().map(|value| (value - middle).powi(2)).sum();
    let freedom = USUAL_LEVELS + count - 1.0;
    let square = (USUAL_LEVELS * USUAL_FACTOR.ln().powi(2) + squares) / freedom;
    (square * (1.0 + 1.0 / count)).sqrt() * student_quantile(0.95, freedom) / normal_quantile(0.95)
}

/// A MAPE below this share of the winner's begs an explanation.
const CLEARLY: f64 = 0.8;
/// Why a model with a lower MAPE on the judged runs was not chosen.
const IN_SPITE: &str = ", which is lower but not what decides: a few runs flatter one model or another, so factors \
                        fitted to them, and models that level off, count for less";

/// Why the winner won, what it was judged on, and what it was then fitted on.
pub(crate) fn explain(
    candidates: &[Candidate],
    winner: usize,
    policy: Policy,
    validation: Validation,
    evidence: &Evidence,
) -> String {
    let chosen = &candidates[winner];
    let Some(scores) = &chosen.scores else { return String::new() };
    let judged = candidates.iter().filter(|candidate| candidate.scores.is_some()).count();
    let reason = match policy {
        Policy::Mae => format!("the lowest mean absolute error, {}", figure(scores.mae)),
        Policy::Wtm => {
            let upp = |candidate: &Candidate| candidate.scores.as_ref().map(|scores| scores.upp);
            let tied = candidates.iter().filter(|candidate| upp(candidate) == Some(scores.upp)).count();
            let over = scores.ov_mape.map_or("no over-prediction".to_owned(), |over| format!("{over:.1} %"));
            format!(
                "the lowest share of under-predictions, {:.1} %, and among the {tied} with that share the \
                 lowest over-prediction, {over}",
                scores.upp
            )
        }
        Policy::Cost => format!(
            "the lowest expected cost with re-execution, {:.2} times the truth reserved",
            chosen.reserved_ratio.unwrap_or(f64::NAN)
        ),
        Policy::Upp { .. } => {
            "the smallest error in proportion, where runs farther beyond what was learned from count \
             less and the ensemble, which is steadier, is preferred to a single model that is not far better"
                .to_owned()
        }
    };
    let runs = |kind: &str| counted(evidence.validation_runs, kind);
    let on = match validation {
        Validation::FullScale => runs("full-scale run"),
        Validation::FullScaleAndLargest => {
            format!("{} (full-scale and the largest scaled-down)", runs("run"))
        }
        Validation::Largest => {
            let of = runs("scaled-down run");
            let of = of.strip_prefix("1 ").map_or_else(|| of.clone(), str::to_owned);
            format!("the largest {of} (there are no full-scale runs)")
        }
        Validation::LeaveOneOut => format!("all {}, each left out in turn", runs("run")),
    };
    let own = scores.mape;
    let alternative = candidates
        .iter()
        .filter(|candidate| candidate.model != chosen.model && candidate.scores.is_some())
        .filter_map(|candidate| candidate.scores.as_ref().map(|scores| (candidate, scores)))
        .min_by(|(_, left), (_, right)| left.mape.total_cmp(&right.mape))
        .map_or(String::new(), |(candidate, scores)| {
            let flattered = if scores.mape < CLEARLY * own { IN_SPITE } else { "" };
            format!(" The lowest MAPE of another kind is {:.1} %, of {candidate}{flattered}.", scores.mape)
        });
    format!(
        "{chosen} won among {judged} candidates by policy {policy}: {reason}. Its MAPE is {:.1} %, judged on \
         {on}.{alternative} It was then fitted again on all {}.",
        scores.mape,
        evidence.runs_in_words(),
    )
}

/// So many columns are never too many.
const FEW_COLUMNS: usize = 8;

/// One sentence for disturbed runs, one for each run left out, and for rows that cannot be used.
pub(crate) fn left_out_warnings(table: &Table, prepared: &Prepared) -> Vec<String> {
    let mut warnings: Vec<String> = prepared
        .outliers
        .iter()
        .map(|outlier| {
            format!(
                "left out a run of {}: it took {:.2} times what runs like it take",
                name_of(table, &table.rows[outlier.row]),
                outlier.ratio,
            )
        })
        .collect();
    if let Some(all) = table.thinned_from {
        warnings.push(format!("of {all} runs {} taught, spread evenly over them", table.rows.len()));
    }
    for left_out in &table.left_out {
        let what = match left_out.why {
            Unknown::Empty => "empty",
            Unknown::Negative => "negative, and positive in all others",
        };
        let column = &table.columns[left_out.column].name;
        warnings.push(format!("left out {}: `{column}` is {what}", counted(left_out.rows, "run")));
    }
    let slowest = table.disturbed.iter().map(|disturbed| disturbed.slowdown).fold(0.0, f64::max);
    match table.disturbed.as_slice() {
        [] => {}
        [only] => warnings.push(format!(
            "a run of {} took {:.2} times as long as its repetition and counts as disturbed: it widens \
             the interval but does not teach",
            name_of(table, &only.row),
            slowest.exp()
        )),
        several => warnings.push(format!(
            "{} runs took up to {:.2} times as long as their repetitions and count as disturbed: they widen \
             the interval but do not teach",
            several.len(),
            slowest.exp()
        )),
    }
    for (index, column) in table.columns.iter().enumerate() {
        let empty = table.rows.iter().filter(|row| row.cells[index].is_none()).count();
        if empty > 0 && empty < table.rows.len() {
            warnings.push(format!(
                "`{}` is empty in {empty} of {} rows: these teach little of it",
                column.name,
                table.rows.len()
            ));
        }
        let cells = table.rows.iter().filter_map(|row| row.cells[index].as_ref());
        let (texts, numbers): (Vec<_>, Vec<_>) = cells.partition(|cell| matches!(cell, Value::Text(_)));
        if let Some(text) = texts.first().filter(|_| texts.len() < numbers.len()) {
            warnings.push(format!(
                "`{}` is a number in {} rows and `{text}` or another text in {}: it is taken as a name, not as a \
                 number; mend these cells or leave them empty",
                column.name,
                numbers.len(),
                texts.len()
            ));
        }
    }
    let used = features_of(table, prepared).iter().filter(|feature| feature.dropped.is_none()).count();
    if 2 * used > table.groups && used > FEW_COLUMNS {
        warnings.push(format!(
            "{used} columns are many for {} different runs: which of them matter is hardly told apart; leave out \
             those that cannot matter",
            table.groups
        ));
    }
    warnings.extend(unusable_warning(table));
    warnings
}

/// One sentence for rows whose target cannot be a measurement.
pub(crate) fn unusable_warning(table: &Table) -> Option<String> {
    (table.unusable > 0).then(|| {
        format!(
            "skipped {} whose target is not a positive number between {:e} and {:e}",
            counted(table.unusable, "row"),
            TARGETS.start(),
            TARGETS.end()
        )
    })
}

/// The cells of a row as people write them.
fn name_of(table: &Table, row: &TableRow) -> String {
    let cells = table.columns.iter().zip(&row.cells);
    let cells =
        cells.filter_map(|(column, cell)| cell.as_ref().map(|value| format!("{}={value}", column.name)));
    let known = cells.collect::<Vec<_>>().join(" ");
    if known.is_empty() { "which no parameter is known".to_owned() } else { known }
}

/// The members of an ensemble with their shares.
pub(crate) fn shares_of(members: &[(ModelKind, f64)]) -> String {
    let each = members.iter().map(|(model, weight)| format!("{:.0} % {model}", 100.0 * weight));
    each.collect::<Vec<_>>().join("; ")
}

/// What an ensemble says of itself: each member's share and its own words.
pub(crate) fn formula_of(
    members: &[(ModelKind, f64)],
    fitted: &[Pipeline],
    names: &[String],
    prepared: &Prepared,
) -> Option<String> {
    let words: Vec<Option<String>> =
        fitted.iter().map(|pipeline| pipeline.formula(names, prepared)).collect();
    if let [only] = words.as_slice() {
        return only.clone();
    }
    let mut laws: Vec<String> = Vec::new();
    let each = members.iter().zip(words).map(|((model, weight), words)| {
        let words = words.map_or(String::new(), |words| format!(": {}", without_known(&words, &mut laws)));
        format!("{:.0} % {model}{words}", 100.0 * weight)
    });
    Some(each.collect::<Vec<_>>().join("; "))
}

/// The words without a law that was told before.
fn without_known(words: &str, laws: &mut Vec<String>) -> String {
    let (law, rest) = words.split_once(MENDED).map_or((words, ""), |(law, _)| (law, &words[law.len()..]));
    if laws.iter().any(|known| known == law) {
        return format!("the same law{rest}");
    }
    laws.push(law.to_owned());
    words.to_owned()
}

/// Whether the loss that was asked for has any effect on the models chosen.
pub(crate) fn loss_warning(loss: Loss, members: &[(ModelKind, f64)]) -> Option<String> {
    if loss == Loss::Symmetric || members.iter().any(|(model, _)| model.knows_losses()) {
        return None;
    }
    let names: Vec<&str> = members.iter().map(|(model, _)| model.name()).collect();
    Some(format!(
        "the loss {loss} reaches none of the models chosen ({}): it is for linear, neural and boosted ones",
        names.join(", ")
    ))
}

/// Whether killed runs of configurations that finished, too, say that the model predicts too little.
pub(crate) fn censored_warning(model: &TargetModel, dataset: &Dataset, table: &Table) -> Option<String> {
    let mut worst: Option<(f64, f64)> = None;
    let mut below = 0;
    for &index in &table.censored {
        let row = &dataset.rows[index];
        let bound = row.observed.value();
        let Ok(prediction) = model.predict(&case_of(&dataset.columns, row)) else { continue };
        if prediction.estimate < bound {
            below += 1;
            let ratio = |(estimate, bound): (f64, f64)| bound / estimate;
            if worst.is_none_or(|worst| ratio((prediction.estimate, bound)) > ratio(worst)) {
                worst = Some((prediction.estimate, bound));
            }
        }
    }
    let (estimate, bound) = worst?;
    Some(format!(
        "{below} of {} killed at a limit needed more than the model predicts for them, for example {} \
         predicted and at least {} needed: predictions near them are too low",
        counted(table.censored.len(), "run"),
        quantity(&model.target, estimate),
        quantity(&model.target, bound),
    ))
}

/// What to run when there is too little.
pub(crate) fn what_to_run(table: &Table, needed: usize) -> String {
    let distinct = |column: usize| {
        let mut values: Vec<&Value> =
            table.rows.iter().filter_map(|row| row.cells[column].as_ref()).collect();
        values.sort_by(|left, right| left.compare(right));
        values.dedup();
        values.len()
    };
    let mut columns: Vec<(usize, usize)> =
        (0..table.columns.len()).map(|column| (distinct(column), column)).collect();
    columns.sort();
    let names: Vec<String> =
        columns.iter().take(3).map(|&(_, column)| format!("`{}`", table.columns[column].name)).collect();
    let more = needed.saturating_sub(table.groups);
    let vary = if names.is_empty() {
        "with parameters that vary".to_owned()
    } else {
        format!("that vary {}", names.join(", "))
    };
    format!("run at least {more} more scaled-down configurations {vary}")
}

pub(crate) fn quantity(target: &Target, value: f64) -> String {
    match target {
        Target::Walltime | Target::CpuTime => harp_core::Seconds(value).to_string(),
        Target::PeakMemory => harp_core::Bytes(value.max(0.0) as u64).to_string(),
        Target::Metric(_) => figure(value),
    }
}

fn figure(value: f64) -> String {
    if (0.01..100_000.0).contains(&value) { format!("{value:.3}") } else { format!("{value:.3e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_is_told_once() {
        let mut laws = Vec::new();
        let mut told = |words: &str| without_known(words, &mut laws);
        let mended = format!("T ≈ 2 · n^1.5{MENDED}importances: n 100 %");
        assert_eq!(told(&mended), mended);
        assert_eq!(told("T ≈ 2 · n^1.5"), "the same law");
        assert_eq!(told("T ≈ 3 · n^1.5"), "T ≈ 3 · n^1.5");
        assert_eq!(told(&mended), format!("the same law{MENDED}importances: n 100 %"));
    }
}
