//! Experiment files for tests: the smallest one, and one that uses every key.

use crate::{Experiment, parse};

/// Nothing but what is required.
pub(crate) const SMALL: &str = r#"name = "euler"
[program]
command = "./euler {terms}"
[parameters.terms]
sd = [100, 200]
fs = [100000]
"#;

/// Every key of every table at least once.
pub(crate) const FULL: &str = r#"name = "euler"
constraints = ["terms % 100 == 0", "cells > 0 and data_bytes >= 0"]

[program]
command = "./euler {method} --out {run_directory}"
shell = false
directory = "."
setup = ["make", "echo {experiment_directory}"]
after = "./collect.sh {terms}"
environment = { OMP_NUM_THREADS = "{threads}", LEVEL = 3 }
inputs = ["tables.txt", { path = "{data}", to = "data.txt", how = "copy" }]
templates = ["input.in", { path = "run.tmpl", to = "run.cfg" }]
own_directory = true
version = "2.1"
mpi = false
modules = ["gcc/12.2", "openmpi"]

[program.success]
exit_code = 0
output = "converged"
file = ["result.dat", "log_{terms}.txt"]

[metrics.epoch_seconds]
pattern = 'epoch took (?<value>[0-9.]+)'
from = "stderr"
take = "mean"
[metrics.loss]
json = "training.epochs[0].loss"
from = "result.json"
[metrics.rate]
csv = "rate"

[parameters.terms]
type = "integer"
sd = { from = 100, to = 10000, count = 5, spacing = "geometric" }
fs = 1e5
test = [200000, 400000]
option = "--terms"
constraints = ["terms > 1"]
[parameters.method]
values = ["series", "limit"]
[parameters.digits]
values = { from = 10, to = 30, step = 10 }
argument = true
[parameters.tolerance]
type = "real"
values = [1e-3, 1]
environment = "TOLERANCE"
[parameters.fast]
values = [true, false]
option = "--fast"
[parameters.data]
type = "file"
values = ["a.txt", "b.txt"]
template = "input.in"
[parameters.cells]
expression = "terms * digits"

[allocation]
nodes = 1
tasks = 1
cores = [1, 2]
threads = [1, 2]
memory = "2G"
gpus = 0
gpu_kind = "a100"
node_type = "standard"
constraint = "fast"
[allocation.sd]
memory = ["1G", 2147483648]
[allocation.fs]
cores = 2
[allocation.test]
cores = 2

[design]
method = "sobol"
runs = 40
budget_time = "10m"
budget_cost = 2.5
repetitions = 3
seed = 1
timeout = 60
total_timeout = "30m"
order = "by-scale"
parallel = "auto"
[design.sd]
method = "latin-hypercube"
runs = 12
[design.fs]
budget_time = "1h"
timeout = "10m"
[design.test]
method = "grid"
runs = 4
repetitions = 1

[learn]
policy = "cost"
targets = ["walltime", "peak_memory", "loss"]
interval = 0.9
site = "local"
formulas = { walltime = "1.5 + terms * loss" }
"#;

/// A sample that has to be right.
pub(crate) fn sound(text: &str) -> Experiment {
    match parse("harp.toml", text) {
        Ok(checked) => checked.experiment,
        Err(found) => panic!("{}", found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
    }
}

/// What is said about a file, one line each, errors and warnings alike.
pub(crate) fn said(text: &str) -> Vec<String> {
    let found = match parse("harp.toml", text) {
        Ok(checked) => checked.warnings,
        Err(found) => found,
    };
    found.iter().map(ToString::to_string).collect()
}
