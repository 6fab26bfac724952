//! Which runs train and which judge. Folds mimic the shift from small to large: full-scale runs are
//! judged in turn, and where there are very few, the largest scaled-down ones too; where there are not
//! many, scaled-down runs judged among each other help to tell models apart, and so do whole levels of a
//! feature without full-scale runs where some level has none. Repetitions of a run are never on both sides.

use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use super::levels::level_folds;
use crate::prepare::number_of;
use crate::statistics::mean;
use crate::table::Table;
use crate::{Mix, Validation};

/// Up to this many full-scale configurations each is judged alone, beyond it in quarters.
const ALONE: usize = 8;
const QUARTERS: usize = 4;
/// What errors count where all configurations of a size are judged together.
const OF_A_WHOLE_SIZE: f64 = 0.33;
/// Where they are of this many sizes at most, so many of each in the mean, all together are judged, too.
const FEW_SIZES: usize = 4;
const FEWEST_OF_A_SIZE: usize = 2;
/// With fewer full-scale configurations than this the largest scaled-down ones judge too.
const ENOUGH_FULL_SCALE: usize = 4;
/// Fewest configurations a model may be fitted on.
const FEWEST_TO_FIT: usize = 3;
/// From this many full-scale configurations on they speak for themselves.
const MANY_FULL_SCALE: usize = 20;
/// Below that, parts in which the scaled-down configurations are judged, and the fewest of them.
const PARTS_INSIDE: usize = 10;
const ENOUGH_INSIDE: usize = 10;
/// From this many scaled-down configurations on the larger half is held out, too, where there are no
/// full-scale runs.
const ENOUGH_FOR_HALVES: usize = 16;
const LARGER_HALF: f64 = 0.5;
/// Share of the configurations held out as the largest.
const LARGEST_SHARE: f64 = 0.2;

/// Rows with their weights.
pub(crate) type TrainingRows = Vec<(usize, f64)>;

/// What is fitted and what it judges.
pub(crate) struct Plan {
    pub validation: Validation,
    /// Different training sets.
    pub trainings: Vec<TrainingRows>,
    /// For each mix, which training set judges which rows; or why the mix is left out.
    pub mixes: Vec<(Mix, Result<Vec<Judgement>, String>)>,
    /// Scaled-down runs judged inside the measured range; none where full-scale runs suffice.
    pub inside: Vec<Judgement>,
}

/// One training set and the rows it judges.
#[derive(Debug, Clone)]
pub(crate) struct Judgement {
    pub training: usize,
    pub rows: Vec<usize>,
    /// How much its errors count beside those of others.
    pub weight: f64,
}

impl Plan {
    /// Plans the folds of a table; the seed decides which full-scale runs go together.
    pub(crate) fn of(table: &Table, seed: u64) -> Plan {
        let mut plan = Plan {
            validation: Validation::FullScale,
            trainings: Vec::new(),
            mixes: Vec::new(),
            inside: Vec::new(),
        };
        let among = members(table, table.rows.iter().filter(|row| row.full_scale).map(|row| row.group));
        let mut full_scale: Vec<usize> = (0..table.groups).filter(|&group| among[group]).collect();
        shuffle(&mut full_scale, seed);
        let mut folds = full_scale_folds(table, &full_scale);
        if full_scale.len() < MANY_FULL_SCALE {
            // Those of one configuration each are judged in turn anyway.
            let of_levels = level_folds(table, &among);
            let others = of_levels.into_iter().filter(|(groups, _)| groups.len() > 1);
            folds.extend(others);
            if full_scale.len() > 1 && are_of_few_sizes(table, &among) {
                folds.push((full_scale.clone(), OF_A_WHOLE_SIZE));
            }
        }
        let everything = (!full_scale.is_empty()).then_some(Mix::EVERYTHING);
        for mix in Mix::ALL.into_iter().chain(everything) {
            let judgements = plan.full_scale_in_turn(table, &full_scale, &folds, mix);
            plan.mixes.push((mix, judgements));
        }
        if full_scale.len() < ENOUGH_FULL_SCALE {
            let held_out = largest_scaled_down(table);
            plan.validation = match (full_scale.is_empty(), held_out.is_empty()) {
                (true, _) => Validation::Largest,
                (false, false) => Validation::FullScaleAndLargest,
                (false, true) => Validation::FullScale,
            };
            for groups in held_out {
                plan.add_to_all(table, &groups);
            }
        }
        if plan.mixes.iter().all(|(_, judgements)| judgements.as_ref().map_or(true, Vec::is_empty)) {
            plan.leave_one_out(table, seed, full_scale.is_empty());
        } else if full_scale.len() < MANY_FULL_SCALE {
            plan.judge_inside(table, &among, seed);
        }
        plan
    }

