//! One file a command. Each takes its arguments, calls rooms, and prints.

mod ablate;
mod advise;
mod backtest;
mod build;
mod demo;
mod dnn;
mod generate;
mod history;
mod host;
mod import;
mod init;
mod models;
mod plan;
mod predict;
mod recommend;
mod reference;
mod reuse;
mod run;
mod simulate;
mod site;
mod status;
mod submit;
mod trace;
mod within_job;

use std::process::ExitCode;

pub use build::recorded_runs;
pub use site::find as find_site;
pub use within_job::within_job;

use crate::arguments::Command;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// What goes without saying: on a machine with Slurm, what the past jobs say.
pub fn usual() -> Option<Command> {
    advise::is_possible().then(|| Command::Advise(advise::usual()))
}

/// Carries out a command.
pub fn run(command: Command, terminal: &Terminal) -> Result<ExitCode, Failure> {
    match command {
        Command::Demo(arguments) => demo::demo(&arguments, terminal)?,
        Command::Init(arguments) => init::init(&arguments, terminal)?,
        Command::Plan(arguments) => plan::plan(&arguments, terminal)?,
        Command::Generate(arguments) => return generate::generate(&arguments, terminal),
        Command::Status(arguments) => status::status(&arguments, terminal)?,
        Command::Build(arguments) => build::build(&arguments, terminal)?,
        Command::Ablate(arguments) => ablate::ablate(&arguments, terminal)?,
        Command::Backtest(arguments) => backtest::backtest(&arguments, terminal)?,
        Command::Models(arguments) => models::models(&arguments, terminal)?,
        Command::Predict(arguments) => predict::predict(&arguments, terminal)?,
        Command::Recommend(arguments) => recommend::recommend(&arguments, terminal)?,
        Command::Submit(arguments) => return submit::submit(&arguments, terminal),
        Command::Advise(arguments) => advise::advise(&arguments, terminal)?,
        Command::Run(arguments) => return run::run(&arguments, terminal),
        Command::History(arguments) => history::history(&arguments, terminal)?,
        Command::Dnn(arguments) => return dnn::dnn(&arguments, terminal),
        Command::Trace(arguments) => trace::trace(&arguments, terminal)?,
        Command::Simulate(arguments) => simulate::simulate(&arguments, terminal)?,
        Command::Import(arguments) => import::import(&arguments, terminal)?,
        Command::Site(arguments) => site::site(&arguments, terminal)?,
        Command::Host => host::host(terminal)?,
        Command::Schema => reference::schema(terminal)?,
        Command::Reference => reference::reference(terminal)?,
        Command::Completions(arguments) => reference::completions(&arguments, terminal)?,
        Command::Man(arguments) => reference::man(&arguments, terminal)?,
        Command::Example(arguments) => return Ok(demo::example(&arguments)),
    }
    Ok(ExitCode::SUCCESS)
}
