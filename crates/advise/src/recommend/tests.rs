use super::*;
use crate::{Choices, LimitKind};
use harp_core::{Bytes, Distribution, Evidence, Money, Prediction, Seconds, Target};
use proptest::prelude::*;
use std::collections::BTreeMap;

const GIB: f64 = (1u64 << 30) as f64;

const SITE: &str = r#"
name = "test"
unit = "$"
scheduler = "slurm"
[charge]
rule = "core_hours"
core_hour = 0.003
gpu_hour = 0.09
memory_counts = true
[[node_type]]
name = "small"
cores = 8
memory = "32G"
[[node_type]]
name = "large"
cores = 48
memory = "192G"
gpus = { kind = "V100", count = 2 }
core_hour = 0.004
[[node_type]]
name = "secret"
cores = 64
memory = "1024G"
price_unknown = "nobody says"
[[partition]]
name = "fast"
node_types = ["small", "large"]
max_time = "2h"
factor = 2.0
[[partition]]
name = "normal"
node_types = ["small", "large", "secret"]
max_time = "48h"
"#;

pub(crate) fn site() -> Site {
    Site::parse("test.toml", SITE).unwrap()
}

fn local() -> Site {
    let host = harp_core::Host { cores: Some(4), memory: Some(Bytes(8 << 30)), ..Default::default() };
    Site::local(&host)
}

fn prediction(target: Target, quantiles: &[(f64, f64)], request: f64) -> Prediction {
    let distribution = Distribution::new(quantiles.to_vec()).unwrap();
    Prediction {
        target,
        estimate: distribution.median(),
        distribution,
        request,
        evidence: Evidence { scaled_down_runs: 30, full_scale_runs: 4, validation_runs: 3 },
        out_of_range: Vec::new(),
    }
}

/// A forecast around `seconds`, a tenth up and down, that asks for a fifth more.
pub(crate) fn around(seconds: f64, memory_gib: Option<f64>) -> Forecast {
    let spread = |middle: f64| [(0.05, 0.9 * middle), (0.5, middle), (0.95, 1.1 * middle)];
    Forecast {
        walltime: prediction(Target::Walltime, &spread(seconds), 1.2 * seconds),
        peak_memory: memory_gib
            .map(|gib| prediction(Target::PeakMemory, &spread(gib * GIB), 1.05 * gib * GIB)),
    }
}

/// Amdahl's law: 600 s that do not scale, 36,000 s that do.
fn amdahl(allocation: &Allocation) -> Result<Forecast, String> {
    let cores = f64::from(allocation.cores.or(allocation.threads).unwrap_or(1));
    Ok(around(600.0 + 36_000.0 / cores, Some(2.0)))
}

fn cores(values: &[u32]) -> Vec<Allocation> {
    Choices { cores: values.iter().copied().collect(), ..Choices::default() }.allocations()
}

pub(crate) fn ask<'a>(site: &'a Site, candidates: &'a [Allocation], limits: Limits) -> Question<'a> {
    Question { site, candidates, limits, policy: Policy::default() }
}

#[test]
fn a_time_limit_gets_the_cheapest_plan_that_holds_it() {
    let (site, candidates) = (site(), cores(&[1, 2, 4, 8, 16, 48]));
    let limits = Limits { max_time: Some(Seconds(3600.0)), ..Limits::default() };
    let answer = recommend(&ask(&site, &candidates, limits), amdahl).unwrap();
    let plan = answer.plan().unwrap();
    // 16 cores take 2,850 s, 3,135 at most; 8 cores 5,100. Only `large` has 16 cores.
    assert_eq!(plan.allocation.cores, Some(16));
    assert_eq!(plan.placement.node_type, "large");
    assert_eq!(plan.placement.partition.as_deref(), Some("normal"), "the queue without a surcharge");
    assert_eq!(plan.other_partitions, ["fast"]);
    assert_eq!(plan.time.request, Seconds(3420.0));
    assert_eq!(answer.rule, ChoiceRule::CheapestInTime);
    let first = &answer.reasons[0];
    assert!(
        first.contains("is the cheapest of 2 plans of 6 that take at most 1 h 00 min with 90 % confidence"),
        "{first}"
    );
}

