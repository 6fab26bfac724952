//! What an error costs while a model is trained: how much it counts, and which way it pulls.

use harp_core::{Loss, Reexecution};

/// A loss with its numbers known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Penalty {
    /// Squared errors.
    Squares,
    /// Squared errors, those below the truth this many times.
    Weighted { below: f64 },
    /// The quantile at a level.
    Quantile { level: f64 },
}

impl Penalty {
    pub(crate) fn of(loss: Loss, reexecution: Reexecution) -> Penalty {
        match loss {
            Loss::Symmetric => Penalty::Squares,
            Loss::Pinball { level } => Penalty::Quantile { level },
            Loss::Asymmetric { weight } => {
                Penalty::Weighted { below: weight.unwrap_or_else(|| reexecution.price_of_being_killed()) }
            }
        }
    }

    /// How much a squared residual (truth − said) counts so that least squares with these weights,
    /// found again and again, minimises the loss. Residuals within `smallest` of a quantile count as
    /// that far from it.
    pub(super) fn weight(self, residual: f64, smallest: f64) -> f64 {
        match self {
            Penalty::Squares => 1.0,
            Penalty::Weighted { below } => {
                if residual > 0.0 {
                    below
                } else {
                    1.0
                }
            }
            Penalty::Quantile { level } => {
                (if residual > 0.0 { level } else { 1.0 - level }) / residual.abs().max(smallest)
            }
        }
    }

    /// Minus half the slope of the loss with what is said: the residual itself for squares. Near a
    /// quantile the slope is rounded off over `smallest`.
    pub(super) fn pull(self, residual: f64, smallest: f64) -> f64 {
        residual * self.weight(residual, smallest)
    }

    /// The number closest to some residuals, each with a weight, under this loss.
    pub(super) fn centre(self, residuals: &mut [(f64, f64)]) -> f64 {
        let total: f64 = residuals.iter().map(|(_, weight)| weight).sum();
        match self {
            Penalty::Squares => residuals.iter().map(|(value, weight)| value * weight).sum::<f64>() / total,
            Penalty::Weighted { .. } => {
                let mut centre = residuals.iter().map(|(value, weight)| value * weight).sum::<f64>() / total;
                for _ in 0..20 {
                    let (mut sum, mut weights) = (0.0, 0.0);
                    for (value, weight) in residuals.iter() {
                        let weight = weight * self.weight(value - centre, 0.0);
                        sum += weight * value;
                        weights += weight;
                    }
                    centre = sum / weights;
                }
                centre
            }
            Penalty::Quantile { level } => {
                residuals.sort_by(|left, right| left.0.total_cmp(&right.0));
                let mut below = 0.0;
                for (value, weight) in residuals.iter() {
                    below += weight;
                    if below >= level * total {
                        return *value;
                    }
                }
                residuals.last().map_or(0.0, |(value, _)| *value)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cost(penalty: Penalty, said: f64, truths: &[(f64, f64)]) -> f64 {
        let one = |truth: f64| {
            let residual = truth - said;
            match penalty {
                Penalty::Squares => residual * residual,
                Penalty::Weighted { below } => residual * residual * if residual > 0.0 { below } else { 1.0 },
                Penalty::Quantile { level } => (level * residual).max((level - 1.0) * residual),
            }
        };
        truths.iter().map(|(truth, weight)| weight * one(*truth)).sum()
    }

    proptest! {
        /// No number near the centre, nor any of the values, costs less.
        #[test]
        fn the_centre_costs_least(
            mut values in prop::collection::vec((-5.0..5.0f64, 0.5..3.0f64), 1..12),
            level in 0.05..0.95f64,
            below in 0.2..9.0f64,
        ) {
            for penalty in [Penalty::Squares, Penalty::Weighted { below }, Penalty::Quantile { level }] {
                let centre = penalty.centre(&mut values);
                let least = cost(penalty, centre, &values);
                let others = values.iter().map(|(value, _)| *value).chain([centre - 1e-3, centre + 1e-3]);
                for other in others {
                    prop_assert!(least <= cost(penalty, other, &values) + 1e-6, "{penalty:?} {centre} {other}");
                }
            }
        }
    }
}
