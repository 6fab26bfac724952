//! The four methods: which combinations are taken, none twice, none that a constraint excludes.

use std::collections::BTreeSet;

use harp_core::{Configuration, Scale, Value};

use super::budget::Purse;
use super::chance::Chance;
use super::sobol::Sobol;
use super::space::{Space, grid_point};
use super::{Surroundings, latin};
use crate::{Design, Diagnostic, Experiment, Method};

/// More combinations than this are not gone through one by one.
const LARGEST_GRID: u64 = 200_000;
/// How many runs a budget alone can ask for.
const MOST_RUNS: usize = 10_000;

/// The streams of chance, apart from each other.
const SHUFFLE: u64 = 1;
const DRAW: u64 = 2;

pub(super) fn choose(
    experiment: &Experiment,
    scale: Scale,
    known: &Surroundings<'_>,
) -> Result<Vec<Configuration>, Diagnostic> {
    let Some(design) = experiment.designs.get(&scale) else { return Ok(Vec::new()) };
    let chooser = Chooser { experiment, design, scale, known, space: Space::new(experiment, scale, known) };
    chooser.choose()
}

struct Chooser<'a> {
    experiment: &'a Experiment,
    design: &'a Design,
    scale: Scale,
    known: &'a Surroundings<'a>,
    space: Space<'a>,
}

impl Chooser<'_> {
    fn chance(&self, stream: u64) -> Chance {
        Chance::new(self.experiment.schedule.seed, stream * 16 + self.scale as u64)
    }

    fn purse(&self) -> Purse<'_> {
        Purse::new(self.design, self.known)
    }

    fn choose(&self) -> Result<Vec<Configuration>, Diagnostic> {
        let limit = self.design.runs.map_or(MOST_RUNS, |runs| runs as usize);
        let few = self.space.size().is_some_and(|size| size <= (limit as u64).min(LARGEST_GRID));
        let chosen = match self.design.method {
            Method::Grid => self.grid()?,
            _ if few => self.every()?,
            Method::LatinHypercube if self.purse().is_limited() => self.latin_within_budget(limit)?,
            Method::LatinHypercube => self.drawn(limit)?,
            Method::Random | Method::Sobol => self.affordable(self.drawn(limit)?)?,
        };
        if chosen.is_empty() { Err(self.space.nothing_left()) } else { Ok(chosen) }
    }

    /// Every combination the constraints leave, or as many of them by chance as asked for and paid for.
    fn grid(&self) -> Result<Vec<Configuration>, Diagnostic> {
        let size = self.space.grid_size();
        if size > LARGEST_GRID {
            let message = format!("the grid at scale `{}` has {size} combinations", self.scale);
            let hint = "vary less, or use  method = \"sobol\"  and  runs = 100  under [design]";
            return Err(self.space.fault(self.design.position, message, hint));
        }
        let mut all = self.enumerate(size, false)?;
        if all.is_empty() {
            return Ok(all);
        }
        let limit = self.design.runs.map_or(all.len(), |runs| runs as usize);
        if limit < all.len() || self.purse().is_limited() {
            self.chance(SHUFFLE).shuffle(&mut all);
            all.truncate(limit);
        }
        self.affordable(all)
    }

    /// Every combination of a space that is no larger than what is asked for.
    fn every(&self) -> Result<Vec<Configuration>, Diagnostic> {
        let mut all = self.enumerate(self.space.size().unwrap_or(0), true)?;
        self.chance(SHUFFLE).shuffle(&mut all);
        if all.is_empty() { Ok(all) } else { self.affordable(all) }
    }

    fn enumerate(&self, size: u64, every: bool) -> Result<Vec<Configuration>, Diagnostic> {
        let levels = self.space.levels(every);
        let mut found = Vec::new();
        for index in 0..size {
            found.extend(self.space.configuration(&grid_point(&levels, index))?);
        }
        Ok(found)
    }

    /// The beginning of a list that the budget pays for.
    fn affordable(&self, chosen: Vec<Configuration>) -> Result<Vec<Configuration>, Diagnostic> {
        let mut purse = self.purse();
        let mut kept = Vec::new();
        for configuration in chosen {
            match purse.pay(&configuration) {
                Ok(true) => kept.push(configuration),
                Ok(false) => break,
                Err(what) => {
                    let hint = "give  runs = 40  instead, or a  timeout,  or measure a few runs first";
                    return Err(self.space.fault(self.design.position, what, hint));
                }
            }
        }
        if kept.is_empty() && purse.is_limited() {
            let message = format!("the budget at scale `{}` does not pay for a single run", self.scale);
            return Err(self.space.fault(
                self.design.position,
                message,
                "raise it, or make the runs smaller",
            ));
        }
        Ok(kept)
    }

    /// The largest Latin hypercube the budget pays for. The whole has to be known before its first
    /// point is, so its size is searched for.
    fn latin_within_budget(&self, limit: usize) -> Result<Vec<Configuration>, Diagnostic> {
        let mut best = self.affordable(self.drawn(1)?)?;
        let (mut paid, mut unpaid) = (1, limit + 1);
        let mut tried = 2;
        while paid + 1 < unpaid {
            let size = tried.clamp(paid + 1, unpaid - 1);
            let drawn = self.drawn(size)?;
            let asked = drawn.len();
            let kept = self.affordable(drawn)?;
            if kept.len() == asked && asked == size {
                (paid, best) = (size, kept);
                tried = size * 2;
            } else {
                unpaid = size;
                tried = paid.midpoint(unpaid);
            }
        }
        Ok(best)
    }

    /// Up to `count` different combinations that the constraints leave.
    fn drawn(&self, count: usize) -> Result<Vec<Configuration>, Diagnostic> {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        let mut points = Points::new(self, count);
        let budget_alone = self.design.runs.is_none() && self.design.method != Method::LatinHypercube;
        let mut purse = self.purse();
        for _ in 0..count.saturating_mul(100).saturating_add(2_000) {
            if found.len() >= count {
                return Ok(found);
            }
            let point = self.space.point(&points.next_point());
            if !seen.insert(name_of(&point)) {
                continue;
            }
            if let Some(configuration) = self.space.configuration(&point)? {
                // No need to draw on when the money is gone; the one too many says so later.
                let spent = budget_alone && purse.pay(&configuration) != Ok(true);
                found.push(configuration);
                if spent {
                    return Ok(found);
                }
            }
        }
        self.complete(&mut found, &mut seen, count)?;
        Ok(found)
    }

    /// Where draws find no more and the space is small, goes through what is left of it.
    fn complete(
        &self,
        found: &mut Vec<Configuration>,
        seen: &mut BTreeSet<String>,
        count: usize,
    ) -> Result<(), Diagnostic> {
        let Some(size) = self.space.size().filter(|size| *size <= LARGEST_GRID) else { return Ok(()) };
        let levels = self.space.levels(true);
        let mut indices: Vec<u64> = (0..size).collect();
        self.chance(SHUFFLE).shuffle(&mut indices);
        for index in indices {
            if found.len() >= count {
                break;
            }
            let point = grid_point(&levels, index);
            if seen.insert(name_of(&point)) {
                found.extend(self.space.configuration(&point)?);
            }
        }
        Ok(())
    }
}

