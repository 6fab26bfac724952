//! Runs chosen one after another teach more than a grid at equal cost.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod common;

use common::{Noise, columns, row};
use harp_core::{Dataset, Row, Scale, Target, Value};
use harp_learn::{BuildOptions, Doubt, FEWEST_CONFIGURATIONS, ModelKind, Place, build};

const PROGRAMS: u64 = 8;

/// One law is enough to see what runs teach, and quick enough to build hundreds of times.
fn quick() -> BuildOptions {
    BuildOptions { models: vec![ModelKind::PowerLaw], ..BuildOptions::default() }
}

/// A program whose law and noise come from a seed.
struct Program {
    exponents: [f64; 2],
    serial: f64,
    start: f64,
    noise: f64,
}

impl Program {
    fn of(random: &mut Noise) -> Program {
        Program {
            exponents: [0.8 + 1.5 * random.uniform(), 0.8 + 1.5 * random.uniform()],
            serial: 0.3 * random.uniform(),
            start: 0.2 * random.uniform(),
            noise: 0.02 + 0.06 * random.uniform(),
        }
    }

    fn seconds(&self, n: f64, method: usize, threads: f64) -> f64 {
        let work = [0.02, 0.05][method] * (n / 100.0).powf(self.exponents[method]);
        self.start + work * (self.serial + (1.0 - self.serial) / threads)
    }
}

/// Runs of the grid: six small sizes and two large ones, two methods, four thread counts.
fn grid(program: &Program, random: &mut Noise) -> Vec<Row> {
    let mut rows = Vec::new();
    let sizes = [100, 180, 320, 560, 1000, 1800, 6000, 10_000];
    for (index, n) in sizes.into_iter().enumerate() {
        for (method, name) in ["direct", "iterative"].into_iter().enumerate() {
            for threads in [1, 2, 4, 8] {
                let truth = program.seconds(f64::from(n), method, f64::from(threads));
                let cells = vec![Value::Integer(n.into()), Value::from(name), Value::Integer(threads.into())];
                let scale = if index < 6 { Scale::Sd } else { Scale::Fs };
                let measured = truth * (program.noise * random.normal()).exp();
                rows.push(row(cells, measured, scale, rows.len() as u64));
            }
        }
    }
    rows
}

fn cases(program: &Program) -> Vec<Row> {
    let case = |method: usize, name: &str, threads: i64| {
        let truth = program.seconds(20_000.0, method, threads as f64);
        let cells = vec![Value::Integer(20_000), Value::from(name), Value::Integer(threads)];
        row(cells, truth, Scale::Test, 9000 + method as u64 * 10 + threads as u64)
    };
    vec![case(0, "direct", 4), case(0, "direct", 8), case(1, "iterative", 4), case(1, "iterative", 8)]
}

fn table(rows: &[Row], chosen: &[usize], cases: &[Row]) -> Dataset {
    let rows = chosen.iter().map(|&index| rows[index].clone()).chain(cases.iter().cloned()).collect();
    Dataset::new(Target::Walltime, columns(&["n", "method", "threads"]), rows).unwrap()
}

/// Mean |ln(estimate/truth)| of the cases, from a model of the chosen runs.
fn error(rows: &[Row], chosen: &[usize], cases: &[Row]) -> f64 {
    let dataset = table(rows, chosen, cases);
    let model = build(&dataset, &quick()).unwrap();
    let judged = model.evaluate(&dataset, |row| row.scale == Scale::Test).unwrap().cases;
    let errors = judged.iter().map(|case| (case.prediction.estimate / case.actual).ln().abs());
    errors.sum::<f64>() / judged.len() as f64
}

