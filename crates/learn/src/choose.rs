//! The table of candidates with their scores, and the winner under a policy.

use harp_core::{Policy, Reexecution, Scores};

use crate::ensemble::{Spoken, error};
use crate::validate::{Judged, Outcome, Verdict, configurations};
use crate::{Adjustment, AdjustmentKind, Candidate, Mix, ModelKind, Reexecuted};

/// Models compete for the lowest cost whose own error is at most this times the lowest.
const CREDIBLE: f64 = 1.25;
/// A single model must be this much better than the ensemble, which is steadier.
const ALONE: f64 = 1.3;
/// What fewer runs than this cost with one model or another is luck: none is then chosen alone for its cost.
const FEW: usize = 20;
/// Factors tried for the lowest cost.
const MOST_FACTORS: usize = 400;
/// Predictions are scored up to here, so that their squares are numbers.
const LARGEST: f64 = 1e140;

/// The table, and beside each row what the model said (`None` when excluded).
pub(crate) struct Table<'a> {
    pub candidates: Vec<Candidate>,
    pub outcomes: Vec<Option<&'a Outcome>>,
}

/// Scores every verdict under every adjustment.
pub(crate) fn tabulate<'a>(
    verdicts: impl Iterator<Item = &'a Verdict>,
    reexecution: Reexecution,
) -> Table<'a> {
    let mut table = Table { candidates: Vec::new(), outcomes: Vec::new() };
    for verdict in verdicts {
        let row = |kind, factor| Candidate {
            model: verdict.model,
            mix: verdict.mix,
            adjustment: Adjustment { kind, factor },
            parameters: 0,
            scores: None,
            reserved_ratio: None,
            reexecution: None,
            formula: None,
            excluded: None,
        };
        let outcome = match &verdict.outcome {
            Ok(outcome) if !outcome.judged.is_empty() => outcome,
            Ok(_) => {
                table.push(
                    Candidate {
                        excluded: Some("there is no run to judge it on".to_owned()),
                        ..row(AdjustmentKind::None, 1.0)
                    },
                    None,
                );
                continue;
            }
            Err(reason) => {
                table.push(
                    Candidate { excluded: Some(reason.clone()), ..row(AdjustmentKind::None, 1.0) },
                    None,
                );
                continue;
            }
        };
        let reserved_ratio = best_reserved_ratio(&outcome.judged, reexecution);
        for kind in AdjustmentKind::ALL {
            let factor = factor(kind, &outcome.judged);
            let judged = outcome.judged.iter();
            let pairs: Vec<(f64, f64)> =
                judged.map(|said| ((said.predicted * factor).min(LARGEST), said.actual)).collect();
            let candidate = Candidate {
                parameters: outcome.parameters,
                scores: Scores::of(&pairs),
                reserved_ratio: Some(reserved_ratio),
                reexecution: Reexecuted::of(&pairs, reexecution),
                ..row(kind, factor)
            };
            table.push(candidate, Some(outcome));
        }
    }
    table
}

impl<'a> Table<'a> {
    fn push(&mut self, candidate: Candidate, outcome: Option<&'a Outcome>) {
        self.candidates.push(candidate);
        self.outcomes.push(outcome);
    }

    /// The winner under a policy; among equals the first of the table.
    pub(crate) fn winner(&self, policy: Policy) -> Option<usize> {
        let key = |index: &usize| -> [f64; 3] {
            let candidate = &self.candidates[*index];
            let scores = candidate.scores.as_ref();
            let of = |value: Option<f64>| value.unwrap_or(f64::INFINITY);
            let mae = of(scores.map(|scores| scores.mae));
            let few = self.outcomes[*index].is_some_and(|outcome| configurations(&outcome.judged) < FEW);
            let alone = match (candidate.model, policy) {
                (ModelKind::Ensemble, _) => 1.0,
                (_, Policy::Cost) if few => FEW as f64,
                _ => ALONE,
            };
            match policy {
                Policy::Mae => [mae, 0.0, 0.0],
                // Without any over-prediction there is no over-prediction to be worse at.
                Policy::Wtm => {
                    [of(scores.map(|scores| scores.upp)), of(scores.map(|s| s.ov_mape.unwrap_or(0.0))), mae]
                }
                Policy::Cost => [alone * of(candidate.reserved_ratio), mae, 0.0],
                Policy::Upp { .. } => [alone * of(self.error(candidate.model)), mae, 0.0],
            }
        };
        // What levels off beyond the largest run does not go alone where it need not.
        let together = self.error(ModelKind::Ensemble).is_some();
        let suits = |model: ModelKind| model.extrapolates() || !together;
        let errors = ModelKind::ALL.into_iter().filter(|&model| suits(model));
        let lowest = errors.filter_map(|model| self.error(model)).fold(f64::INFINITY, f64::min);
        let admitted = |index: &usize| {
            let candidate = &self.candidates[*index];
            let admitted = match policy {
                Policy::Mae | Policy::Wtm => true,
                // The factor that cost is judged with hides a constant bias; that is only fair for
                // the mix closest to what the winner is fitted on in the end, and for models that are
                // not clearly worse without it.
                Policy::Cost | Policy::Upp { .. } => {
                    suits(candidate.model)
                        && candidate.adjustment.kind == AdjustmentKind::None
                        && Some(candidate.mix) == self.largest_mix(candidate.model)
                        && self.error(candidate.model).is_some_and(|error| error <= CREDIBLE * lowest)
                }
            };
            candidate.scores.is_some() && admitted
        };
        (0..self.candidates.len()).filter(admitted).min_by(|left, right| {
            let pairs = key(left).into_iter().zip(key(right));
            pairs.map(|(l, r)| l.total_cmp(&r)).find(|order| order.is_ne()).unwrap_or(left.cmp(right))
        })
    }
}

