//! The order of the runs: scale after scale or all scales mixed, shuffled, repetitions far apart.
//!
//! Machines drift: they warm up, neighbours come and go. If the repetitions of a configuration ran
//! back to back, drift would look like a difference between configurations. So every configuration
//! runs once before any runs again, in an order that is shuffled anew for each round. Between scales
//! the same holds: mixed, a slow quarter of an hour is shared by small runs and large ones.

use std::collections::BTreeMap;

use harp_core::{Configuration, Scale};

use super::Surroundings;
use super::chance::Chance;
use crate::{Diagnostic, Experiment, Order, PlannedRun, Severity};

/// The runs of an experiment in their order, and what is worth knowing about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The runs.
    pub runs: Vec<PlannedRun>,
    /// Remarks for the person who asked.
    pub notes: Vec<String>,
}

/// More runs than this are a mistake: nobody does as many.
const MOST_RUNS: usize = 500_000;
/// The stream of chance for orders, apart from those of designs.
const ORDER: u64 = 3;
/// The stream of all scales together, after those of each.
const ALL_SCALES: u64 = 15;

impl Experiment {
    /// The runs of some scales, `experiment.scales()` for all; scale after scale in the order given,
    /// unless they are to be mixed.
    pub fn plan(&self, scales: &[Scale], known: &Surroundings<'_>) -> Result<Plan, Diagnostic> {
        let mut runs = Vec::new();
        let mut mixed: Vec<(Configuration, u32)> = Vec::new();
        let mut notes = Vec::new();
        let mut trained: BTreeMap<String, Scale> = BTreeMap::new();
        for scale in scales {
            let Some(design) = self.designs.get(scale) else { continue };
            let configurations = self.configurations(*scale, known)?;
            if let Some(asked) = design.runs.filter(|asked| configurations.len() < *asked as usize) {
                notes.push(format!(
                    "{scale}: {} combinations, fewer than the {asked} asked for",
                    configurations.len()
                ));
            }
            notes.extend(leaks(*scale, &configurations, &mut trained));
            let total = configurations.len().saturating_mul(design.repetitions as usize);
            let before =
                runs.len() + mixed.iter().map(|(_, repetitions)| *repetitions as usize).sum::<usize>();
            if before.saturating_add(total) > MOST_RUNS {
                let message = format!("there are {total} runs at scale `{scale}`");
                let hint = "vary less, or lower `repetitions`";
                return Err(self.report(Severity::Error, design.position, message, hint));
            }
            let repeated = configurations.into_iter().map(|one| (one, design.repetitions));
            match self.schedule.order {
                Order::ByScale => runs.extend(self.in_order(repeated.collect(), *scale as u64)),
                Order::Mixed => mixed.extend(repeated),
            }
        }
        runs.extend(self.in_order(mixed, ALL_SCALES));
        Ok(Plan { runs, notes })
    }

    /// The runs of configurations, each with its repetitions.
    fn in_order(&self, configurations: Vec<(Configuration, u32)>, stream: u64) -> Vec<PlannedRun> {
        let mut chance = Chance::new(self.schedule.seed, ORDER * 16 + stream);
        let most = configurations.iter().map(|(_, repetitions)| *repetitions).max().unwrap_or(0);
        let planned = |(repetition, round): (u32, Vec<usize>)| {
            let chosen = round.into_iter().filter_map(|index| configurations.get(index));
            let asked = chosen.filter(move |(_, repetitions)| repetition < *repetitions);
            asked.map(move |(one, _)| PlannedRun { configuration: one.clone(), repetition })
        };
        rounds(configurations.len(), most, &mut chance).into_iter().flat_map(planned).collect()
    }
}

/// A remark if cases to be predicted are learned from at another scale.
fn leaks(
    scale: Scale,
    configurations: &[Configuration],
    trained: &mut BTreeMap<String, Scale>,
) -> Option<String> {
    let name = |configuration: &Configuration| {
        format!("{:?} {:?}", configuration.parameters, configuration.allocation)
    };
    if scale != Scale::Test {
        trained.extend(configurations.iter().map(|configuration| (name(configuration), scale)));
        return None;
    }
    let seen: Vec<Scale> = configurations.iter().filter_map(|one| trained.get(&name(one)).copied()).collect();
    let first = seen.first()?;
    Some(format!(
        "test: {} of {} cases are also run at scale {first}, so predicting them proves little",
        seen.len(),
        configurations.len()
    ))
}

/// For each repetition the order of the configurations. A configuration stays in its half of the
/// round, so that at least half a round lies between two of its runs.
fn rounds(count: usize, repetitions: u32, chance: &mut Chance) -> Vec<(u32, Vec<usize>)> {
    let mut order: Vec<usize> = (0..count).collect();
    chance.shuffle(&mut order);
    (0..repetitions)
        .map(|repetition| {
            if repetition > 0 {
                let (first, second) = order.split_at_mut(count / 2);
                chance.shuffle(first);
                chance.shuffle(second);
            }
            (repetition, order.clone())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn repetitions_are_half_a_round_apart(count in 1usize..40, repetitions in 1u32..6, seed in any::<u64>()) {
            let rounds = rounds(count, repetitions, &mut Chance::new(seed, 0));
            let flat: Vec<usize> = rounds.iter().flat_map(|(_, order)| order.clone()).collect();
            prop_assert_eq!(flat.len(), count * repetitions as usize);
            for index in 0..count {
                let places: Vec<usize> = (0..flat.len()).filter(|place| flat[*place] == index).collect();
                prop_assert_eq!(places.len(), repetitions as usize);
                prop_assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= count.div_ceil(2)));
            }
        }
    }
}
