use super::*;
use proptest::prelude::*;

const GIB: u64 = 1 << 30;

fn study_rule() -> Charge {
    Charge::per(Rule::CoreHours {
        core_hour: 0.003,
        gpu_hour: Some(0.09),
        memory_counts: true,
        whole_cores: false,
        whole_nodes: true,
    })
}

fn node(cores: u32, memory_gib: u64, gpus: u32) -> NodeType {
    let gpus =
        (gpus > 0).then(|| crate::GpuType { kind: "V100".into(), count: gpus, memory: None, gres: None });
    NodeType {
        name: "node".into(),
        cores: Some(cores),
        memory: Some(Bytes(memory_gib * GIB)),
        gpus,
        ..NodeType::default()
    }
}

fn asked(cores: u32, gpus: u32) -> Allocation {
    Allocation { cores: Some(cores), gpus: Some(gpus), ..Allocation::default() }
}

fn price(charge: &Charge, allocation: &Allocation, node: &NodeType, seconds: f64) -> f64 {
    charge.price(allocation, node, None, Seconds(seconds)).unwrap().0
}

#[test]
fn the_prices_of_the_study() {
    // HARP, PEARC'23: cores, one GPU each, seconds, dollars as printed to three decimals.
    let node = node(48, 192, 2);
    for (cores, seconds, dollars) in [
        (48, 685.0, 0.045),
        (28, 516.0, 0.025),
        (10, 516.0, 0.017),
        (48, 1225.0, 0.08),
        (28, 1180.0, 0.057),
        (10, 1237.0, 0.041),
    ] {
        let amount = price(&study_rule(), &asked(cores, 1), &node, seconds);
        assert!((amount - dollars).abs() <= 0.000_6, "{cores} cores, {seconds} s: {amount}");
    }
}

#[test]
fn memory_counts_as_the_cores_it_belongs_to() {
    // The site's own example: one core with 12 GB where 4 GB come with a core is charged as three.
    let node = node(40, 160, 0);
    let with_memory = |gib| Allocation { memory: Some(Bytes(gib * GIB)), ..asked(1, 0) };
    assert_eq!(price(&study_rule(), &with_memory(12), &node, 3600.0), 3.0 * 0.003);
    assert_eq!(price(&study_rule(), &with_memory(2), &node, 3600.0), 0.003);
    assert_eq!(price(&study_rule(), &with_memory(4000), &node, 3600.0), 40.0 * 0.003);
    let whole = Charge::per(Rule::CoreHours {
        core_hour: 1.0,
        gpu_hour: None,
        memory_counts: true,
        whole_cores: true,
        whole_nodes: false,
    });
    // "2 cores and 10 GB are granted 3 cores", and no rounding error makes a fourth.
    assert_eq!(
        price(&whole, &Allocation { memory: Some(Bytes(10 * GIB)), ..asked(2, 0) }, &node, 3600.0),
        3.0
    );
    assert_eq!(price(&whole, &with_memory(12), &node, 3600.0), 3.0);
}

#[test]
fn several_nodes_are_paid_whole() {
    let node = node(40, 160, 0);
    let two = Allocation { nodes: Some(2), ..asked(1, 0) };
    assert_eq!(price(&study_rule(), &two, &node, 3600.0), 80.0 * 0.003);
    assert_eq!(price(&Charge::per(Rule::core_hours(1.0, None)), &two, &node, 3600.0), 2.0);
    assert_eq!(price(&Charge::per(Rule::core_hours(1.0, None)), &Allocation::default(), &node, 3600.0), 40.0);
}

#[test]
fn node_hours_with_a_shortest_time_and_a_queue_factor() {
    // Stampede3: four nodes of the queue `spr` (2 SU an hour) for five minutes, at least 15 charged.
    let charge = Charge {
        rule: Rule::NodeHours { node_hour: Some(1.0) },
        billing: Billing { minimum_time: Seconds(900.0), ..Billing::default() },
    };
    let queue = Partition { factor: 2.0, ..Partition::new("spr", vec!["node".into()]) };
    let four = Allocation { nodes: Some(4), ..Allocation::default() };
    let amount = charge.price(&four, &node(112, 128, 0), Some(&queue), Seconds(300.0));
    assert_eq!(amount, Ok(Money(2.0)));
    let longer = charge.price(&four, &node(112, 128, 0), Some(&queue), Seconds(3600.0));
    assert_eq!(longer, Ok(Money(8.0)));
}

