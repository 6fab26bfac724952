//! How wrong predictions on a machine without runs are: each known machine in turn is left out, and its
//! runs are predicted from the others.

use harp_core::{Dataset, Run, Target};
use harp_learn::{BuildOptions, ModelKind, build};

use crate::machines::Machines;

/// However well the machines at hand agree, another may not: a factor of 1.5 either way.
const LEAST: f64 = 0.25;

/// The standard deviation of ln(truth/estimate) on a machine no run was made on.
pub fn spread(runs: &[&Run], machines: &Machines, options: &BuildOptions) -> Option<f64> {
    // One law is quick, and goes on beyond what it saw.
    let quick = BuildOptions { models: vec![ModelKind::PowerLaw], ..options.clone() };
    let names: Vec<&str> = machines.names().collect();
    let table = |wanted: &dyn Fn(&Run) -> bool| -> Dataset {
        let runs = runs.iter().copied().filter(|run| wanted(run));
        harp_history::dataset_with(runs, &Target::Walltime, &|run| machines.further(run)).0
    };
    let mut squares = Vec::new();
    for name in &names {
        let Ok(model) = build(&table(&|run| run.host != **name), &quick) else { continue };
        let Ok(judged) = model.evaluate(&table(&|run| run.host == **name), |_| true) else { continue };
        let mut logs: Vec<f64> =
            judged.cases.iter().map(|case| (case.actual / case.prediction.estimate).ln()).collect();
        logs.sort_by(f64::total_cmp);
        squares.extend(logs.get(logs.len() / 2).map(|middle| middle * middle));
    }
    let count = squares.len() as f64;
    // The next machine is one more than was learned from.
    let spread = (squares.iter().sum::<f64>() / count * (1.0 + 1.0 / count)).sqrt();
    (!squares.is_empty()).then(|| spread.max(LEAST))
}
