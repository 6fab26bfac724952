//! Resources, designs and learning: what holds at each scale once overrides are put on top.

use std::collections::{BTreeMap, BTreeSet};

use harp_core::{Money, Policy, Scale, Seconds, Target};

use crate::design::{self, sobol};
use crate::experiment::{Budget, Design, Learn, Method, Order, Parallel, Resources, Schedule};
use crate::spec::{AllocationSpec, DesignSpec, Located, ParallelSpec, Sink, Spec, Written};
use crate::{Domain, MetricRule, Parameter, Position, Template, suggest};

/// The resources at each scale.
pub(super) fn resources(spec: &Spec, scales: &BTreeSet<Scale>) -> BTreeMap<Scale, Resources> {
    let none = AllocationSpec::default();
    let at = |scale: &Scale| {
        let own = spec.scale_allocations.get(scale).unwrap_or(&none);
        fn pick<T: Clone + PartialEq>(own: &Written<Vec<T>>, common: &Written<Vec<T>>) -> Vec<T> {
            let mut values: Vec<T> = Vec::new();
            for value in own.as_ref().or(common.as_ref()).into_iter().flat_map(|written| &written.value) {
                if !values.contains(value) {
                    values.push(value.clone());
                }
            }
            values
        }
        Resources {
            nodes: pick(&own.nodes, &spec.allocation.nodes),
            tasks: pick(&own.tasks, &spec.allocation.tasks),
            cores: pick(&own.cores, &spec.allocation.cores),
            threads: pick(&own.threads, &spec.allocation.threads),
            memory: pick(&own.memory, &spec.allocation.memory),
            gpus: pick(&own.gpus, &spec.allocation.gpus),
            gpu_kind: pick(&own.gpu_kind, &spec.allocation.gpu_kind),
            node_type: pick(&own.node_type, &spec.allocation.node_type),
            constraint: pick(&own.constraint, &spec.allocation.constraint),
        }
    };
    scales.iter().map(|scale| (*scale, at(scale))).collect()
}

/// More combinations than this are a mistake: nobody runs as many.
const MOST_RUNS: i64 = 100_000;

/// The design at each scale.
pub(super) fn designs(
    spec: &Spec,
    scales: &BTreeSet<Scale>,
    parameters: &[Parameter],
    resources: &BTreeMap<Scale, Resources>,
    sink: &mut Sink<'_>,
) -> BTreeMap<Scale, Design> {
    let none = DesignSpec::default();
    let mut designs = BTreeMap::new();
    for scale in scales {
        let own = spec.scale_designs.get(scale).unwrap_or(&none);
        let place = place_of(own).or_else(|| place_of(&spec.design)).unwrap_or(0);
        let design = merged(own, &spec.design, sink.position(place));
        if let Some(runs) =
            own.runs.as_ref().or(spec.design.runs.as_ref()).filter(|runs| runs.value > MOST_RUNS)
        {
            sink.error(runs.start(), format!("more than {MOST_RUNS} runs"), "ask for fewer");
        }
        let varied = design::varied(parameters, resources.get(scale), *scale);
        if design.method == Method::Grid {
            report_ranges_without_count(parameters, spec, *scale, sink);
        } else if design.runs.is_none() && design.budget == Budget::default() {
            sink.error(
                place,
                format!("nothing says how many runs there are at scale `{scale}`"),
                "add  runs = 40,  budget_time = \"10m\"  or  budget_cost = 2  under [design]",
            );
        } else if design.method == Method::Sobol && varied > sobol::MOST_DIMENSIONS {
            sink.error(
                place,
                format!(
                    "{varied} things vary and Sobol points have at most {} dimensions",
                    sobol::MOST_DIMENSIONS
                ),
                "use  method = \"latin-hypercube\"",
            );
        }
        designs.insert(*scale, design);
    }
    designs
}

/// Where a design is described, by its first key.
fn place_of(design: &DesignSpec) -> Option<usize> {
    let places = [
        design.method.as_ref().map(Located::start),
        design.runs.as_ref().map(Located::start),
        design.budget_time.as_ref().map(Located::start),
        design.budget_cost.as_ref().map(Located::start),
    ];
    places.into_iter().flatten().min()
}