#[test]
fn billing_weights_are_summed_or_the_largest_counts() {
    // Delta, A100 nodes: the largest of GPUs, cores / 16 and GB / 62.5, here per GiB.
    let weights = Weights { core: 1.0 / 16.0, memory_gib: 1.0 / 62.5, gpu: 1.0, combine: Combine::Max };
    let charge = |weights| Charge::per(Rule::Weights { hour: 1.0, weights });
    let node = node(64, 250, 4);
    let request = Allocation { memory: Some(Bytes(125 * GIB)), ..asked(16, 1) };
    assert_eq!(price(&charge(weights), &request, &node, 3600.0), 2.0);
    let sum = Weights { combine: Combine::Sum, ..weights };
    assert_eq!(price(&charge(sum), &request, &node, 3600.0), 1.0 + 1.0 + 2.0);
    // A partition's own weights stand in place of the site's; unasked memory is the cores' share.
    let own = Weights { core: 0.0, memory_gib: 1.0, gpu: 0.0, combine: Combine::Sum };
    let partition = Partition { weights: Some(own), ..Partition::new("p", vec!["node".into()]) };
    let amount = charge(weights).price(&asked(32, 1), &node, Some(&partition), Seconds(3600.0));
    assert_eq!(amount, Ok(Money(125.0)));
}

#[test]
fn by_the_second_with_a_shortest_minute() {
    let charge = Charge {
        rule: Rule::core_hours(3600.0, None),
        billing: Billing { minimum_time: Seconds(60.0), increment: Seconds(1.0), minimum_charge: Money(0.0) },
    };
    let node = node(4, 16, 0);
    for (seconds, charged) in [(0.0, 60.0), (30.0, 60.0), (60.0, 60.0), (60.2, 61.0), (90.0, 90.0)] {
        let amount = price(&charge, &asked(1, 0), &node, seconds);
        assert!((amount - charged).abs() < 1e-9, "{seconds} s: {amount}");
    }
    let at_least = Billing { minimum_charge: Money(1.0), ..Billing::default() };
    let charge = Charge { rule: Rule::core_hours(1.0, None), billing: at_least };
    assert_eq!(price(&charge, &asked(1, 0), &node, 10.0), 1.0);
}

#[test]
fn a_missing_fact_is_no_price() {
    let charge = Charge::per(Rule::core_hours(1.0, None));
    let refused = |charge: &Charge, allocation: &Allocation, node: &NodeType| {
        charge.price(allocation, node, None, Seconds(1.0)).unwrap_err().reason
    };
    assert_eq!(refused(&charge, &asked(1, 1), &node(4, 16, 1)), "`gpu_hour` is not set");
    let unknown = NodeType { name: "x".into(), ..NodeType::default() };
    assert_eq!(refused(&charge, &Allocation::default(), &unknown), "its number of cores is not set");
    let nodes = Charge::per(Rule::NodeHours { node_hour: None });
    assert_eq!(refused(&nodes, &asked(1, 0), &unknown), "`node_hour` is not set");
    let told = NodeType { price_unknown: Some("rate not stated".into()), ..node(4, 16, 0) };
    assert_eq!(refused(&charge, &asked(1, 0), &told), "rate not stated");
    let own = NodeType { node_hour: Some(2.0), gpu_hour: Some(1.0), core_hour: Some(0.5), ..node(4, 16, 1) };
    assert_eq!(price(&nodes, &asked(1, 0), &own, 3600.0), 2.0);
    assert_eq!(price(&charge, &asked(2, 1), &own, 3600.0), 2.0);
}

fn any_charge() -> impl Strategy<Value = Charge> {
    let rate = 0.0..10.0f64;
    let core_hours = (rate.clone(), rate.clone(), any::<[bool; 3]>()).prop_map(|(core_hour, gpu, flags)| {
        Rule::CoreHours {
            core_hour,
            gpu_hour: Some(gpu),
            memory_counts: flags[0],
            whole_cores: flags[1],
            whole_nodes: flags[2],
        }
    });
    let node_hours = rate.clone().prop_map(|rate| Rule::NodeHours { node_hour: Some(rate) });
    let weights =
        (rate.clone(), rate.clone(), rate.clone(), any::<bool>()).prop_map(|(core, memory_gib, gpu, max)| {
            let combine = if max { Combine::Max } else { Combine::Sum };
            Rule::Weights { hour: 1.0, weights: Weights { core, memory_gib, gpu, combine } }
        });
    let billing =
        (0.0..1000.0f64, 0.0..100.0f64, 0.0..5.0f64).prop_map(|(minimum, increment, charge)| Billing {
            minimum_time: Seconds(minimum),
            increment: Seconds(increment),
            minimum_charge: Money(charge),
        });
    (prop_oneof![core_hours, node_hours, weights], billing)
        .prop_map(|(rule, billing)| Charge { rule, billing })
}

proptest! {
    #[test]
    fn a_longer_job_is_never_cheaper(
        charge in any_charge(),
        cores in 1u32..48,
        gpus in 0u32..4,
        nodes in 1u32..5,
        memory in prop::option::of(1u64..192),
        mut times in (0.0..1e6f64, 0.0..1e6f64),
    ) {
        if times.0 > times.1 {
            times = (times.1, times.0);
        }
        let allocation = Allocation {
            nodes: Some(nodes),
            memory: memory.map(|gib| Bytes(gib * GIB)),
            ..asked(cores, gpus)
        };
        let node = node(48, 192, 4);
        let (short, long) = (price(&charge, &allocation, &node, times.0), price(&charge, &allocation, &node, times.1));
        prop_assert!(short <= long && short >= 0.0, "{short} {long}");
    }
}