#[test]
fn a_cost_limit_gets_the_fastest_plan_that_holds_it() {
    let (site, candidates) = (site(), cores(&[1, 2, 4, 8, 16, 48]));
    let limits = Limits { max_cost: Some(Money(0.06)), ..Limits::default() };
    let answer = recommend(&ask(&site, &candidates, limits), amdahl).unwrap();
    let plan = answer.plan().unwrap();
    assert_eq!((plan.allocation.cores, plan.placement.node_type.as_str()), (Some(16), "large"));
    let tight = Limits { max_cost: Some(Money(0.04)), ..Limits::default() };
    let answer = recommend(&ask(&site, &candidates, tight), amdahl).unwrap();
    assert_eq!(answer.plan().unwrap().allocation.cores, Some(8));
}

#[test]
fn no_plan_fits_names_the_nearest_miss() {
    let (site, candidates) = (site(), cores(&[1, 48]));
    let limits =
        Limits { max_time: Some(Seconds(1300.0)), max_cost: Some(Money(100.0)), ..Limits::default() };
    let error = recommend(&ask(&site, &candidates, limits), amdahl).unwrap_err();
    let AdviseError::NoPlanFits(failure) = error else { panic!("{error}") };
    // 48 cores take 1,350 s, with 90 % confidence almost 1,470.
    assert_eq!(failure.nearest.as_ref().unwrap().allocation.cores, Some(48));
    assert_eq!(failure.misses.len(), 1);
    assert_eq!(failure.misses[0].limit, LimitKind::Time);
    assert!((failure.misses[0].by - 168.0).abs() < 3.0, "{:?}", failure.misses);
    let words = failure.to_string();
    assert!(words.starts_with("none of 2 plans holds the limits; the nearest, 48 cores"), "{words}");
    assert!(words.contains("takes up to 24 min"), "{words}");

    let huge = cores(&[1000]);
    let error = recommend(&ask(&site, &huge, Limits::default()), amdahl).unwrap_err();
    let AdviseError::NoPlanFits(failure) = &error else { panic!("{error}") };
    assert_eq!((failure.plans, failure.nearest.is_none()), (0, true));
    assert!(error.to_string().contains("1000 cores on small in fast: 1000 cores asked for"), "{error}");
}

#[test]
fn what_the_site_refuses_never_appears_but_is_counted() {
    let (site, candidates) = (site(), cores(&[1, 8, 16, 64]));
    let answer = recommend(&ask(&site, &candidates, Limits::default()), amdahl).unwrap();
    assert!(answer.plans.iter().all(|plan| plan.placement.node_type != "secret"));
    let counts: BTreeMap<&str, usize> =
        answer.refused.iter().map(|refused| (refused.kind.as_str(), refused.count)).collect();
    // 16 on small, 64 on small and large; the price of secret for each; one core takes over 2 h,
    // but only in one partition.
    assert_eq!(counts, BTreeMap::from([("too_many_cores", 3), ("price_unknown", 4)]));
}

#[test]
fn re_execution_costs_what_the_study_says() {
    // The truth is surely 685 s and the model asks for 180: 180 + 360 + 685 = 1225 s are paid.
    let site = site();
    let candidates = [Allocation { cores: Some(48), gpus: Some(1), ..Allocation::default() }];
    let forecast =
        Forecast { walltime: prediction(Target::Walltime, &[(0.5, 685.0)], 180.0), peak_memory: None };
    let answer = recommend::<String>(&ask(&site, &candidates, Limits::default()), |_| Ok(forecast.clone()));
    let plan = answer.unwrap().plan().unwrap().clone();
    let hourly = 48.0 * 0.004 + 0.09;
    assert!((plan.price.with_reexecution.0 - hourly * 1225.0 / 3600.0).abs() < 1e-9);
    assert!((plan.price.expected_use.0 - hourly * 685.0 / 3600.0).abs() < 1e-9);
    assert!((plan.price.request.0 - hourly * 180.0 / 3600.0).abs() < 1e-9);
    assert_eq!(plan.time.with_confidence, Seconds(1225.0));
    assert_eq!(plan.risk.killed, 1.0);
}