    /// Whether runs killed at a limit teach with a training set: wherever full-scale runs do. Where the
    /// largest runs are held out they stay out too: they would be larger still.
    pub(crate) fn with_lower_bounds(&self, table: &Table, training: usize) -> bool {
        let full_scale = self.trainings[training].iter().any(|&(row, _)| table.rows[row].full_scale);
        full_scale || self.validation == Validation::LeaveOneOut
    }

    /// Every fold of full-scale configurations judged by models that saw a share of the others.
    fn full_scale_in_turn(
        &mut self,
        table: &Table,
        groups: &[usize],
        folds: &[(Vec<usize>, f64)],
        mix: Mix,
    ) -> Result<Vec<Judgement>, String> {
        let count = groups.len();
        if count == 0 {
            let none = "there are no full-scale runs".to_owned();
            return if mix.full_scale_percent == 0 { Ok(Vec::new()) } else { Err(none) };
        }
        let available = count - folds.iter().map(|(judged, _)| judged.len()).min().unwrap_or(0);
        let taken = |mix: Mix| match mix.full_scale_percent {
            0 => 0,
            percent => ((f64::from(percent) / 100.0 * count as f64).round() as usize).max(1).min(available),
        };
        if mix.full_scale_percent > 0 {
            if available == 0 {
                return Err("the only full-scale configuration is needed to judge".to_owned());
            }
            let study = mix != Mix::EVERYTHING;
            if let Some(same) =
                Mix::ALL.into_iter().find(|&other| study && other < mix && taken(other) == taken(mix))
            {
                return Err(format!("the same runs as {same}"));
            }
        }
        let mut judgements = Vec::new();
        for (index, (judged, weight)) in folds.iter().enumerate() {
            // Starting elsewhere each time, so that each configuration is trained on about as often.
            let others = groups.iter().cycle().skip(index + 1).take(count);
            let judged = members(table, judged.iter().copied());
            let others = others.copied().filter(|&group| !judged[group]);
            let chosen = members(table, others.take(taken(mix)));
            let rows: Vec<usize> = (0..table.rows.len())
                .filter(|&row| {
                    let row = &table.rows[row];
                    !judged[row.group] && (!row.full_scale || chosen[row.group])
                })
                .collect();
            if table.groups_among(rows.iter().copied()) < FEWEST_TO_FIT {
                return Err(format!("it leaves fewer than {FEWEST_TO_FIT} configurations to learn from"));
            }
            let training = self.training(balanced(table, &rows));
            let rows = (0..table.rows.len())
                .filter(|&row| table.rows[row].full_scale && judged[table.rows[row].group])
                .collect();
            judgements.push(Judgement { training, rows, weight: *weight });
        }
        Ok(judgements)
    }

    /// Scaled-down configurations in turn, judged by models that learned from all the others.
    fn judge_inside(&mut self, table: &Table, full_scale: &[bool], seed: u64) {
        let mut groups: Vec<usize> = (0..table.groups).filter(|&group| !full_scale[group]).collect();
        if groups.len() < ENOUGH_INSIDE {
            return;
        }
        shuffle(&mut groups, seed);
        for part in 0..PARTS_INSIDE {
            let judged = members(table, groups.iter().copied().skip(part).step_by(PARTS_INSIDE));
            let (rows, rest): (Vec<usize>, Vec<usize>) =
                (0..table.rows.len()).partition(|&row| judged[table.rows[row].group]);
            let training = self.training(balanced(table, &rest));
            self.inside.push(Judgement { training, rows, weight: 1.0 });
        }
    }

    /// Holds out scaled-down groups; as full-scale runs are larger still, they do not train here.
    fn add_to_all(&mut self, table: &Table, groups: &[usize]) {
        let held_out = members(table, groups.iter().copied());
        let (judged, rest): (Vec<usize>, Vec<usize>) = (0..table.rows.len())
            .filter(|&row| !table.rows[row].full_scale)
            .partition(|&row| held_out[table.rows[row].group]);
        let training = self.training(rest.into_iter().map(|row| (row, 1.0)).collect());
        for (_, judgements) in &mut self.mixes {
            if let Ok(judgements) = judgements {
                judgements.push(Judgement { training, rows: judged.clone(), weight: 1.0 });
            }
        }
    }