fn name_of(point: &[Value]) -> String {
    format!("{point:?}")
}

/// Points of the unit cube, one after the other.
struct Points {
    dimensions: usize,
    chance: Chance,
    source: Source,
}

enum Source {
    Random,
    Latin { count: usize, waiting: Vec<Vec<f64>> },
    Sobol(Sobol),
}

impl Points {
    fn new(chooser: &Chooser<'_>, count: usize) -> Points {
        let dimensions = chooser.space.varied();
        let mut chance = chooser.chance(DRAW);
        let source = match chooser.design.method {
            Method::LatinHypercube => Source::Latin { count, waiting: Vec::new() },
            Method::Sobol => Source::Sobol(Sobol::new(dimensions, Some(&mut chance))),
            Method::Grid | Method::Random => Source::Random,
        };
        Points { dimensions, chance, source }
    }

    fn next_point(&mut self) -> Vec<f64> {
        match &mut self.source {
            Source::Random => (0..self.dimensions).map(|_| self.chance.unit()).collect(),
            Source::Sobol(sobol) => sobol.next_point(),
            Source::Latin { count, waiting } => {
                if waiting.is_empty() {
                    *waiting = latin::points(*count, self.dimensions, &mut self.chance);
                }
                waiting.pop().unwrap_or_default()
            }
        }
    }
}
