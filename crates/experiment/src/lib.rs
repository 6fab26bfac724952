//! The experiment file: read, checked, and turned into the list of configurations to run.
//!
//! The file `harp.toml` is read once into what was written, checked as a whole, and from
//! then on is an [`Experiment`] that cannot be wrong: its placeholders have values, its patterns
//! compile, its expressions refer to things that exist. An experiment gives the configurations to
//! run and, for each, what to execute ([`Rendered`]).
//!
//! This room only handles text. It never reads a file, a clock or the environment and starts no
//! process: callers hand it texts, and closures for what only they can know.
//!
//! ```
//! use std::path::Path;
//!
//! use harp_experiment::{Execute, Place, Surroundings, parse};
//!
//! let text = r#"
//! name = "euler"
//! [program]
//! command = "euler --terms {terms}"
//! [parameters.terms]
//! sd = [100, 200]
//! fs = [100000]
//! "#;
//! let experiment = parse("harp.toml", text).map_err(|found| found[0].clone())?.experiment;
//! let plan = experiment.plan(&experiment.scales(), &Surroundings::default())?;
//! assert_eq!(plan.runs.len(), 3);
//!
//! let place = Place { experiment_directory: Path::new("/home/me"), run_directory: Path::new("/tmp/run") };
//! let last = experiment.render(&plan.runs[2].configuration, &place, &|_| None)?;
//! assert_eq!(last.execute, Execute::Words(vec!["euler".into(), "--terms".into(), "100000".into()]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod design;
mod diagnostic;
mod experiment;
mod expression;
mod initial;
mod keys;
mod metric;
mod parameter;
mod program;
mod reference;
mod render;
mod schema;
mod shell;
mod spec;
mod suggest;
mod template;
mod words;

#[cfg(test)]
mod samples;

pub use check::{Checked, Files, Startable, parse};
pub use design::{Plan, Surroundings};
pub use diagnostic::{Diagnostic, Position, Severity};
pub use experiment::{
    Budget, Constraint, Design, Experiment, Learn, Method, Order, Parallel, PlannedRun, Resources, Schedule,
    TargetFormula,
};
pub use expression::{Expression, ExpressionError};
pub use initial::{Initial, init_from_command};
pub use metric::MetricError;
pub use parameter::{Delivery, Domain, Kind, Parameter, Range, Spacing};
pub use program::{
    Command, Extraction, Input, JsonPath, JsonStep, MetricRule, Pattern, Placing, Program, Source,
    SuccessRule, Take, TemplateFile,
};
pub use reference::reference_markdown;
pub use render::{Execute, FilledFile, Place, RenderError, Rendered, Setup};
pub use schema::schema;
pub use template::{Template, TemplateError};