fn merged(own: &DesignSpec, common: &DesignSpec, position: Position) -> Design {
    fn pick<'a, T>(own: &'a Written<T>, common: &'a Written<T>) -> Option<&'a T> {
        own.as_ref().or(common.as_ref()).map(|written| &written.value)
    }
    // An own limit replaces every common one: runs at one scale, a budget at the others.
    let limited = own.runs.is_some() || own.budget_time.is_some() || own.budget_cost.is_some();
    let limits = if limited { own } else { common };
    Design {
        method: match pick(&own.method, &common.method).map(String::as_str) {
            Some("random") => Method::Random,
            Some("latin-hypercube") => Method::LatinHypercube,
            Some("sobol") => Method::Sobol,
            _ => Method::Grid,
        },
        runs: limits.runs.as_ref().map(|runs| clamp(runs.value)),
        budget: Budget {
            time: limits.budget_time.as_ref().map(|time| time.value),
            cost: limits.budget_cost.as_ref().map(|cost| Money(cost.value)),
        },
        repetitions: pick(&own.repetitions, &common.repetitions).map_or(1, |count| clamp(*count)),
        timeout: pick(&own.timeout, &common.timeout).copied(),
        position,
    }
}

fn clamp(count: i64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn report_ranges_without_count(parameters: &[Parameter], spec: &Spec, scale: Scale, sink: &mut Sink<'_>) {
    for parameter in parameters {
        let Some(Domain::Range(range)) = parameter.values.get(&scale) else { continue };
        if range.count.is_some() {
            continue;
        }
        let written = spec.parameters.iter().find(|(name, _)| name.value == parameter.name);
        let place = written.and_then(|(_, written)| written.scales.get(&scale).or(written.values.as_ref()));
        sink.error(
            place.map_or(0, Located::start),
            format!("a grid needs to know how many values `{}` has", parameter.name),
            "add  count = 5  to the range, or choose another  method  under [design]",
        );
    }
}

/// How the sweep is run.
pub(super) fn schedule(spec: &Spec) -> Schedule {
    let design = &spec.design;
    Schedule {
        seed: design.seed.as_ref().map_or(0, |seed| seed.value.unsigned_abs()),
        total_timeout: design.total_timeout.as_ref().map(|limit: &Located<Seconds>| limit.value),
        parallel: match design.parallel.as_ref().map(|parallel| parallel.value) {
            Some(ParallelSpec::Auto) => Parallel::Auto,
            Some(ParallelSpec::Count(count)) => Parallel::Runs(clamp(count)),
            None => Parallel::Runs(1),
        },
        order: match design.order.as_ref().map(|order| order.value.as_str()) {
            Some("mixed") => Order::Mixed,
            _ => Order::ByScale,
        },
    }
}

/// What people call the targets harp measures itself.
fn synonym(word: &str) -> Option<&'static str> {
    match word.to_lowercase().replace(['-', ' '], "_").as_str() {
        "memory" | "mem" | "ram" | "rss" | "max_rss" | "maxrss" | "peak_mem" | "memory_peak"
        | "max_memory" => Some("peak_memory"),
        "time" | "runtime" | "run_time" | "wall_time" | "wall" | "elapsed" | "duration" | "seconds" => {
            Some("walltime")
        }
        "cpu" | "cputime" | "core_time" | "processor_time" => Some("cpu_time"),
        _ => None,
    }
}

/// What is learned.
pub(super) fn learn(spec: &Spec, metrics: &[MetricRule<Template>], sink: &mut Sink<'_>) -> Learn {
    let mut targets = Vec::new();
    for written in spec.learn.targets.iter().flatten() {
        let Ok(target) = written.value.parse::<Target>();
        let known = ["walltime", "peak_memory", "cpu_time"].into_iter();
        let mut known = known.chain(spec.metrics.iter().map(|(name, _)| name.value.as_str()));
        if known.any(|name| name == written.value) {
            if !targets.contains(&target) {
                targets.push(target);
            }
            continue;
        }
        let names = ["walltime", "peak_memory", "cpu_time"].into_iter();
        let all: Vec<&str> = names.chain(metrics.iter().map(|one| one.name.as_str())).collect();
        let close = synonym(&written.value).or_else(|| suggest::closest(&written.value, all));
        let hint = match close {
            Some(close) => format!("did you mean \"{close}\"?"),
            None => format!("describe it with  [metrics.{}]", written.value),
        };
        sink.error(written.start(), format!("there is no metric `{}`", written.value), hint);
    }
    if targets.is_empty() {
        targets = vec![Target::Walltime, Target::PeakMemory];
    }
    Learn {
        policy: spec.learn.policy.as_ref().map_or_else(Policy::default, |policy| policy.value),
        targets,
        interval: spec.learn.interval.as_ref().map_or(0.9, |interval| interval.value),
        site: spec.learn.site.as_ref().map(|site| site.value.clone()),
        formulas: Vec::new(),
    }
}
