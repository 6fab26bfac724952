//! The checked experiment: what every later step relies on without looking again.

use std::collections::BTreeMap;

use harp_core::{Allocation, Bytes, Configuration, Money, Policy, Scale, Seconds, Target};

use crate::{Expression, MetricRule, Parameter, Position, Program, Template};

/// An experiment that passed every check the text alone allows.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// Its name, which is the application's.
    pub name: String,
    /// The name of the file it was read from, for messages.
    pub file: String,
    /// The program.
    pub program: Program,
    /// Figures taken from what the program leaves.
    pub metrics: Vec<MetricRule<Template>>,
    /// The parameters in the order they are declared.
    pub parameters: Vec<Parameter>,
    /// What must be true for a combination to be run.
    pub constraints: Vec<Constraint>,
    /// The resources to vary, at each scale.
    pub resources: BTreeMap<Scale, Resources>,
    /// Which configurations are run, at each scale.
    pub designs: BTreeMap<Scale, Design>,
    /// How the whole sweep is run.
    pub schedule: Schedule,
    /// What is learned from it.
    pub learn: Learn,
    /// Indices of the computed parameters, each after those it uses.
    pub(crate) computation_order: Vec<usize>,
    /// Where things stand in the file that are only found wrong later.
    pub(crate) places: Places,
}

/// A rule between parameters and resources.
#[derive(Debug, Clone, PartialEq)]
pub struct Constraint {
    /// What must be true.
    pub expression: Expression,
    /// Where it is written.
    pub position: Position,
}

/// Where things stand in the file, in the order the program lists them.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Places {
    pub(crate) command: Position,
    pub(crate) inputs: Vec<Position>,
    pub(crate) templates: Vec<Position>,
}

/// The values each resource takes; empty is not asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resources {
    /// Whole nodes.
    pub nodes: Vec<u32>,
    /// Processes per node.
    pub tasks: Vec<u32>,
    /// Processor cores per node, pinned.
    pub cores: Vec<u32>,
    /// Threads the program is told to use.
    pub threads: Vec<u32>,
    /// Memory limits per node.
    pub memory: Vec<Bytes>,
    /// GPUs per node.
    pub gpus: Vec<u32>,
    /// Kinds of GPU, as a scheduler calls them.
    pub gpu_kind: Vec<String>,
    /// Node types of the site.
    pub node_type: Vec<String>,
    /// Features a scheduler is to look for in nodes.
    pub constraint: Vec<String>,
}

/// How configurations are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// Every combination.
    #[default]
    Grid,
    /// Independent draws.
    Random,
    /// One draw in each of as many slices as there are runs, in every dimension.
    LatinHypercube,
    /// Points that fill the space evenly however many are taken.
    Sobol,
}

/// Which configurations of one scale are run, how often and how long.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    /// How they are chosen.
    pub method: Method,
    /// How many configurations at most.
    pub runs: Option<u32>,
    /// What they may use together.
    pub budget: Budget,
    /// How often each is run.
    pub repetitions: u32,
    /// When a run is ended.
    pub timeout: Option<Seconds>,
    /// Where the design is described.
    pub position: Position,
}

/// What the runs of one scale may use together; both hold if both are given.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// Their walltimes added up.
    pub time: Option<Seconds>,
    /// Their prices added up.
    pub cost: Option<Money>,
}

/// How the whole sweep is run.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// Where all chance comes from: the same seed, the same sweep.
    pub seed: u64,
    /// When the sweep stops starting runs and ends the one that is running.
    pub total_timeout: Option<Seconds>,
    /// How many runs at once.
    pub parallel: Parallel,
    /// What runs after what.
    pub order: Order,
}

/// What runs after what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Scale after scale, the small runs first.
    #[default]
    ByScale,
    /// The runs of all scales among each other.
    Mixed,
}

/// How many runs at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Parallel {
    /// At most that many, each on cores of its own.
    Runs(u32),
    /// As many as fit on the cores without sharing one.
    Auto,
}

/// What is learned from the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Learn {
    /// How the model is chosen.
    pub policy: Policy,
    /// What is predicted.
    pub targets: Vec<Target>,
    /// The probability that the truth lies in a prediction's interval.
    pub interval: f64,
    /// The site whose prices and limits count.
    pub site: Option<String>,
    /// How targets are put together from components.
    pub formulas: Vec<TargetFormula>,
}

/// A target as a formula of what the program reports.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetFormula {
    /// The target.
    pub target: Target,
    /// The formula as written.
    pub text: String,
    /// The metrics in it.
    pub components: Vec<String>,
}

/// One run to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedRun {
    /// What to run.
    pub configuration: Configuration,
    /// Which repetition of it, from 0.
    pub repetition: u32,
}

impl Experiment {
    /// The scales that have values, in the order they run.
    pub fn scales(&self) -> Vec<Scale> {
        self.designs.keys().copied().collect()
    }

    /// What identifies the application in the history: its name, with the version if one is given.
    pub fn application(&self) -> String {
        match &self.program.version {
            Some(version) => format!("{}@{version}", self.name),
            None => self.name.clone(),
        }
    }
}

impl Resources {
    /// Names of the resources that are asked for.
    pub fn names(&self) -> Vec<&'static str> {
        let first = Allocation {
            nodes: self.nodes.first().copied(),
            tasks: self.tasks.first().copied(),
            cores: self.cores.first().copied(),
            threads: self.threads.first().copied(),
            memory: self.memory.first().copied(),
            gpus: self.gpus.first().copied(),
            gpu_kind: self.gpu_kind.first().cloned(),
            node_type: self.node_type.first().cloned(),
            constraint: self.constraint.first().cloned(),
        };
        first.entries().into_iter().map(|(name, _)| name).collect()
    }
}
