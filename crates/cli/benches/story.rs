//! What harp costs: its start-up, a prediction, and the Euler example beside the original's figures.
//!
//! Start-up is measured against `/bin/true` in the same run, interleaved. Prints figures; asserts
//! nothing.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 200;

fn main() {
    let harp = std::env::var("HARP").unwrap_or_else(|_| env!("CARGO_BIN_EXE_harp").to_owned());
    let harp = fs::canonicalize(harp).unwrap();
    let folder = std::env::temp_dir().join(format!("harp-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/euler");
    for file in ["euler.rs", "harp.toml"] {
        fs::copy(example.join(file), folder.join(file)).unwrap();
    }

    // Compiled beforehand, so that generating is not charged for the compiler.
    let setup = Command::new("rustc").args(["-O", "euler.rs"]).current_dir(&folder).status().unwrap();
    assert!(setup.success());
    let text = fs::read_to_string(folder.join("harp.toml")).unwrap();
    fs::write(folder.join("harp.toml"), text.replace("setup = ", "# setup = ")).unwrap();

    let (generate, _) = timed(&harp, &folder, &["generate", "--quiet"]);
    let (build, build_memory) = timed(&harp, &folder, &["build", "--quiet"]);
    let runs: serde_json::Value = json(&harp, &folder, &["history", "--json"]);
    let runs = runs.as_array().unwrap();
    let own: f64 = runs.iter().map(|run| run["usage"]["walltime"].as_f64().unwrap()).sum();
    let case = ["predict", "method=pow", "n=320000", "precision=1500"];
    let (_, predict_memory) = timed(&harp, &folder, &case);

    let startup = medians(&harp, &folder, &[&["--version"], &case]);
    let result: serde_json::Value = json(&harp, &folder, &["run", "--json", "--quiet"]);
    let walltime = &result["targets"][0];

    println!("start-up, median of {ROUNDS}, interleaved with /bin/true ({:.2} ms)", milliseconds(startup[0]));
    println!(
        "  harp --version          {:8.2} ms   {:.1} x /bin/true",
        milliseconds(startup[1]),
        ratio(startup[1], startup[0])
    );
    println!(
        "  harp predict, cold      {:8.2} ms   {:.1} x /bin/true",
        milliseconds(startup[2]),
        ratio(startup[2], startup[0])
    );
    println!(
        "examples/euler, {} runs                         harp     the original (Python), as published",
        runs.len()
    );
    println!(
        "  generate            {:8.2} s = {:.3} x the programs' own {own:.2} s        36 to 68 s",
        generate.as_secs_f64(),
        generate.as_secs_f64() / own
    );
    println!(
        "  build               {:8.3} s                                        27 to 64 s",
        build.as_secs_f64()
    );
    println!(
        "  predict             {:8.4} s                                         7 to 12 s",
        startup[2].as_secs_f64()
    );
    println!(
        "  peak memory, build  {build_memory:8.1} MiB; predict {predict_memory:.1} MiB                  630 to 774 MB"
    );
    println!(
        "  MAPE                {:8.1} %                                         39 to 83 %",
        walltime["scores"]["mape"].as_f64().unwrap()
    );
    println!(
        "  request             {:8.1} % MAPE, {:.0} % too small",
        walltime["request_scores"]["mape"].as_f64().unwrap(),
        walltime["request_scores"]["upp"].as_f64().unwrap()
    );
    fs::remove_dir_all(&folder).unwrap();
}

/// Walltime and peak memory in MiB of one call.
fn timed(harp: &Path, folder: &Path, arguments: &[&str]) -> (Duration, f64) {
    let start = Instant::now();
    let mut child =
        Command::new(harp).args(arguments).current_dir(folder).stdout(Stdio::null()).spawn().unwrap();
    let mut peak: f64 = 0.0;
    loop {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmHWM"));
        let kibibytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
        peak = peak.max(kibibytes.unwrap_or(0.0) / 1024.0);
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "harp {arguments:?}");
            return (start.elapsed(), peak);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Median times of `/bin/true` and of each call, interleaved.
fn medians(harp: &Path, folder: &Path, calls: &[&[&str]]) -> Vec<Duration> {
    let mut times = vec![Vec::new(); calls.len() + 1];
    for _ in 0..ROUNDS {
        let commands =
            std::iter::once((Path::new("/bin/true"), &[][..])).chain(calls.iter().map(|call| (harp, *call)));
        for (index, (program, arguments)) in commands.enumerate() {
            let mut command = Command::new(program);
            command.args(arguments).current_dir(folder).stdout(Stdio::null());
            let start = Instant::now();
            assert!(command.status().unwrap().success());
            times[index].push(start.elapsed());
        }
    }
    times
        .into_iter()
        .map(|mut times| {
            times.sort();
            times[times.len() / 2]
        })
        .collect()
}

fn json(harp: &Path, folder: &Path, arguments: &[&str]) -> serde_json::Value {
    let output = Command::new(harp).args(arguments).current_dir(folder).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn ratio(time: Duration, other: Duration) -> f64 {
    time.as_secs_f64() / other.as_secs_f64()
}