#[test]
fn memory_has_head_room_and_fits_the_node() {
    let site = site();
    let candidates = cores(&[4]);
    let plans = |gib: f64, candidates: &[Allocation]| {
        let question = ask(&site, candidates, Limits::default());
        recommend::<String>(&question, |_| Ok(around(100.0, Some(gib))))
    };
    let plan = plans(2.0, &candidates).unwrap().plan().unwrap().clone();
    // Upper quantile 2.2 GiB, a tenth more, whole MiB.
    assert_eq!(plan.allocation.memory, Some(Bytes(2479 << 20)));
    assert_eq!(plan.memory.unwrap().request, plan.allocation.memory);
    assert!(plan.risk.memory.unwrap() <= 0.05 + 1e-9);
    assert!((plan.risk.killed - 0.1).abs() < 1e-9);

    // 29 GiB fits a node of 32 with confidence, the head-room does not: the node is asked for.
    let answer = plans(29.0, &candidates).unwrap();
    let small = answer.plans.iter().find(|plan| plan.placement.node_type == "small").unwrap();
    assert_eq!(small.allocation.memory, Some(Bytes(32 << 30)));
    assert!(small.notes[0].contains("at most 32.0 GiB can be had"), "{:?}", small.notes);

    // 40 GiB does not fit the small node at all, and no limit below it is a plan.
    let answer = plans(40.0, &candidates).unwrap();
    assert!(answer.plans.iter().all(|plan| plan.placement.node_type == "large"));
    let limited = [Allocation { memory: Some(Bytes(8 << 30)), ..candidates[0].clone() }];
    let AdviseError::NoPlanFits(failure) = plans(40.0, &limited).unwrap_err() else { panic!() };
    assert_eq!(failure.refused[0].kind, "memory_limit_too_low");
}

#[test]
fn memory_where_it_must_or_must_not_be_asked_for() {
    let with = |policy: &str| {
        let text =
            SITE.replace("scheduler = \"slurm\"", &format!("scheduler = \"slurm\"\nmemory = \"{policy}\""));
        Site::parse("test.toml", &text).unwrap()
    };
    let candidates =
        [Allocation { cores: Some(4), node_type: Some("small".into()), ..Allocation::default() }];
    let plan = |site: &Site, gib: Option<f64>| {
        let question = ask(site, &candidates, Limits::default());
        recommend::<String>(&question, |_| Ok(around(100.0, gib)))
            .map(|answer| answer.plan().unwrap().clone())
    };
    let forbidden = with("forbidden");
    let fits = plan(&forbidden, Some(8.0)).unwrap();
    assert_eq!(fits.allocation.memory, None);
    assert_eq!(fits.memory.unwrap().request, None);
    assert!(fits.risk.memory.is_some());
    assert!(plan(&forbidden, Some(20.0)).is_err(), "4 of 8 cores come with 16 GiB");
    let mandatory = with("mandatory");
    assert_eq!(plan(&mandatory, None).unwrap().allocation.memory, Some(Bytes(16 << 30)));
    assert_eq!(plan(&with("allowed"), None).unwrap().memory, None);
}

#[test]
fn the_partitions_limit_caps_the_request_while_it_holds_with_confidence() {
    let site = site();
    let candidates =
        [Allocation { cores: Some(8), node_type: Some("small".into()), ..Allocation::default() }];
    let at = |seconds: f64| {
        let question = ask(&site, &candidates, Limits::default());
        recommend::<String>(&question, |_| Ok(around(seconds, None)))
    };
    let capped = at(155_000.0).unwrap().plan().unwrap().clone();
    assert_eq!(capped.time.request, Seconds(172_800.0));
    assert!(capped.notes[0].contains("the partition gives at most 2 d 00 h"), "{:?}", capped.notes);
    assert!(at(170_000.0).is_err());
    let short = at(3.0).unwrap().plan().unwrap().clone();
    assert_eq!(short.time.request, Seconds(60.0));
}

#[test]
fn the_machine_itself_kills_nothing_and_rounds_nothing() {
    let site = local();
    let candidates = cores(&[1, 2, 4, 8]);
    let answer = recommend(&ask(&site, &candidates, Limits::default()), amdahl).unwrap();
    assert_eq!(answer.plans.len(), 3);
    let plan = answer.plans.iter().find(|plan| plan.allocation.cores == Some(4)).unwrap();
    assert_eq!(plan.time.request, Seconds(9600.0 * 1.2));
    assert_eq!(plan.time.with_confidence.0, around(9600.0, None).walltime.distribution.quantile(0.9));
    assert_eq!(plan.placement.partition, None);
    assert_eq!(answer.default.request, None);
    assert!(answer.reasons.iter().all(|reason| !reason.contains("the machines that were measured")));
}