impl<'a> Table<'a> {
    /// The judged mix of a model with most full-scale runs in it.
    fn largest_mix(&self, model: ModelKind) -> Option<Mix> {
        let judged = self.candidates.iter().filter(|other| other.model == model && other.scores.is_some());
        judged.map(|candidate| candidate.mix).max()
    }

    /// How far a model is off before any factor, when it has learned from most full-scale runs.
    fn error(&self, model: ModelKind) -> Option<f64> {
        let most = Spoken::most(self.outcomes.iter().copied().flatten());
        error(model, self.nearest_to_shipped(model)?, most)
    }

    /// What a model said when it had learned from most full-scale runs.
    pub(crate) fn nearest_to_shipped(&self, model: ModelKind) -> Option<&'a Outcome> {
        let mix = self.largest_mix(model)?;
        let same = |candidate: &Candidate| candidate.model == model && candidate.mix == mix;
        let mut both = self.candidates.iter().zip(&self.outcomes);
        both.find_map(|(candidate, outcome)| if same(candidate) { *outcome } else { None })
    }
}

/// What predictions are multiplied by.
fn factor(kind: AdjustmentKind, judged: &[Judged]) -> f64 {
    match kind {
        AdjustmentKind::None => 1.0,
        AdjustmentKind::Study => {
            let pairs: Vec<(f64, f64)> = judged.iter().map(|said| (said.predicted, said.actual)).collect();
            1.0 + Scores::of(&pairs).and_then(|scores| scores.up_mape).unwrap_or(0.0) / 100.0
        }
    }
}

/// The mean of reserved/actual with the best single factor; factors that just cover a run suffice.
fn best_reserved_ratio(judged: &[Judged], reexecution: Reexecution) -> f64 {
    let mut factors: Vec<f64> =
        judged.iter().map(|said| said.actual / said.predicted * (1.0 + 1e-12)).collect();
    factors.sort_by(f64::total_cmp);
    // Many runs hold many factors that differ by nothing.
    let step = factors.len().div_ceil(MOST_FACTORS).max(1);
    let factors = factors.into_iter().rev().step_by(step);
    factors.map(|factor| mean_reserved_ratio(judged, factor, reexecution)).fold(1e300, f64::min)
}

fn mean_reserved_ratio(judged: &[Judged], factor: f64, reexecution: Reexecution) -> f64 {
    let ratio = |said: &Judged| reserved(reexecution, factor * said.predicted, said.actual) / said.actual;
    (judged.iter().map(ratio).sum::<f64>() / judged.len() as f64).min(1e300)
}

/// The request for which least is reserved, as a multiple of the truth, when the truth is one of these,
/// all equally likely, lowest first; of those that cost at most `indifference` more than the cheapest, the
/// largest. A multiple: the mean of what is reserved itself hangs on the farthest tail.
pub(crate) fn cheapest_request(truths: &[f64], reexecution: Reexecution, indifference: f64) -> f64 {
    let (mut least, mut cheap) = (f64::INFINITY, Vec::new());
    for &request in truths {
        let most = least * (1.0 + indifference);
        let mut cost = 0.0;
        for &truth in truths {
            cost += reserved(reexecution, request, truth) / truth;
            if cost > most {
                break;
            }
        }
        if cost <= most {
            least = least.min(cost);
            cheap.push((request, cost));
        }
    }
    let most = least * (1.0 + indifference);
    cheap.iter().rev().find(|(_, cost)| *cost <= most).map_or(f64::NAN, |(request, _)| *request)
}

/// As [`Reexecution::reserved`], bounded when the first request is tiny.
fn reserved(reexecution: Reexecution, first: f64, actual: f64) -> f64 {
    reexecution.reserved(first.max(actual * 1e-6), actual)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One truth in sixty-four beyond all measure must not decide what is asked for.
    #[test]
    fn the_farthest_tail_does_not_decide() {
        let mut truths: Vec<f64> = (1..64).map(|index| 10.0 + f64::from(index) / 64.0).collect();
        truths.push(1e9);
        let request = cheapest_request(&truths, Reexecution::default(), 0.0);
        assert!(request < 11.0, "{request}");
    }

    /// Against every request tried by itself.
    #[test]
    fn of_requests_that_cost_about_the_same_the_largest_is_made() {
        let truths: Vec<f64> = (0..64).map(|index| 10.0 * (f64::from(index) / 32.0).exp()).collect();
        let reexecution = Reexecution::default();
        let cost = |request: f64| {
            truths.iter().map(|&truth| reexecution.reserved(request, truth) / truth).sum::<f64>()
        };
        let least = truths.iter().map(|&request| cost(request)).fold(f64::INFINITY, f64::min);
        let mut before = 0.0;
        for indifference in [0.0, 0.02, 0.05, 0.2] {
            let cheap = truths.iter().filter(|&&request| cost(request) <= least * (1.0 + indifference));
            let found = cheapest_request(&truths, reexecution, indifference);
            assert_eq!(cheap.copied().fold(0.0, f64::max), found);
            assert!(found >= before);
            before = found;
        }
        assert!(before > cheapest_request(&truths, reexecution, 0.0));
    }
}
