//! A parameter of an experiment: its kind, its values at each scale, and how the program gets it.

use std::collections::BTreeMap;
use std::fmt;

use harp_core::{Scale, Value};

use crate::{Expression, Position};

/// What values a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Whole numbers.
    Integer,
    /// Real numbers.
    Real,
    /// Texts, one of a few.
    Text,
    /// True or false.
    Boolean,
    /// Paths of files; their sizes are known as `<name>_bytes`.
    File,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 5] = [Kind::Integer, Kind::Real, Kind::Text, Kind::Boolean, Kind::File];

    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Integer => "integer",
            Kind::Real => "real",
            Kind::Text => "text",
            Kind::Boolean => "boolean",
            Kind::File => "file",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// A parameter of the program.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// What values it takes.
    pub kind: Kind,
    /// The values at each scale of the experiment; empty if it is computed.
    pub values: BTreeMap<Scale, Domain>,
    /// How it is computed from others, if it is.
    pub expression: Option<Expression>,
    /// How the program gets it besides placeholders; empty for placeholders alone.
    pub delivery: Vec<Delivery>,
    /// Where it is declared.
    pub position: Position,
}

/// How the program gets a parameter besides placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// `--name value`, or `--name=value` if the option ends with `=`; for a boolean the bare option
    /// if true and nothing if false.
    Option(String),
    /// A word of its own after all options.
    Argument,
    /// An environment variable.
    Environment(String),
}

/// The values a parameter may take at one scale.
#[derive(Debug, Clone, PartialEq)]
pub enum Domain {
    /// These values and no others.
    Levels(Vec<Value>),
    /// An interval.
    Range(Range),
}

/// An interval of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Range {
    /// The lower end, included.
    pub from: f64,
    /// The upper end, included.
    pub to: f64,
    /// How values are spread.
    pub spacing: Spacing,
    /// Only whole numbers.
    pub integer: bool,
    /// How many values a grid takes from it.
    pub count: Option<u32>,
}

/// How values are spread over an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Spacing {
    /// Equal differences.
    #[default]
    Linear,
    /// Equal ratios.
    Geometric,
}