#[test]
fn threads_stand_for_cores_and_nothing_for_the_whole_node() {
    let site = site();
    let threads = Choices { threads: [2].into(), ..Choices::default() }.allocations();
    let answer = recommend(&ask(&site, &threads, Limits::default()), amdahl).unwrap();
    assert!(answer.plans.iter().all(|plan| plan.allocation.cores == Some(2)));
    let whole = [Allocation::default()];
    let answer = recommend::<String>(&ask(&site, &whole, Limits::default()), |_| Ok(around(60.0, None)));
    let answer = answer.unwrap();
    assert!(answer.plans.iter().any(|plan| plan.allocation.cores == Some(8)));
    assert!(answer.plans.iter().any(|plan| plan.allocation.cores == Some(48)));
}

#[test]
fn the_default_is_the_full_node_for_the_longest_time() {
    let (site, candidates) = (site(), cores(&[1, 4, 8]));
    let answer = recommend(&ask(&site, &candidates, Limits::default()), amdahl).unwrap();
    let plan = answer.plan().unwrap();
    assert_eq!(plan.placement.node_type, "small");
    assert_eq!(answer.default.allocation.cores, Some(8));
    assert_eq!(answer.default.request, Some(Seconds(172_800.0)));
    assert_eq!(answer.default.price_of_request, Some(Money(48.0 * 8.0 * 0.003)));
    // Charged is what is used: the time predicted on all cores, at the price of all of them.
    let time = answer.default.time.unwrap();
    assert!((time.expected.0 - 5100.0).abs() < 1e-6 && time.on_all_cores);
    assert!(time.low < time.expected && time.expected < time.high);
    let used = answer.default.price_of_use.unwrap();
    assert!((used.0 - 5100.0 / 3600.0 * 8.0 * 0.003).abs() < 1e-9);
    let reason = answer.reasons.iter().find(|reason| reason.starts_with("asking for a full node")).unwrap();
    assert!(
        reason.contains("of 8 cores for the longest time, 2 d 00 h, would reserve it that long"),
        "{reason}"
    );
    assert!(
        reason.contains("be charged $0.0340 for the 1 h 25 min it is expected to take there"),
        "{reason}"
    );
}

#[test]
fn a_full_node_that_was_never_measured_is_charged_for_the_program_as_it_is() {
    let (site, candidates) = (site(), cores(&[2]));
    let measured = |allocation: &Allocation| {
        let mut forecast = amdahl(&Allocation { cores: Some(2), ..allocation.clone() })?;
        if allocation.cores != Some(2) {
            forecast.walltime.out_of_range = vec![harp_core::OutOfRange {
                feature: "cores".into(),
                value: None,
                measured: Some((2.0, 2.0)),
                known: Vec::new(),
            }];
        }
        Ok::<_, String>(forecast)
    };
    let answer = recommend(&ask(&site, &candidates, Limits::default()), measured).unwrap();
    let (plan, time) = (answer.plan().unwrap(), answer.default.time.unwrap());
    assert!(!time.on_all_cores);
    assert_eq!((time.expected, time.low, time.high), (plan.time.expected, plan.time.low, plan.time.high));
    let times_dearer = answer.default.price_of_use.unwrap().0 / plan.price.expected_use.0;
    assert!((times_dearer - 4.0).abs() < 1e-9, "{times_dearer}");
}

#[test]
fn nodes_that_differ_in_no_figure_are_told_once_and_gpus_are_left_to_others() {
    let text = SITE.replace(
        "[[partition]]\nname = \"fast\"",
        "[[node_type]]\nname = \"small-too\"\ncores = 8\nmemory = \"32G\"\n[[partition]]\nname = \"fast\"",
    );
    let text = text.replace("[\"small\", \"large\"", "[\"small\", \"small-too\", \"large\"");
    let site = Site::parse("test.toml", &text).unwrap();
    let answer = recommend(&ask(&site, &cores(&[2, 16]), Limits::default()), amdahl).unwrap();
    let places: Vec<(Option<u32>, &str, &[String])> = answer
        .plans
        .iter()
        .map(|plan| {
            (plan.allocation.cores, plan.placement.node_type.as_str(), plan.other_node_types.as_slice())
        })
        .collect();
    // Sixteen cores are only to be had where the GPUs are.
    assert_eq!(places.len(), 2, "{places:?}");
    assert!(places.contains(&(Some(2), "small", &["small-too".to_owned()])), "{places:?}");
    assert!(places.contains(&(Some(16), "large", &[])), "{places:?}");
}

