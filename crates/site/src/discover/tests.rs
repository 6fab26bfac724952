use super::*;
use harp_core::{Allocation, Money, Seconds};

const TEXT: &str = include_str!("../../../slurm/samples/scontrol.txt");

fn site() -> Site {
    Site::discover(&ClusterFacts::parse(TEXT), "2026-11-16").unwrap()
}

#[test]
fn a_profile_is_made_and_survives_writing_and_reading() {
    let site = site();
    assert_eq!(site.name, "testbed");
    let names: Vec<&str> = site.node_types.iter().map(|node_type| node_type.name.as_str()).collect();
    assert_eq!(names, ["big", "a100", "v100", "small", "threads"]);
    assert_eq!(site.node_type("small").unwrap().count, Some(2));
    let gpu = site.node_type("a100").unwrap();
    assert_eq!((gpu.gpu_count(), gpu.constraint.as_deref()), (2, Some("a100")));
    assert_eq!(gpu.gpus.as_ref().unwrap().gres.as_deref(), Some("a100"));
    assert_eq!(gpu.memory_per_core, Some(Bytes(1000 << 20)));
    let batch = site.partition("batch").unwrap();
    assert_eq!((batch.max_time, batch.max_nodes), (Some(Seconds(604_800.0)), Some(3)));
    assert_eq!(site.partition("large").unwrap().max_time, None);
    assert_eq!(site.default_partition().map(|partition| partition.name.as_str()), Some("debug"));
    assert!(
        site.unknown.iter().any(|line| line.contains("threads has 2 hardware threads")),
        "{:?}",
        site.unknown
    );
    assert_eq!(Site::parse("testbed.toml", &site.to_toml().unwrap()), Ok(site));
}

#[test]
fn billing_is_what_slurm_bills() {
    // as the real cluster printed: cpu=1, mem=1000M, two GPUs: billing=17
    let site = site();
    let job = Allocation {
        cores: Some(1),
        memory: Some(Bytes(1000 << 20)),
        gpus: Some(2),
        ..Allocation::default()
    };
    let place = crate::Placement { node_type: "a100".into(), partition: Some("gpu".into()) };
    let Money(price) = site.price(&job, &place, Seconds(3600.0)).unwrap();
    assert_eq!(price.trunc(), 17.0);
}

#[test]
fn what_a_partition_refuses_is_known() {
    let site = site();
    let job = |memory: u64, cores| Allocation {
        cores: Some(cores),
        memory: Some(Bytes(memory << 20)),
        ..Allocation::default()
    };
    let places = |allocation: &Allocation, hours: f64| -> Vec<String> {
        let admission = site.admit(allocation, Some(Seconds(hours * 3600.0)));
        admission.placements.into_iter().filter_map(|place| place.partition).collect()
    };
    assert_eq!(places(&job(450_000, 1), 1.0), ["spare"], "large admits 400000M at most");
    assert!(!places(&job(1000, 8), 1.0).contains(&"gpu".to_owned()), "gpu admits 6 CPUs a node");
    assert!(!places(&job(1000, 1), 2.0).contains(&"debug".to_owned()), "debug admits one hour");
}

#[test]
fn weights_in_every_unit() {
    let read = |text: &str| weights(text, Combine::Max);
    let (found, ignored) = read("CPU=1.0,Mem=0.25G,GRES/gpu=2.0,License/x=3,GRES/gpu:a100=5");
    assert_eq!((found.core, found.memory_gib, found.gpu, found.combine), (1.0, 0.25, 2.0, Combine::Max));
    assert_eq!(ignored, ["License/x=3", "GRES/gpu:a100=5"]);
    assert_eq!(read("mem=0.5").0.memory_gib, 512.0);
    assert_eq!(read("Mem=1T").0.memory_gib, 1.0 / 1024.0);
    assert_eq!(read("CPU=x,=,é").1.len(), 3);
}

#[test]
fn an_empty_description_is_told() {
    assert_eq!(Site::discover(&ClusterFacts::default(), ""), Err(DiscoverError::NoNodes));
    let closed = TEXT.replace("State=UP", "State=DOWN");
    assert_eq!(Site::discover(&ClusterFacts::parse(&closed), ""), Err(DiscoverError::NoPartitions));
}

proptest::proptest! {
    /// Whatever a controller says, the profile written can be read again.
    #[test]
    fn any_cluster_makes_a_valid_profile(
        name in "[a-zé|0-9\\[]{1,6}", feature in "[a-z,&é-]{0,8}", gres in "(gpu:[a-z|]{0,3}:[0-9])?",
        partition in "[a-z/0-9]{1,5}", memory in 0u32..10, weights in "(CPU=[0-9.]{1,4},)?(Mem=[0-9.]{1,4}[GMTKx]?)?",
    ) {
        let text = format!(
            "NodeName={name}\n   CPUTot=4\n   AvailableFeatures={feature}\n   Gres={gres}\n   RealMemory={memory}\n   Partitions={partition}\n\n\
             PartitionName={partition}\n   State=UP\n   MaxTime=1:00\n   TRESBillingWeights={weights}\n"
        );
        if let Ok(site) = Site::discover(&ClusterFacts::parse(&text), "today") {
            let written = site.to_toml().unwrap();
            proptest::prop_assert_eq!(Site::parse("x.toml", &written), Ok(site), "{}", written);
        }
    }
}
