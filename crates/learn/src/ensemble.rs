//! Several models speaking together: the weighted mean of their logarithms, after each has been
//! drawn to within a factor of the median of the others, so that one wild extrapolation cannot win.

use serde::{Deserialize, Serialize};

use crate::ModelKind;
use crate::pipeline::Pipeline;
use crate::statistics::median;
use crate::validate::{Judged, Outcome, Verdict, fullest};

/// A member may leave the median of the others by this much, in logarithms.
const LEASH: f64 = 0.3;
/// Most members.
const MOST: usize = 5;
/// Members whose error is more than this times the lowest do not enter.
const WORST: f64 = 2.0;
/// Models that level off beyond the largest run count as if their error were this times as large.
const LEVELS_OFF: f64 = 1.25;
/// The share of the error among scaled-down runs, where a few full-scale ones hardly tell models apart.
const INSIDE: f64 = 0.75;
/// The same where the largest scaled-down runs judge, too, beside one to three full-scale ones or alone:
/// there are only two or three ways to hold the largest out.
const INSIDE_OF_FEW: f64 = 0.25;
const INSIDE_OF_NONE: f64 = 0.5;
/// Where full-scale runs alone judge, models other than a smooth function over a law count as if their
/// error were this times as large: that sweeps are smooth is known beforehand.
const NOT_SMOOTH: f64 = 1.25;
/// Members weigh as this power of their error.
const POWER: f64 = -3.0;

/// A model and its share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Member {
    pub weight: f64,
    pub pipeline: Pipeline,
}

/// What one member says of a case.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Said {
    pub weight: f64,
    pub value: f64,
    /// Whether the member goes on growing beyond the largest run.
    pub extrapolates: bool,
}

/// What members say together. Beyond the measured range those that level off there are not heard, if
/// there are others: they are right about larger runs only by luck.
pub(crate) fn together(said: &[Said], beyond: bool) -> f64 {
    let heard = |said: &&Said| !beyond || said.extrapolates;
    let some = said.iter().filter(heard).count();
    let said: Vec<(f64, f64)> =
        said.iter().filter(|said| some == 0 || heard(said)).map(|said| (said.weight, said.value)).collect();
    if let [(_, only)] = said.as_slice() {
        return *only;
    }
    let logarithms: Vec<f64> = said.iter().map(|(_, value)| value.ln()).collect();
    let (mut sum, mut total) = (0.0, 0.0);
    for (index, (weight, _)) in said.iter().enumerate() {
        let others = logarithms.iter().enumerate().filter(|(other, _)| *other != index);
        let middle =
            median(&mut others.map(|(_, value)| *value).collect::<Vec<_>>()).unwrap_or(logarithms[index]);
        sum += weight * logarithms[index].clamp(middle - LEASH, middle + LEASH);
        total += weight;
    }
    (sum / total).exp()
}

/// The ensemble of the best judged models: which verdicts enter, with what weight, and what it said.
pub(crate) struct Ensemble {
    /// Model and weight, the heaviest first.
    pub members: Vec<(ModelKind, f64)>,
    pub verdict: Verdict,
}

impl Ensemble {
    /// Put together from verdicts on the same runs; `None` unless at least two models were judged.
    pub(crate) fn of(verdicts: &[Verdict]) -> Option<Ensemble> {
        let mut best: Vec<(&Verdict, &Outcome, f64)> = Vec::new();
        let most = Spoken::most(verdicts.iter().filter_map(|verdict| verdict.outcome.as_ref().ok()));
        for model in ModelKind::ALL {
            let Some((verdict, outcome)) = fullest(verdicts, model) else { continue };
            if let Some(error) = error(model, outcome, most) {
                best.push((verdict, outcome, error));
            }
        }
        best.sort_by(|left, right| left.2.total_cmp(&right.2));
        let lowest = best.first()?.2.max(1e-6);
        let rows = best.first()?.1.judged.len();
        best.retain(|(_, outcome, _)| outcome.judged.len() == rows);
        let law = best.iter().position(|(verdict, _, _)| verdict.model.extrapolates());
        let law = law.map(|index| best[index]);
        best.retain(|(_, _, error)| *error <= WORST * lowest);
        best.truncate(MOST);
        // Someone must speak beyond the measured range.
        if !best.iter().any(|(verdict, _, _)| verdict.model.extrapolates()) {
            best.extend(law);
        }
        if best.len() < 2 {
            return None;
        }
        let weights: Vec<f64> = best.iter().map(|(_, _, error)| error.max(1e-6).powf(POWER)).collect();
        let total: f64 = weights.iter().sum();
        let spoken = |of: &[Judged], said_by: &dyn Fn(&Outcome, usize) -> Option<f64>| -> Vec<Judged> {
            of.iter()
                .enumerate()
                .map(|(index, judged)| {
                    let said = best.iter().zip(&weights).filter_map(|((verdict, outcome, _), weight)| {
                        let extrapolates = verdict.model.extrapolates();
                        Some(Said { weight: *weight, value: said_by(outcome, index)?, extrapolates })
                    });
                    let said: Vec<Said> = said.collect();
                    Judged { predicted: together(&said, judged.spans > 0.0), ..*judged }
                })
                .collect()
        };
        let judged = spoken(&best[0].1.judged, &|outcome, index| Some(outcome.judged[index].predicted));
        // As many, and nearly always the same.
        let most = &best[0].1.inside;
        let inside = spoken(most, &|outcome, index| {
            let said = outcome.inside.get(index).filter(|said| said.row == most[index].row)?;
            Some(said.predicted)
        });
        let members =
            best.iter().zip(&weights).map(|((verdict, _, _), weight)| (verdict.model, weight / total));
        Some(Ensemble {
            members: members.collect(),
            verdict: Verdict {
                model: ModelKind::Ensemble,
                mix: best[0].0.mix.max(best[1].0.mix),
                outcome: Ok(Outcome {
                    judged,
                    inside,
                    beaten: false,
                    parameters: best.iter().map(|(_, outcome, _)| outcome.parameters).sum(),
                }),
            },
        })
    }
}

