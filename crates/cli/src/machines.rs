//! Machines as features: what `harp site bench` measured lets a model of runs on several machines predict
//! on one it has no run of. Until there is one, the interval is as wide as leaving out a known machine
//! shows it must be.

use std::collections::{BTreeMap, BTreeSet};

use harp_core::{Descriptors, Distribution, Prediction, Run, Target, Value};
use harp_history::Recorded;
use harp_learn::ModelFile;
use harp_report::text::number;
use harp_site::Site;

use crate::failure::{Exit, Failure};
use crate::project::Project;

/// What names of features of machines begin with.
const PREFIX: &str = "machine_";
/// Half the width of a 90 % interval, in standard deviations.
const HALF_OF_90: f64 = 1.645;

type Features = BTreeMap<String, Value>;

/// The machines something was measured of, by name.
#[derive(Default)]
pub struct Machines(BTreeMap<String, Features>);

impl Machines {
    /// All of an experiment's history. What cannot be read is not worth stopping for.
    pub fn all(project: &Project) -> Machines {
        let history = project.read_history().ok().flatten();
        let machines = history.and_then(|history| history.machines().ok()).unwrap_or_default();
        Machines(machines.into_iter().map(|(name, measured)| (name, features(&measured))).collect())
    }

    /// Those that tell runs apart: none, unless runs were made on several that differ.
    pub fn telling(project: &Project, recorded: &[Recorded]) -> Machines {
        let mut all = Machines::all(project);
        let hosts: BTreeSet<&str> = recorded.iter().map(|recorded| recorded.run.host.as_str()).collect();
        all.0.retain(|name, _| hosts.contains(name.as_str()));
        let differ = all.0.values().zip(all.0.values().skip(1)).any(|(left, right)| left != right);
        if differ { all } else { Machines::default() }
    }

    /// Features of the machine a run was made on, as far as it was measured.
    pub fn further(&self, run: &Run) -> Features {
        self.0.get(&run.host).cloned().unwrap_or_default()
    }

    /// Names of the machines.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// The machine a case is predicted on.
#[derive(Default)]
pub struct Machine {
    features: Features,
    new: Option<New>,
}

/// A machine no run was learned from.
struct New {
    name: String,
    spread: f64,
}

impl Machine {
    /// A machine of the history or a node type of a site, by name; without one, this machine. Models of
    /// runs on one machine know nothing of others and need nothing.
    pub fn find(
        project: &Project,
        model: &ModelFile,
        site: Option<&Site>,
        name: Option<&str>,
    ) -> Result<Machine, Failure> {
        let uses_machines = model.features.iter().any(|feature| feature.starts_with(PREFIX));
        let is_asked_for = name.is_some();
        let name = match name {
            Some(name) if !uses_machines => {
                let one =
                    format!("the model knows one machine: nothing says what `{name}` does to run times");
                return Err(Failure::bad_input(one)
                    .exit(Exit::NotEnoughEvidence)
                    .hint("on two machines or more: `harp site bench` and some runs, then `harp build`"));
            }
            None if !uses_machines => return Ok(Machine::default()),
            Some(name) => name.to_owned(),
            None => harp_measure::host().name,
        };
        let machines = Machines::all(project);
        let of_site = || {
            let node = site?.node_type(&name)?;
            let stated = node.descriptors?;
            let cores = stated.cores.or(node.cores.map(f64::from));
            Some(features(&Descriptors { cores, ..stated }))
        };
        let Some(features) = machines.0.get(&name).cloned().or_else(of_site) else {
            // Runs of machines that were not measured are among those it learned from.
            let of_machines = model.targets.iter().flat_map(|target| &target.features);
            let mut of_machines = of_machines.filter(|feature| feature.name.starts_with(PREFIX));
            if !is_asked_for && of_machines.all(|feature| feature.missing) {
                return Ok(Machine::default());
            }
            let known: Vec<&str> = machines.0.keys().map(String::as_str).collect();
            let unknown = format!("nothing was measured of the machine or node type `{name}`");
            return Err(Failure::bad_input(unknown).exit(Exit::NotEnoughEvidence).hint(format!(
                "run `harp site bench` there, or write `descriptors` into the node type of a site profile; known are {}",
                known.join(", ")
            )));
        };
        let learned = model.learned.as_ref();
        let is_learned = learned.is_some_and(|learned| {
            let same = |host: &String| *host == name || machines.0.get(host) == Some(&features);
            learned.hosts.iter().any(same)
        });
        let spread = learned.and_then(|learned| learned.new_machine).unwrap_or(std::f64::consts::LN_2);
        Ok(Machine { features, new: (!is_learned).then_some(New { name, spread }) })
    }

    /// Adds the machine's features to a case.
    pub fn add(&self, case: &mut Features) {
        case.extend(self.features.clone());
    }

    /// The prediction, wider where it is of time and the machine has no run yet.
    pub fn widened(&self, prediction: Prediction) -> Prediction {
        let Some(new) = self.new.as_ref().filter(|_| is_time(&prediction.target)) else { return prediction };
        let (low, high) = prediction.distribution.interval(0.9);
        let spread = ((high / low).ln() / (2.0 * HALF_OF_90)).max(1e-3);
        let factor = (spread * spread + new.spread * new.spread).sqrt() / spread;
        let level = 1.0 - prediction.risk_at_request();
        let wider = prediction
            .distribution
            .quantiles()
            .iter()
            .map(|&(at, value)| (at, prediction.estimate * (value / prediction.estimate).powf(factor)));
        match Distribution::new(wider.collect()) {
            Ok(distribution) => Prediction {
                request: distribution.quantile(level).max(prediction.request),
                distribution,
                ..prediction
            },
            Err(_) => prediction,
        }
    }

    /// What to know of a machine that has no run.
    pub fn note(&self) -> Option<String> {
        let new = self.new.as_ref()?;
        Some(format!(
            "no run was made on `{}`: run times there rest on its measured rates alone and may be off by a \
             factor of {} either way; one run there narrows the interval",
            new.name,
            number((HALF_OF_90 * new.spread).exp())
        ))
    }
}

fn is_time(target: &Target) -> bool {
    matches!(target, Target::Walltime | Target::CpuTime)
}

fn features(descriptors: &Descriptors) -> Features {
    let wanted = ["cores", "floating_gflops", "bandwidth_gbs", "gpu_tflops"];
    let entries = descriptors.entries().into_iter().filter(|(name, _)| wanted.contains(name));
    entries.map(|(name, value)| (format!("{PREFIX}{name}"), Value::Real(value))).collect()
}
