//! What the runs say before any candidate is judged: how noisy they are, how well a plain law fits
//! them, and whether there is anything to learn at all.

use super::Judged;
use crate::pipeline::Pipeline;
use crate::prepare::Prepared;
use crate::statistics::{mean, variance_ratio_above};
use crate::table::Table;
use crate::{BuildOptions, ModelKind};

/// Targets within this factor of each other may be flat.
const FLAT_RANGE: f64 = 1.3;
/// A law explains something if chance would rarely explain as much.
const CHANCE: f64 = 0.05;

/// Noise and spread of a table, all in logarithms of the target.
#[derive(Debug, Clone, Default)]
pub(crate) struct Character {
    /// Standard deviation between repetitions; 0 where nothing is repeated.
    pub noise: f64,
    /// What is known of the scale of residuals beforehand: the larger of the noise and of what a
    /// power law leaves unexplained, or the chosen models inside the measured range; `None` where
    /// nothing is known.
    pub prior: Option<f64>,
    /// Whether the target is the same in all runs but for noise.
    pub flat: bool,
    /// Slowdowns of disturbed runs, as logarithms, and out of how many repeated runs.
    pub slowdowns: Vec<f64>,
    pub repeated_runs: usize,
}

impl Character {
    pub(crate) fn of(table: &Table) -> Character {
        let noise = repetition_noise(table);
        let logarithms: Vec<f64> = table.rows.iter().map(|row| row.target.ln()).collect();
        let centre = mean(logarithms.iter().copied()).unwrap_or(0.0);
        let variance = mean(logarithms.iter().map(|y| (y - centre).powi(2))).unwrap_or(0.0);
        let law = law_through(table);
        let groups = group_means(table);
        let largest = groups.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = groups.iter().copied().fold(f64::INFINITY, f64::min);
        let narrow = largest - smallest < FLAT_RANGE.ln();
        let by_chance = law.is_some_and(Law::explains_by_chance);
        let flat = narrow && (variance == 0.0 || by_chance);
        let law = if flat { Some(variance) } else { law.map(|law| law.unexplained) };
        let known = [(noise > 0.0).then_some(noise), law.map(f64::sqrt)];
        let mut repetitions = vec![0; table.groups];
        let rows = table.rows.iter().chain(table.disturbed.iter().map(|disturbed| &disturbed.row));
        rows.for_each(|row| repetitions[row.group] += 1);
        Character {
            noise,
            prior: known.into_iter().flatten().reduce(f64::max),
            flat,
            slowdowns: table.disturbed.iter().map(|disturbed| disturbed.slowdown).collect(),
            repeated_runs: repetitions.into_iter().filter(|&count| count > 1).sum(),
        }
    }

    /// How far the chosen model is off inside the measured range says more of its error than a law
    /// that was not chosen. The larger half counts: small runs are noisier than the ones that matter.
    pub(crate) fn knowing(&self, inside: &[Judged]) -> Character {
        let mut inside = inside.to_vec();
        inside.sort_by(|left, right| right.actual.total_cmp(&left.actual).then(left.row.cmp(&right.row)));
        inside.truncate(inside.len().div_ceil(2));
        let error = mean(inside.iter().map(|said| said.residual().powi(2))).map(f64::sqrt);
        let error = error.filter(|error| error.is_finite()).map(|error| error.max(self.noise));
        Character { prior: error.or(self.prior), ..self.clone() }
    }
}

/// A power law through all rows.
#[derive(Clone, Copy)]
struct Law {
    /// Mean square of what it leaves, and before it.
    unexplained: f64,
    variance: f64,
    /// Rows, and those beyond its parameters.
    rows: f64,
    freedom: f64,
}

impl Law {
    /// Whether a law of as many parameters through rows that differ by chance alone would often leave as
    /// little (the F-test of a regression).
    fn explains_by_chance(self) -> bool {
        let explained = self.variance * self.rows - self.unexplained * self.freedom;
        let parameters = (self.rows - self.freedom - 1.0).max(1.0);
        let ratio = explained / parameters / self.unexplained;
        let surely = ratio == f64::INFINITY || variance_ratio_above(ratio, parameters, self.freedom) < CHANCE;
        ratio.is_nan() || !surely
    }
}

/// A power law through all rows; `None` with too few rows to tell.
fn law_through(table: &Table) -> Option<Law> {
    let rows: Vec<(usize, f64)> = (0..table.rows.len()).map(|row| (row, 1.0)).collect();
    let prepared = Prepared::of(table, &rows, true);
    let law = Pipeline::fit(ModelKind::PowerLaw, &prepared, &BuildOptions::default(), 0).ok()?;
    let freedom = prepared.targets.len().checked_sub(law.fitted.parameters()).filter(|&rest| rest >= 3)?;
    let squares: f64 = prepared
        .inputs
        .iter()
        .zip(&prepared.targets)
        .map(|(input, target)| (target / law.fitted.predict(input).max(1e-300)).ln().powi(2))
        .sum();
    let (rows, freedom) = (prepared.targets.len() as f64, freedom as f64);
    let logarithms = || prepared.targets.iter().map(|target| target.ln());
    let centre = mean(logarithms())?;
    let variance = mean(logarithms().map(|y| (y - centre).powi(2)))?;
    (squares / freedom).is_finite().then_some(Law { unexplained: squares / freedom, variance, rows, freedom })
}

fn group_means(table: &Table) -> Vec<f64> {
    let mut sums = vec![(0.0, 0usize); table.groups];
    for row in &table.rows {
        sums[row.group].0 += row.target.ln();
        sums[row.group].1 += 1;
    }
    sums.into_iter().filter(|&(_, count)| count > 0).map(|(sum, count)| sum / count as f64).collect()
}

/// Standard deviation of ln(target) between repetitions, pooled over the larger half of the repeated
/// configurations: small runs are noisier than the ones that matter. 0 where nothing is repeated.
fn repetition_noise(table: &Table) -> f64 {
    let mut groups: Vec<Vec<f64>> = vec![Vec::new(); table.groups];
    let repeated = table.rows.iter().filter(|row| row.repeats);
    repeated.for_each(|row| groups[row.group].push(row.target.ln()));
    groups.retain(|group| group.len() >= 2);
    let average = |group: &[f64]| group.iter().sum::<f64>() / group.len() as f64;
    groups.sort_by(|a, b| average(b).total_cmp(&average(a)));
    groups.truncate(groups.len().div_ceil(2));
    let squares: f64 =
        groups.iter().map(|group| group.iter().map(|y| (y - average(group)).powi(2)).sum::<f64>()).sum();
    let freedom: usize = groups.iter().map(|group| group.len() - 1).sum();
    if freedom > 0 { (squares / freedom as f64).sqrt() } else { 0.0 }
}