    /// The last resort: each configuration (or a tenth of them) judged by all the others.
    fn leave_one_out(&mut self, table: &Table, seed: u64, scaled_down_only: bool) {
        self.validation = Validation::LeaveOneOut;
        let mut groups: Vec<usize> = (0..table.groups).collect();
        shuffle(&mut groups, seed);
        let folds = groups.len().min(10);
        let mut judgements = Vec::new();
        for fold in 0..folds {
            let judged: Vec<usize> = groups.iter().copied().skip(fold).step_by(folds).collect();
            let judged = members(table, judged.into_iter());
            let (rows, rest): (Vec<usize>, Vec<usize>) =
                (0..table.rows.len()).partition(|&row| judged[table.rows[row].group]);
            let training = self.training(rest.into_iter().map(|row| (row, 1.0)).collect());
            judgements.push(Judgement { training, rows, weight: 1.0 });
        }
        let mix = if scaled_down_only { Mix::ALL[0] } else { Mix::EVERYTHING };
        self.mixes.retain(|(other, _)| *other != mix);
        self.mixes.insert(0, (mix, Ok(judgements)));
    }

    /// The index of a training set, which is kept once.
    fn training(&mut self, rows: TrainingRows) -> usize {
        match self.trainings.iter().position(|known| *known == rows) {
            Some(index) => index,
            None => {
                self.trainings.push(rows);
                self.trainings.len() - 1
            }
        }
    }
}

/// For each group whether it is among the given ones.
fn members(table: &Table, groups: impl Iterator<Item = usize>) -> Vec<bool> {
    let mut members = vec![false; table.groups];
    groups.for_each(|group| members[group] = true);
    members
}

/// Rows with weights under which full-scale runs count as much as scaled-down ones.
pub(crate) fn balanced(table: &Table, rows: &[usize]) -> TrainingRows {
    let full_scale = rows.iter().filter(|&&row| table.rows[row].full_scale).count();
    let scaled_down = rows.len() - full_scale;
    let weight = (scaled_down as f64 / full_scale.max(1) as f64).max(1.0);
    rows.iter().map(|&row| (row, if table.rows[row].full_scale { weight } else { 1.0 })).collect()
}

/// Full-scale configurations that are judged together. Each is judged once among the others; and where
/// several share a size, once more with all of their size, so that a model that only remembers sizes
/// is found out; that counts less, as it is harder than most of what will be asked.
fn full_scale_folds(table: &Table, groups: &[usize]) -> Vec<(Vec<usize>, f64)> {
    let in_turn = |parts: usize, of: &[Vec<usize>], weight: f64| -> Vec<(Vec<usize>, f64)> {
        let part = |part: usize| of.iter().skip(part).step_by(parts).flatten().copied().collect();
        (0..parts).map(|index| (part(index), weight)).collect()
    };
    let single: Vec<Vec<usize>> = groups.iter().map(|&group| vec![group]).collect();
    let quarters = |count: usize| if count <= ALONE { count } else { QUARTERS };
    let mut folds = in_turn(quarters(single.len()), &single, 1.0);
    let all: Vec<usize> = (0..table.rows.len()).collect();
    let sizes = growing(table, &all);
    let Some((_, sizes)) = sizes.into_iter().max_by(|left, right| left.0.total_cmp(&right.0)) else {
        return folds;
    };
    let mut first: Vec<Option<usize>> = vec![None; table.groups];
    for (index, row) in table.rows.iter().enumerate().rev().filter(|(_, row)| row.full_scale) {
        first[row.group] = Some(index);
    }
    let sized = groups.iter().filter_map(|&group| first[group].map(|row| (sizes[row], group)));
    let mut sized: Vec<(f64, usize)> = sized.collect();
    sized.sort_by(|left, right| left.0.total_cmp(&right.0));
    let levels: Vec<&[(f64, usize)]> = sized.chunk_by(|left, right| left.0 == right.0).collect();
    if levels.len() > 1 && levels.len() < groups.len() {
        let group = |level: &&[(f64, usize)]| level.iter().map(|&(_, group)| group).collect();
        let members: Vec<Vec<usize>> = levels.iter().map(group).collect();
        folds.extend(in_turn(members.len().min(QUARTERS), &members, OF_A_WHOLE_SIZE));
    }
    folds
}