#[test]
fn a_job_without_gpus_is_not_sent_where_gpus_alone_are_charged() {
    let site = Site::parse("test.toml", &SITE.replace("core_hour = 0.004", "core_hour = 0.0")).unwrap();
    let answer = recommend(&ask(&site, &cores(&[2]), Limits::default()), amdahl).unwrap();
    let places: Vec<&str> = answer.plans.iter().map(|plan| plan.placement.node_type.as_str()).collect();
    assert_eq!(places, ["small"]);
}

#[test]
fn a_partition_that_stops_jobs_is_chosen_where_no_other_admits_them() {
    let text = SITE.replace("name = \"normal\"", "name = \"normal\"\npreemptible = true");
    let site = Site::parse("test.toml", &text).unwrap();
    let partition = |seconds: f64| {
        let forecast = |_: &Allocation| -> Result<Forecast, String> { Ok(around(seconds, None)) };
        let answer = recommend(&ask(&site, &cores(&[2]), Limits::default()), forecast).unwrap();
        let plan = &answer.plans[0];
        (plan.placement.partition.clone().unwrap(), plan.notes.iter().any(|note| note.contains("make room")))
    };
    assert_eq!(partition(600.0), ("fast".to_owned(), false), "though it costs twice as much");
    assert_eq!(partition(20_000.0), ("normal".to_owned(), true), "longer than the other gives");
}

#[test]
fn where_prices_are_nearly_the_same_the_default_partition_goes_first() {
    let at = |text: &str| {
        let site = Site::parse("test.toml", text).unwrap();
        let limits = Limits { max_time: Some(Seconds(1e6)), ..Limits::default() };
        let answer = recommend(&ask(&site, &cores(&[2]), limits), amdahl).unwrap();
        let plan = answer.plan().unwrap().clone();
        (
            plan.placement.node_type,
            plan.placement.partition.unwrap(),
            answer.reasons[0].clone(),
            plan.other_partitions,
        )
    };
    // two queues to the same nodes
    let queues = |factor: &str| {
        SITE.replace("max_time = \"2h\"\nfactor = 2.0", &format!("default = true\nfactor = {factor}"))
    };
    let (_, partition, _, others) = at(&queues("1.01"));
    assert_eq!((partition.as_str(), others), ("fast", vec!["normal".to_owned()]));
    assert_eq!(at(&queues("1.03")).1, "normal", "three in a hundred are worth it");
    assert_eq!(at(&queues("1.01").replace("default = true", "")).1, "normal", "nobody said so");
    // two kinds of nodes, each in its own queue
    let kinds = |price: &str| {
        let twin =
            format!("[[node_type]]\nname = \"twin\"\ncores = 8\nmemory = \"32G\"\ncore_hour = {price}\n");
        let usual = "[[partition]]\nname = \"usual\"\nnode_types = [\"twin\"]\ndefault = true\n";
        format!("{}{usual}", SITE.replacen("[[partition]]", &format!("{twin}[[partition]]"), 1))
    };
    let (node_type, partition, reason, _) = at(&kinds("0.00305"));
    assert_eq!((node_type.as_str(), partition.as_str()), ("twin", "usual"));
    assert!(
        reason.contains("is nearly the cheapest of") && reason.contains("usual is the default partition"),
        "{reason}"
    );
    let (node_type, _, reason, _) = at(&kinds("0.0031"));
    assert_eq!(node_type, "small");
    assert!(!reason.contains("nearly"), "{reason}");
    assert_eq!(at(&kinds("0.003")).0, "twin", "no difference at all");
}

#[test]
fn predictions_that_fail() {
    let (site, candidates) = (site(), cores(&[1, 2, 4]));
    let question = ask(&site, &candidates, Limits::default());
    let error = recommend(&question, |_| Err::<Forecast, _>("too few runs")).unwrap_err();
    assert_eq!(error, AdviseError::Forecast("too few runs"));
    let some = |allocation: &Allocation| match allocation.cores {
        Some(4) => Err("unknown".to_owned()),
        _ => amdahl(allocation),
    };
    let answer = recommend(&question, some).unwrap();
    let refused = answer.refused.iter().find(|refused| refused.kind == "no_prediction").unwrap();
    assert_eq!((refused.count, refused.example.as_str()), (1, "4 cores: no prediction: unknown"));
    let nothing = recommend(&ask(&site, &[], Limits::default()), amdahl).unwrap_err();
    assert_eq!(nothing, AdviseError::NoCandidates);
}

