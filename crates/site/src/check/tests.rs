use super::*;
use harp_core::{Bytes, Seconds};
use proptest::prelude::*;

const SMALL: &str = r#"
name = "s"
unit = "$"
scheduler = "slurm"
[charge]
rule = "core_hours"
core_hour = 0.1
[[node_type]]
name = "cpu"
cores = 4
memory = "16G"
[[partition]]
name = "main"
node_types = ["cpu"]
max_time = "2-00:00:00"
"#;

fn complaints(text: &str) -> Vec<String> {
    Site::parse("s.toml", text).unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn a_small_profile_is_read() {
    let site = Site::parse("s.toml", SMALL).unwrap();
    assert_eq!(site.node_types[0].memory, Some(Bytes(16 << 30)));
    assert_eq!(site.partitions[0].max_time, Some(Seconds(172_800.0)));
    assert_eq!((site.memory, site.partitions[0].factor), (MemoryOption::Allowed, 1.0));
}

#[test]
fn mistakes_are_reported_together_with_their_place() {
    let text = SMALL
        .replace("cores = 4", "cores = 0")
        .replace("\"16G\"", "\"16X\"")
        .replace("[\"cpu\"]", "[\"cpu\", \"gpu\"]")
        .replace("\"slurm\"", "\"pbs\"");
    assert_eq!(
        complaints(&text),
        [
            "s.toml:4:13: `scheduler` cannot be `pbs`",
            "s.toml:10:9: `cores` must be a whole number of at least 1",
            "s.toml:11:10: `16X` cannot be read",
            "s.toml:14:22: there is no node type `gpu`",
        ]
    );
    let errors = Site::parse("s.toml", &text).unwrap_err();
    assert_eq!(errors[3].hint.as_deref(), Some("known are cpu"));
    assert!(errors.iter().all(|error| error.hint.is_some()));
}

#[test]
fn a_misspelt_key_is_not_ignored() {
    let messages = complaints(&SMALL.replace("cores = 4", "core = 4"));
    assert!(messages[0].starts_with("s.toml:10:1: unknown field `core`"), "{messages:?}");
    assert!(complaints("name = ").len() == 1);
    assert!(complaints("name = \"s\"")[0].contains("missing field"));
}

#[test]
fn keys_of_another_rule_are_not_ignored() {
    let messages = complaints(&SMALL.replace("core_hour = 0.1", "core_hour = 0.1\nnode_hour = 2"));
    assert_eq!(messages, ["s.toml:8:13: `node_hour` belongs to the rule `node_hours`, not to `core_hours`"]);
    let messages = complaints(&SMALL.replace("core_hour = 0.1", ""));
    assert_eq!(messages, ["s.toml:6:8: the rule `core_hours` needs a rate"]);
    let messages = complaints(&SMALL.replace("\"core_hours\"\ncore_hour = 0.1", "\"weights\""));
    assert_eq!(messages, ["s.toml:6:8: the rule `weights` needs weights"]);
    let messages = complaints(&SMALL.replace("\"core_hours\"", "\"barter\""));
    assert_eq!(messages, ["s.toml:6:8: there is no charge rule `barter`"]);
    assert!(complaints(&SMALL.replace("0.1", "-0.1"))[0].contains("not a number of 0 or more"));
    assert!(complaints(&SMALL.replace("0.1", "nan"))[0].contains("not a number of 0 or more"));
}

#[test]
fn names_cannot_carry_anything_into_a_script() {
    let messages = complaints(&SMALL.replace("\"main\"", "\"main\\n#SBATCH --mail-user=x\""));
    assert!(messages[0].contains("cannot name a partition"));
    let messages = complaints(&SMALL.replace("cores = 4", "cores = 4\nconstraint = \"a b\""));
    assert!(messages[0].contains("`constraint` cannot be"));
    let twice = format!("{SMALL}[[partition]]\nname = \"main\"\nnode_types = [\"cpu\"]\n");
    assert!(complaints(&twice)[0].contains("two partitions named `main`"));
    let usual =
        twice.replace("\"main\"\nnode_types = [\"cpu\"]", "\"main\"\nnode_types = [\"cpu\"]\ndefault = true");
    let usual = usual.replacen("\"main\"", "\"other\"", 1);
    assert_eq!(complaints(&usual), ["s.toml:18:8: two partitions are the default"]);
    let impossible = format!("{SMALL}min_nodes = 3\nmax_nodes = 2\n");
    assert!(complaints(&impossible)[0].contains("admit nothing"));
}

fn any_site() -> impl Strategy<Value = Site> {
    let weights = (0.0..9.0f64, 0.0..9.0f64, any::<bool>()).prop_map(|(core, gpu, max)| Weights {
        core,
        memory_gib: 0.25,
        gpu,
        combine: if max { Combine::Max } else { Combine::Sum },
    });
    let rule = prop_oneof![
        (0.0..9.0f64, prop::option::of(0.0..9.0f64), any::<[bool; 3]>()).prop_map(
            |(core_hour, gpu_hour, flags)| {
                Rule::CoreHours {
                    core_hour,
                    gpu_hour,
                    memory_counts: flags[0],
                    whole_cores: flags[1],
                    whole_nodes: flags[2],
                }
            }
        ),
        prop::option::of(0.0..9.0f64).prop_map(|node_hour| Rule::NodeHours { node_hour }),
        (0.0..9.0f64, weights.clone()).prop_map(|(hour, weights)| Rule::Weights { hour, weights }),
    ];
    let amounts =
        (prop::option::of(1u32..200), prop::option::of(0u64..1 << 50), prop::option::of(0.0..1e7f64));
    (rule, amounts, "[a-z\"'#\\n é]{0,12}", any::<bool>(), prop::option::of(weights)).prop_map(
        |(rule, (cores, memory, time), words, flag, weights)| {
            let node = NodeType {
                name: "node-1".into(),
                cores,
                memory: memory.map(Bytes),
                memory_per_core: memory.map(|memory| Bytes(memory / 8)),
                clock_mhz: time,
                gpus: flag.then(|| GpuType {
                    kind: words.clone(),
                    count: 2,
                    memory: memory.map(Bytes),
                    gres: Some("a100".into()),
                }),
                price_unknown: flag.then(|| words.clone()),
                ..NodeType::default()
            };
            let partition = Partition {
                max_time: time.map(Seconds),
                max_nodes: cores,
                weights,
                automatic: flag,
                preemptible: !flag,
                default: !flag,
                ..Partition::new("p", vec!["node-1".into()])
            };
            Site {
                name: "any".into(),
                description: words.clone(),
                source: flag.then(|| words.clone()),
                date: None,
                unit: "SU".into(),
                scheduler: if flag { Scheduler::Slurm } else { Scheduler::None },
                memory: if flag { MemoryOption::Mandatory } else { MemoryOption::Forbidden },
                exclusive: flag,
                unknown: vec![words],
                charge: Charge {
                    rule,
                    billing: Billing { minimum_time: Seconds(time.unwrap_or(0.0)), ..Billing::default() },
                },
                node_types: vec![node],
                partitions: vec![partition],
            }
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(site in any_site()) {
        let text = site.to_toml().unwrap();
        prop_assert_eq!(Site::parse("any.toml", &text), Ok(site), "{}", text);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[a-z_= \"\\[\\]{}0-9.\\n-]{0,80}") {
        let _ = Site::parse("any.toml", &text);
    }

    #[test]
    fn no_change_of_a_profile_makes_the_reader_panic(position in 0usize..200, with in "[a-z_= \"\\[\\]{}0-9é.\\n-]{0,4}") {
        let mut text = SMALL.to_owned();
        text.insert_str(position.min(SMALL.len()), &with);
        if let Err(errors) = Site::parse("any.toml", &text) {
            prop_assert!(!errors.is_empty());
            prop_assert!(errors.iter().all(|error| error.line >= 1 && error.column >= 1));
        }
    }
}
