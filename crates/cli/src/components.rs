//! Targets that an experiment puts together from components.

use harp_core::{Dataset, Run, Target};
use harp_learn::{BothWays, BuildOptions, Formula, LearnError, TargetModel};

use crate::machines::Machines;
use crate::project::Project;

/// Learns one target: as a whole, or put together from components where the experiment says how and that
/// is better.
pub fn learn(
    project: &Project,
    runs: &[&Run],
    table: &Dataset,
    machines: &Machines,
    options: &BuildOptions,
) -> Result<TargetModel, LearnError> {
    match both_ways(project, runs, table, machines, options)? {
        Some(both) => Ok(both.kept()),
        None => harp_learn::build(table, options),
    }
}

/// Learns one target both ways, where the experiment says how to put it together.
pub fn both_ways(
    project: &Project,
    runs: &[&Run],
    table: &Dataset,
    machines: &Machines,
    options: &BuildOptions,
) -> Result<Option<BothWays>, LearnError> {
    let formulas = &project.experiment.learn.formulas;
    let Some(written) = formulas.iter().find(|one| one.target == table.target) else { return Ok(None) };
    let formula = match Formula::parse(&written.text) {
        Ok(formula) => formula,
        Err(error) => {
            let mut basic = harp_learn::build(table, options)?;
            basic.warnings.push(error.to_string());
            return Ok(Some(BothWays { basic, custom: None }));
        }
    };
    let component = |name: &String| {
        let target = Target::Metric(name.clone());
        harp_history::dataset_with(runs.iter().copied(), &target, &|run| machines.further(run)).0
    };
    let tables: Vec<Dataset> = written.components.iter().map(component).collect();
    harp_learn::build_both_ways(table, &formula, &tables, options).map(Some)
}