#[test]
fn the_json_has_the_documented_keys() {
    let (site, candidates) = (site(), cores(&[1, 8]));
    let answer = recommend(&ask(&site, &candidates, Limits::default()), amdahl).unwrap();
    let json = serde_json::to_value(&answer).unwrap();
    let keys =
        |value: &serde_json::Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(
        keys(&json),
        "chosen default fitting front limits plans policy reasons refused rule saving site unit"
    );
    let plan = &json["plans"][0];
    assert_eq!(
        keys(plan),
        "allocation candidate evidence memory notes other_node_types other_partitions out_of_range placement price risk time"
    );
    assert_eq!(keys(&plan["time"]), "expected high low request with_confidence");
    assert_eq!(keys(&plan["memory"]), "expected high low request");
    assert_eq!(keys(&plan["price"]), "expected_use request with_confidence with_reexecution");
    assert_eq!(keys(&plan["risk"]), "killed memory time");
    assert_eq!(keys(&plan["placement"]), "node_type partition");
    assert_eq!(keys(&json["default"]), "allocation placement price_of_request price_of_use request time");
    assert_eq!(keys(&json["saving"]), "of_request of_request_share of_use of_use_share");
    assert_eq!(keys(&json["refused"][0]), "count example kind");
    assert_eq!(json["rule"], "knee");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// The chosen plan against every other, by the words of the specification.
    #[test]
    fn the_choice_is_the_best_of_all_plans(
        seconds in prop::collection::vec(1u32..20_000, 1..8),
        max_time in prop::option::of(1.0..40_000.0f64),
        max_cost in prop::option::of(0.001..0.5f64),
        max_risk in prop::option::of(0.01..0.2f64),
    ) {
        let site = site();
        let values: Vec<u32> = (1..=seconds.len()).map(|index| index as u32 * 5).collect();
        let candidates = cores(&values);
        let forecast = |allocation: &Allocation| {
            let index = allocation.cores.unwrap_or(5) as usize / 5 - 1;
            seconds.get(index).map(|&seconds| around(f64::from(seconds), None)).ok_or("not asked")
        };
        let everything = recommend(&ask(&site, &candidates, Limits::default()), forecast).unwrap();
        let limits = Limits { max_time: max_time.map(Seconds), max_cost: max_cost.map(Money), max_risk };
        let holds = |plan: &Plan| {
            max_time.is_none_or(|limit| plan.time.with_confidence.0 <= limit)
                && max_cost.is_none_or(|limit| plan.price.with_confidence.0 <= limit)
                && max_risk.is_none_or(|limit| plan.risk.killed <= limit)
        };
        let fitting: Vec<&Plan> = everything.plans.iter().filter(|plan| holds(plan)).collect();
        match recommend(&ask(&site, &candidates, limits), forecast) {
            Err(AdviseError::NoPlanFits(failure)) => {
                prop_assert!(fitting.is_empty());
                prop_assert!(!failure.misses.is_empty());
                prop_assert!(failure.misses.iter().all(|miss| miss.by > 0.0));
            }
            Err(error) => prop_assert!(false, "{error}"),
            Ok(answer) => {
                prop_assert_eq!(&answer.plans, &everything.plans);
                let chosen = answer.plan().unwrap();
                prop_assert!(holds(chosen));
                let price = |plan: &Plan| plan.price.with_reexecution.0;
                let time = |plan: &Plan| plan.time.expected.0;
                for plan in fitting {
                    let fine = match (max_time, max_cost) {
                        (Some(_), _) => price(chosen) <= price(plan) * (1.0 + 1e-8),
                        (None, Some(_)) => time(chosen) <= time(plan) * (1.0 + 1e-8),
                        (None, None) => {
                            time(chosen) * price(chosen) <= time(plan) * price(plan) * (1.0 + 1e-8)
                        }
                    };
                    prop_assert!(fine, "{chosen:?} against {plan:?}");
                }
                for plan in &answer.plans {
                    let node = site.node_type(&plan.placement.node_type).unwrap();
                    let partition = plan.placement.partition.as_deref().and_then(|name| site.partition(name));
                    let refusal = site.refusal(&plan.allocation, node, partition, Some(plan.time.request));
                    prop_assert_eq!(refusal, None, "an admitted plan");
                    prop_assert!(plan.price.expected_use <= plan.price.request, "the request holds the estimate");
                }
            }
        }
    }
}
