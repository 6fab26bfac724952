//! Machines as features: what `harp site bench` measured lets a model of runs on several machines predict
//! on one it has no run of. Until there is one, the interval is as wide as leaving out a known machine
//! shows it must be.

use std::collections::{BTreeMap, BTreeSet};

use harp_core::{Descriptors, Distribution, Prediction, Run, Target, Value};
use harp_history::Recorded;
use harp_learn::{Learned, ModelFile};
use harp_report::text::number;
use harp_site::Site;

use crate::failure::{Exit, Failure};
use crate::project::Project;

/// What names of features of machines begin with.
const PREFIX: &str = "machine_";
const CORES: &str = "machine_cores";
/// Half the width of a 90 % interval, in standard deviations.
const HALF_OF_90: f64 = 1.645;

/// Rates within this factor are those of one machine measured twice.
const ALIKE: f64 = 1.25;

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

    /// Those a model is asked about: the ones it learned from as they were then, others as far as they differ.
    pub fn known_to(project: &Project, model: &ModelFile) -> Machines {
        let mut all = Machines::all(project);
        let learned = model.learned.as_ref().map(|learned| &learned.machines);
        for (name, features) in learned.into_iter().flatten() {
            all.0.insert(name.clone(), features.clone());
        }
        all
    }

    /// Rates no farther apart than one that is measured twice become the same.
    fn put_alike_together(&mut self) {
        let names: BTreeSet<String> = self.0.values().flat_map(|features| features.keys().cloned()).collect();
        for name in names {
            let mut rates: Vec<f64> = self.0.values().filter_map(|features| rate(features, &name)).collect();
            rates.sort_by(f64::total_cmp);
            let alike = rates.chunk_by(|left, right| right / left <= ALIKE);
            let middles: Vec<(f64, f64)> = alike
                .filter_map(|rates| {
                    let middle = rates.iter().map(|rate| rate.ln()).sum::<f64>() / rates.len() as f64;
                    Some((*rates.last()?, if rates.len() > 1 { middle.exp() } else { rates[0] }))
                })
                .collect();
            for features in self.0.values_mut() {
                let Some(own) = rate(features, &name) else { continue };
                if let Some((_, middle)) = middles.iter().find(|(last, _)| own <= *last) {
                    features.insert(name.clone(), Value::Real(*middle));
                }
            }
        }
    }

    /// The features of all, by name.
    pub fn features(self) -> BTreeMap<String, Features> {
        self.0
    }

    /// Those that tell runs apart: none, unless runs were made on several that differ.
    pub fn telling(project: &Project, recorded: &[Recorded]) -> Machines {
        let mut all = Machines::all(project);
        let hosts: BTreeSet<&str> = recorded.iter().map(|recorded| recorded.run.host.as_str()).collect();
        all.0.retain(|name, _| hosts.contains(name.as_str()));
        all.put_alike_together();
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
                let several = model.learned.as_ref().is_some_and(|learned| learned.hosts.len() > 1);
                let known = if several { "machines with the same rates" } else { "one machine" };
                let little = format!("the model knows {known}: nothing says what `{name}` does to run times");
                return Err(Failure::bad_input(little).exit(Exit::NotEnoughEvidence).hint(
                    "on two machines or more that differ: `harp site bench` and some runs, then `harp build`",
                ));
            }
            None if !uses_machines => return Ok(Machine::default()),
            Some(name) => name.to_owned(),
            None => harp_measure::host().name,
        };
        let measured = Machines::all(project);
        let machines = Machines::known_to(project, model);
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
            let same = |host: &String| *host == name || measured.0.get(host) == Some(&features);
            learned.hosts.iter().any(same)
        });
        let features = if is_learned { features } else { as_known(features, learned) };
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

/// What was measured as a rate; processors are counted.
fn rate(features: &Features, name: &str) -> Option<f64> {
    let measured = features.get(name).filter(|_| name != CORES)?;
    measured.as_number().filter(|rate| *rate > 0.0)
}

/// Rates of a machine, each that of a machine learned from where it is no farther off than one measured twice.
fn as_known(features: Features, learned: Option<&Learned>) -> Features {
    let nearest = |name: &str, own: f64| {
        let known = learned.into_iter().flat_map(|learned| learned.machines.values());
        let known = known.filter_map(|features| rate(features, name));
        let apart = |known: f64| (own / known).ln().abs();
        known.filter(|known| apart(*known) <= ALIKE.ln()).min_by(|l, r| apart(*l).total_cmp(&apart(*r)))
    };
    let each = features.into_iter().map(|(name, value)| {
        let known = value.as_number().filter(|_| name != CORES).and_then(|own| nearest(&name, own));
        (name, known.map_or(value, Value::Real))
    });
    each.collect()
}

fn is_time(target: &Target) -> bool {
    matches!(target, Target::Walltime | Target::CpuTime)
}

fn features(descriptors: &Descriptors) -> Features {
    let wanted = ["cores", "floating_gflops", "bandwidth_gbs", "gpu_tflops"];
    let entries = descriptors.entries().into_iter().filter(|(name, _)| wanted.contains(name));
    entries.map(|(name, value)| (format!("{PREFIX}{name}"), Value::Real(value))).collect()
}
