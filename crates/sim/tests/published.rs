//! Published logs: the figures other simulators agree on, to the last digit given. The logs are not part
//! of the project; `HARP_TRACES` names the folder that holds them, and without it these tests say so
//! and pass.

// helpers of tests may unwrap as tests do
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::{Path, PathBuf};

use harp_sim::{Metrics, Oversized, Policy, Requested, Workload, WorkloadBuilder, simulate};

fn trace(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("HARP_TRACES");
    let path = folder.map(|folder| Path::new(&folder).join(name)).filter(|path| path.exists());
    if path.is_none() {
        eprintln!("skipped: set HARP_TRACES to a folder that holds {name}");
    }
    path
}

fn workload(path: &Path, processors: u32) -> Workload {
    let mut builder = WorkloadBuilder::default();
    let options = harp_trace::ReadOptions::default();
    let reading = harp_trace::visit_path(path, &options, &mut |job| builder.add(job)).unwrap();
    assert_eq!(reading.skipped.count, 0);
    builder.finish(&reading, Some(processors), Oversized::Refuse).unwrap()
}

fn metrics(workload: &Workload, policy: &str) -> Metrics {
    let policy: Policy = policy.parse().unwrap();
    Metrics::new(workload, &simulate(workload, policy, &mut Requested), policy, "requested")
}

#[test]
fn figures_of_known_logs() {
    for (name, processors, policy, wait, slowdown, utilisation) in [
        ("KTH-SP2.swf.gz", 100, "easy", "6802.09", "90.715", Some("0.6877")),
        ("KTH-SP2.swf.gz", 100, "fcfs", "389669.88", "7507.097", None),
        ("Mira.swf.gz", 49_152, "easy", "47161.54", "44.764", Some("0.8606")),
        ("Theta23.swf.gz", 4392, "easy", "14846.71", "30.273", Some("0.6789")),
        ("Lublin-256.swf.gz", 256, "easy", "97155.99", "590.054", None),
    ] {
        let Some(path) = trace(name) else { continue };
        let found = metrics(&workload(&path, processors), policy);
        assert_eq!(format!("{:.2}", found.average_wait_s), wait, "{name} {policy}");
        assert_eq!(format!("{:.3}", found.average_bounded_slowdown), slowdown, "{name} {policy}");
        if let Some(utilisation) = utilisation {
            assert_eq!(format!("{:.4}", found.utilisation), utilisation, "{name} {policy}");
        }
    }
}

#[test]
fn adaptive_relaxation_keeps_more_promises() {
    let Some(path) = trace("Mira.swf.gz") else { return };
    let workload = workload(&path, 49_152);
    let [easy, relaxed, adaptive] =
        ["easy", "relaxed:0.1", "adaptive-relaxed:0.1"].map(|policy| metrics(&workload, policy));
    assert!(adaptive.violation_mean_s <= relaxed.violation_mean_s / 2.0);
    assert!(
        relaxed.average_wait_s <= adaptive.average_wait_s && adaptive.average_wait_s <= easy.average_wait_s
    );
    assert!(relaxed.average_bounded_slowdown <= adaptive.average_bounded_slowdown);
    assert!(adaptive.average_bounded_slowdown <= easy.average_bounded_slowdown);
}
