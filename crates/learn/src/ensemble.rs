//! Several models speaking together: the weighted mean of their logarithms, after each has been
//! drawn to within a factor of the median of the others, so that one wild extrapolation cannot win.

use serde::{Deserialize, Serialize};

use crate::ModelKind;
use crate::pipeline::Pipeline;
use crate::statistics::median;
use crate::validate::{Judged, Outcome, Verdict};

/// A member may leave the median of the others by this much, in logarithms.
const LEASH: f64 = 0.5;
/// Most members.
const MOST: usize = 3;
/// Members whose error is more than this times the lowest do not enter.
const WORST: f64 = 1.6;
/// Members weigh as this power of their error.
const POWER: f64 = -3.0;

/// A model and its share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Member {
    pub weight: f64,
    pub pipeline: Pipeline,
}

/// What members that say this, with these weights, say together.
pub(crate) fn together(said: &[(f64, f64)]) -> f64 {
    if let [(_, only)] = said {
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
        for model in ModelKind::ALL {
            let judged = verdicts.iter().filter(|verdict| verdict.model == model);
            let judged = judged.filter_map(|verdict| Some((verdict, verdict.outcome.as_ref().ok()?)));
            let Some((verdict, outcome)) = judged.max_by_key(|(verdict, _)| verdict.mix) else { continue };
            if let Some(error) = error(&outcome.judged) {
                best.push((verdict, outcome, error));
            }
        }
        best.sort_by(|left, right| left.2.total_cmp(&right.2));
        let lowest = best.first()?.2.max(1e-6);
        let rows = best.first()?.1.judged.len();
        best.retain(|(_, outcome, error)| *error <= WORST * lowest && outcome.judged.len() == rows);
        best.truncate(MOST);
        if best.len() < 2 {
            return None;
        }
        let weights: Vec<f64> = best.iter().map(|(_, _, error)| error.max(1e-6).powf(POWER)).collect();
        let total: f64 = weights.iter().sum();
        let judged = (0..rows)
            .map(|row| {
                let said: Vec<(f64, f64)> = best
                    .iter()
                    .zip(&weights)
                    .map(|((_, outcome, _), weight)| (*weight, outcome.judged[row].predicted))
                    .collect();
                Judged { predicted: together(&said), ..best[0].1.judged[row] }
            })
            .collect();
        let members =
            best.iter().zip(&weights).map(|((verdict, _, _), weight)| (verdict.model, weight / total));
        Some(Ensemble {
            members: members.collect(),
            verdict: Verdict {
                model: ModelKind::Ensemble,
                mix: best[0].0.mix.max(best[1].0.mix),
                outcome: Ok(Outcome {
                    judged,
                    parameters: best.iter().map(|(_, outcome, _)| outcome.parameters).sum(),
                }),
            },
        })
    }
}

/// Mean distance of the logarithms, each brought to distance 0.
pub(crate) fn error(judged: &[Judged]) -> Option<f64> {
    crate::statistics::mean(judged.iter().map(|said| said.residual().abs())).filter(|error| error.is_finite())
}