/// Of how many runs models spoke.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spoken {
    judged: usize,
    inside: usize,
}

impl Spoken {
    /// Those that spoke of most.
    pub(crate) fn most<'a>(outcomes: impl Iterator<Item = &'a Outcome>) -> Spoken {
        outcomes.fold(Spoken::default(), |most, outcome| Spoken {
            judged: most.judged.max(outcome.judged.len()),
            inside: most.inside.max(outcome.inside.len()),
        })
    }
}

/// How far a model is off: the mean distance of the logarithms, each brought to distance 0. A few
/// full-scale runs hardly tell models apart; there its error among the scaled-down ones counts, too, and
/// more than theirs where full-scale runs alone judge.
/// What levels off beyond the largest run counts as worse, as larger runs still are what it is for.
/// `None` if it did not speak of as many runs as others, as it cannot be fitted on fewer: its error is not to be
/// held against theirs.
pub(crate) fn error(model: ModelKind, outcome: &Outcome, most: Spoken) -> Option<f64> {
    if outcome.inside.len() < most.inside || outcome.judged.len() < most.judged {
        return None;
    }
    let handicap = if model.extrapolates() { 1.0 } else { LEVELS_OFF };
    let distance = |judged: &[Judged]| {
        let total: f64 = judged.iter().map(|said| said.weight).sum();
        judged.iter().map(|said| said.weight * said.residual().abs()).sum::<f64>() / total
    };
    let error = match outcome.inside.as_slice() {
        [] => distance(&outcome.judged),
        inside => {
            let largest = outcome.judged.iter().any(|said| !said.full_scale);
            let full_scale = outcome.judged.iter().any(|said| said.full_scale);
            let share = match (full_scale, largest) {
                (true, false) => INSIDE,
                (true, true) => INSIDE_OF_FEW,
                (false, _) => INSIDE_OF_NONE,
            };
            let belief = if largest || model.smooth_over_a_law() { 1.0 } else { NOT_SMOOTH };
            belief * ((1.0 - share) * distance(&outcome.judged) + share * distance(inside))
        }
    };
    Some(handicap * error).filter(|error| error.is_finite() && !outcome.beaten)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mix;

    /// A model this far off on seven full-scale runs and on so many scaled-down ones.
    fn verdict(model: ModelKind, off: f64, inside: usize) -> Verdict {
        let said = |row: usize, full_scale: bool| Judged {
            row,
            group: row,
            predicted: 10.0 * off.exp(),
            actual: 10.0,
            full_scale,
            spans: 0.0,
            weight: 1.0,
        };
        let judged = (0..7).map(|row| said(row, true)).collect();
        let inside = (7..7 + inside).map(|row| said(row, false)).collect();
        let outcome = Outcome { judged, inside, ..Outcome::default() };
        Verdict { model, mix: Mix::EVERYTHING, outcome: Ok(outcome) }
    }

    #[test]
    fn a_model_that_spoke_of_few_runs_shuts_out_none() {
        let flattered = verdict(ModelKind::CurvesProcess, 0.01, 0);
        let others = [verdict(ModelKind::PowerLaw, 0.10, 50), verdict(ModelKind::TrendProcess, 0.12, 50)];
        let verdicts: Vec<Verdict> = [flattered].into_iter().chain(others).collect();
        let members = Ensemble::of(&verdicts).map(|ensemble| ensemble.members).unwrap_or_default();
        let models: Vec<ModelKind> = members.iter().map(|(model, _)| *model).collect();
        assert_eq!(models, [ModelKind::TrendProcess, ModelKind::PowerLaw]);
    }
}