/// Whether full-scale runs are of a few sizes, several of each. Judged in turn they say nothing of larger ones then:
/// whatever remembers their sizes is right.
fn are_of_few_sizes(table: &Table, full_scale: &[bool]) -> bool {
    let all: Vec<usize> = (0..table.rows.len()).collect();
    let sizes = growing(table, &all).into_iter().max_by(|left, right| left.0.total_cmp(&right.0));
    sizes.is_some_and(|(_, sizes)| {
        let large = all.iter().filter(|&&row| full_scale[table.rows[row].group]);
        let mut levels: Vec<f64> = large.clone().map(|&row| sizes[row]).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        let groups = table.groups_among(large.copied());
        levels.len() <= FEW_SIZES && FEWEST_OF_A_SIZE * levels.len() <= groups
    })
}

/// Groups to hold out: for each number the target grows with, the configurations with its largest
/// values; and those that are large in all of them together. Chosen by the features, so that a run
/// is not held out because it happened to be slow.
fn largest_scaled_down(table: &Table) -> Vec<Vec<usize>> {
    let rows: Vec<usize> = (0..table.rows.len()).filter(|&row| !table.rows[row].full_scale).collect();
    let groups = table.groups_among(rows.iter().copied());
    let mut growing: Vec<Vec<f64>> = growing(table, &rows).into_iter().map(|(_, sizes)| sizes).collect();
    let together: Vec<f64> =
        (0..rows.len()).map(|row| growing.iter().map(|sizes| sizes[row]).sum()).collect();
    if growing.len() > 1 {
        growing.push(together);
    }
    // Without any full-scale run what is to be predicted lies far beyond: being right a little beyond
    // says less than being right farther out.
    let far = rows.len() == table.rows.len() && groups >= ENOUGH_FOR_HALVES;
    let shares: &[f64] = if far { &[LARGEST_SHARE, LARGER_HALF] } else { &[LARGEST_SHARE] };
    let mut held_out: Vec<Vec<usize>> = Vec::new();
    for sizes in growing {
        let mut largest: Vec<f64> = vec![f64::NEG_INFINITY; table.groups];
        rows.iter().zip(&sizes).for_each(|(&row, &size)| {
            let group = table.rows[row].group;
            largest[group] = largest[group].max(size);
        });
        let mut order: Vec<usize> = (0..table.groups).filter(|&group| largest[group].is_finite()).collect();
        order.sort_by(|&a, &b| largest[b].total_cmp(&largest[a]).then(a.cmp(&b)));
        for share in shares.iter().copied() {
            // Whole levels: a run of equal size left in training would make it interpolation.
            let at_least = ((share * groups as f64).ceil() as usize).max(1);
            let Some(&last) = order.get(at_least - 1) else { continue };
            let chosen: Vec<usize> =
                order.iter().copied().filter(|&group| largest[group] >= largest[last]).collect();
            let left = groups - chosen.len();
            if 2 * chosen.len() <= groups && left >= FEWEST_TO_FIT && !held_out.contains(&chosen) {
                held_out.push(chosen);
            }
        }
    }
    held_out
}

/// Numbers of three levels or more that the target grows with: how closely, and each row's size from
/// 0 to 1 by rank.
fn growing(table: &Table, rows: &[usize]) -> Vec<(f64, Vec<f64>)> {
    let targets: Vec<f64> = rows.iter().map(|&row| table.rows[row].target.ln()).collect();
    let mut growing = Vec::new();
    for column in 0..table.columns.len() {
        let values: Option<Vec<f64>> =
            rows.iter().map(|&row| table.rows[row].cells[column].as_ref().and_then(number_of)).collect();
        let Some(values) = values else { continue };
        let ranks = ranks(&values);
        let levels = ranks.iter().fold(0.0, |highest: f64, &rank| highest.max(rank));
        let closely = correlation(&ranks, &targets);
        if levels >= 2.0 && closely > 0.2 {
            growing.push((closely, ranks.iter().map(|rank| rank / levels).collect()));
        }
    }
    growing
}

/// The rank of each value among the different values, from 0.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut levels = values.to_vec();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    values.iter().map(|value| levels.partition_point(|level| level < value) as f64).collect()
}

fn correlation(left: &[f64], right: &[f64]) -> f64 {
    let (Some(l), Some(r)) = (mean(left.iter().copied()), mean(right.iter().copied())) else { return 0.0 };
    let product = |a: &[f64], ma: f64, b: &[f64], mb: f64| -> f64 {
        a.iter().zip(b).map(|(x, y)| (x - ma) * (y - mb)).sum()
    };
    let scale = (product(left, l, left, l) * product(right, r, right, r)).sqrt();
    if scale > 0.0 { product(left, l, right, r) / scale } else { 0.0 }
}

fn shuffle(values: &mut [usize], seed: u64) {
    let mut random = Pcg64::seed_from_u64(seed);
    for last in (1..values.len()).rev() {
        values.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
}