/// Chosen one after another within a budget: the first few among the small runs, then by cost.
fn adaptive(rows: &[Row], cases: &[Row], budget: f64) -> Vec<usize> {
    let place = |index: usize| -> Place { rows[index].cells.clone() };
    let wanted: Vec<Place> = cases.iter().map(|case| case.cells.clone()).collect();
    let mut chosen: Vec<usize> = Vec::new();
    let mut spent = 0.0;
    loop {
        let left: Vec<usize> = (0..rows.len()).filter(|index| !chosen.contains(index)).collect();
        let known: Vec<Place> = chosen.iter().map(|&index| place(index)).collect();
        let open: Vec<Place> = left.iter().map(|&index| place(index)).collect();
        let model = (chosen.len() >= FEWEST_CONFIGURATIONS)
            .then(|| build(&table(rows, &chosen, cases), &quick()).ok())
            .flatten();
        let costs: Vec<f64> = left
            .iter()
            .map(|&index| match &model {
                None if rows[index].scale == Scale::Sd => 1.0,
                None => f64::NAN,
                Some(model) => {
                    let names = ["n", "method", "threads"].into_iter();
                    let cells = names.zip(&rows[index].cells);
                    let case = cells.map(|(name, cell)| (name.to_owned(), cell.clone().unwrap())).collect();
                    let cost = model.predict(&case).unwrap().estimate;
                    if spent + cost > budget { f64::NAN } else { cost }
                }
            })
            .collect();
        let Some(best) = Doubt::new(&known, &open, &wanted, None).best(&costs) else { return chosen };
        let index = left[best.candidate];
        spent += rows[index].observed.value();
        if spent > budget {
            return chosen;
        }
        chosen.push(index);
    }
}

/// The grid in an order of its own, as long as it can be paid for.
fn in_turn(rows: &[Row], budget: f64, random: &mut Noise) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    for last in (1..order.len()).rev() {
        order.swap(last, (random.uniform() * (last + 1) as f64) as usize);
    }
    let mut spent = 0.0;
    order.retain(|&index| {
        let cost = rows[index].observed.value();
        let affordable = spent + cost <= budget;
        spent += if affordable { cost } else { 0.0 };
        affordable
    });
    order
}

#[test]
fn choosing_halves_the_error_of_a_grid_at_equal_cost() {
    for share in [0.1, 0.3] {
        let (mut chosen_error, mut grid_error, mut wins) = (0.0, 0.0, 0);
        for seed in 0..PROGRAMS {
            let mut random = Noise::new(seed);
            let program = Program::of(&mut random);
            let rows = grid(&program, &mut random);
            let cases = cases(&program);
            let budget = share * rows.iter().map(|row| row.observed.value()).sum::<f64>();
            let chosen = error(&rows, &adaptive(&rows, &cases, budget), &cases);
            let turned = error(&rows, &in_turn(&rows, budget, &mut random), &cases);
            chosen_error += chosen / PROGRAMS as f64;
            grid_error += turned / PROGRAMS as f64;
            wins += u64::from(chosen <= turned);
        }
        println!("budget {share}: chosen {chosen_error:.3}, grid {grid_error:.3}, wins {wins}/{PROGRAMS}");
        assert!(chosen_error <= 0.5 * grid_error, "budget {share}: chosen {chosen_error}, grid {grid_error}");
        assert!(wins > PROGRAMS / 2, "budget {share}: {wins} of {PROGRAMS}");
    }
}

/// Of a program with a start-up time that hides how it grows: the size that is wanted is beyond all runs, and
/// enough cheap runs are there to go on with for ever. What is left must not be given up while there is a budget.
#[test]
fn with_a_budget_left_it_goes_on_to_the_large_runs() {
    for seed in 0..PROGRAMS {
        let mut random = Noise::new(seed);
        let program = Program { start: 0.5 + random.uniform(), ..Program::of(&mut random) };
        let rows = grid(&program, &mut random);
        let wanted: Vec<Place> = cases(&program).iter().map(|case| case.cells.clone()).collect();
        let costs: Vec<f64> = rows.iter().map(|row| row.observed.value()).collect();
        let mut chosen: Vec<usize> = Vec::new();
        while chosen.len() < rows.len() {
            let left: Vec<usize> = (0..rows.len()).filter(|index| !chosen.contains(index)).collect();
            let known: Vec<Place> = chosen.iter().map(|&index| rows[index].cells.clone()).collect();
            let open: Vec<Place> = left.iter().map(|&index| rows[index].cells.clone()).collect();
            let open_costs: Vec<f64> = left.iter().map(|&index| costs[index]).collect();
            let next = Doubt::new(&known, &open, &wanted, None).choose(&open_costs, false);
            let (gain, _) = next.unwrap_or_else(|| panic!("seed {seed}: stopped after {}", chosen.len()));
            chosen.push(left[gain.candidate]);
        }
        let first = chosen.iter().position(|&index| rows[index].scale == Scale::Fs).unwrap();
        assert!(first < rows.len() / 2, "seed {seed}: the first large run is number {first}");
    }
}
