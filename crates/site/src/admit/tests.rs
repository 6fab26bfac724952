use super::*;
use crate::{Charge, GpuType, Rule, Scheduler};

const GIB: u64 = 1 << 30;

fn site() -> Site {
    let node = |name: &str, cores, gib, gpus: u32| NodeType {
        name: name.into(),
        cores: Some(cores),
        memory: Some(Bytes(gib * GIB)),
        gpus: (gpus > 0).then(|| GpuType { kind: "V100".into(), count: gpus, memory: None, gres: None }),
        ..NodeType::default()
    };
    let partition = |name: &str, nodes: &[&str]| {
        Partition::new(name, nodes.iter().map(|&name| name.to_owned()).collect())
    };
    Site {
        name: "test".into(),
        description: String::new(),
        source: None,
        date: None,
        unit: "SU".into(),
        scheduler: Scheduler::Slurm,
        memory: MemoryOption::Allowed,
        exclusive: false,
        unknown: Vec::new(),
        charge: Charge::per(Rule::core_hours(1.0, Some(1.0))),
        node_types: vec![node("cpu", 40, 160, 0), node("gpu", 48, 384, 2), node("closed", 8, 8, 0)],
        partitions: vec![
            Partition {
                max_nodes: Some(1),
                max_time: Some(Seconds(3600.0)),
                ..partition("serial", &["cpu"])
            },
            Partition { min_nodes: Some(2), ..partition("parallel", &["cpu"]) },
            Partition { min_gpus: Some(1), max_cores: Some(24), ..partition("gpu", &["gpu"]) },
        ],
    }
}

fn kinds(admission: &Admission) -> Vec<&'static str> {
    admission.refusals.iter().map(|refusal| refusal.reason.kind()).collect()
}

fn places(admission: &Admission) -> Vec<&str> {
    admission.placements.iter().filter_map(|placement| placement.partition.as_deref()).collect()
}

#[test]
fn each_place_admits_or_says_why_not() {
    let one_core = Allocation { cores: Some(1), ..Allocation::default() };
    let admission = site().admit(&one_core, None);
    assert_eq!(places(&admission), ["serial"]);
    assert_eq!(kinds(&admission), ["too_few_nodes", "too_few_gpus", "no_partition"]);

    let two_nodes = Allocation { nodes: Some(2), ..one_core.clone() };
    assert_eq!(places(&site().admit(&two_nodes, None)), ["parallel"]);

    let with_gpu = Allocation { gpus: Some(1), ..one_core.clone() };
    assert_eq!(places(&site().admit(&with_gpu, None)), ["gpu"]);
    let many = Allocation { cores: Some(30), ..with_gpu.clone() };
    let refusals = site().admit(&many, None).refusals;
    assert_eq!(refusals[2].reason.to_string(), "30 cores asked for, a node gives 24");

    let three_gpus = Allocation { gpus: Some(3), node_type: Some("gpu".into()), ..one_core.clone() };
    let refusals = site().admit(&three_gpus, None).refusals;
    assert_eq!(refusals[0].reason.to_string(), "3 GPUs asked for, a node has 2");

    let big = Allocation { memory: Some(Bytes(161 * GIB)), ..one_core.clone() };
    assert_eq!(kinds(&site().admit(&big, None))[0], "too_much_memory");

    let long = site().admit(&one_core, Some(Seconds(3601.0)));
    assert_eq!(kinds(&long)[0], "too_long");
    assert!(site().admit(&one_core, Some(Seconds(3600.0))).refusals.len() == 3);

    let nothing = Allocation { cores: Some(0), ..Allocation::default() };
    assert_eq!(kinds(&site().admit(&nothing, None))[0], "nothing_asked_for");
}

#[test]
fn an_unknown_node_type_is_named_with_those_that_exist() {
    let moon = Allocation { node_type: Some("moon".into()), ..Allocation::default() };
    let admission = site().admit(&moon, None);
    let words = admission.refusals[0].reason.to_string();
    assert_eq!(words, "the site has no node type `moon`; it has cpu, gpu, closed");
}

#[test]
fn where_memory_cannot_be_asked_for_the_share_must_do() {
    let forbidden = Site { memory: MemoryOption::Forbidden, ..site() };
    let request = |cores, gib| Allocation {
        cores: Some(cores),
        memory: Some(Bytes(gib * GIB)),
        node_type: Some("cpu".into()),
        ..Allocation::default()
    };
    assert_eq!(kinds(&forbidden.admit(&request(1, 8), None))[0], "memory_not_askable");
    assert_eq!(places(&forbidden.admit(&request(2, 8), None)), ["serial"]);
    let exclusive = Site { exclusive: true, ..forbidden };
    assert_eq!(places(&exclusive.admit(&request(1, 160), None)), ["serial"]);
}

#[test]
fn the_word_for_a_reason_is_the_one_in_json() {
    for refusal in site().admit(&Allocation { gpus: Some(9), ..Allocation::default() }, None).refusals {
        let json = serde_json::to_value(&refusal.reason).unwrap();
        assert_eq!(json["reason"], refusal.reason.kind());
    }
}
