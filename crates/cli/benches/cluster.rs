//! What harp adds to a job array: 500 tasks of one second, submitted by hand and through `harp generate`,
//! side by side on the testbed, in turn: the same command, its output kept. Either way the time is until what
//! every task used is known: by hand until `sacct` tells it, through harp until every run is recorded. How
//! long the array by hand was in the queue is printed, too: accounting is up to four seconds behind it here,
//! whoever submits. Last with runs packed, which is what harp does by itself.
//! `ROUNDS=2 cargo bench -p harp-cli --bench cluster` makes fewer rounds than four.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

const TASKS: usize = 500;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = std::env::temp_dir().join(format!("harp-bench-{}", std::process::id()));
    let started = Command::new(root.join("testbed/start.sh"))
        .arg(&folder)
        .env("TESTBED_OWNER", std::process::id().to_string())
        .status();
    assert!(started.unwrap().success(), "the testbed does not start");
    let cluster = Cluster { configuration: folder.join("client/slurm.conf") };
    println!("{TASKS} tasks of one second, twelve at a time");
    // A controller is slower the more jobs it remembers, so the first array of all has an easy time: it does not
    // count, and who goes first changes from round to round.
    println!("by hand, on a fresh cluster: {:.1} s", cluster.by_hand().accounted);
    let rounds = std::env::var("ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(4);
    let (mut by_hand, mut alone) = (Vec::new(), Vec::new());
    for round in 1..=rounds {
        if round % 2 == 1 {
            by_hand.push(cluster.by_hand());
            alone.push(cluster.through_harp("0"));
        } else {
            alone.push(cluster.through_harp("0"));
            by_hand.push(cluster.by_hand());
        }
        let ByHand { queue, accounted } = by_hand[round - 1];
        println!(
            "round {round}: by hand {accounted:.1} s ({queue:.1} s in the queue), through harp {:.1} s",
            alone[round - 1]
        );
    }
    // Slurm starts such an array in waves, and one wave more or less is 3 %: the sum is steadier than any round.
    let through_harp: f64 = alone.iter().sum();
    let added = |by_hand: f64| 100.0 * (through_harp / by_hand - 1.0);
    let accounted = added(by_hand.iter().map(|round| round.accounted).sum());
    let queue = added(by_hand.iter().map(|round| round.queue).sum());
    println!("harp adds {accounted:.1} % to the same array, {queue:.1} % to its time in the queue alone");
    println!("packed, 60 s a job: {:.1} s", cluster.through_harp("60s"));
}

/// Seconds until an array has left the queue, and until accounting knows all of it.
struct ByHand {
    queue: f64,
    accounted: f64,
}

struct Cluster {
    configuration: PathBuf,
}

impl Cluster {
    fn client(&self, name: &str, arguments: &[&str]) -> String {
        let output =
            Command::new(name).args(arguments).env("SLURM_CONF", &self.configuration).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn by_hand(&self) -> ByHand {
        let folder = scratch("by-hand");
        let begin = Instant::now();
        let array = format!("--array=0-{}", TASKS - 1);
        let output = format!("--output={}/%a.log", folder.display());
        let fixed = ["--parsable", &output, "--mem=100M", "--partition=debug", &array];
        let command = "sh -c \"sleep 1; true $SLURM_ARRAY_TASK_ID\"";
        let job = self.client("sbatch", &[&fixed[..], &["--wrap", command]].concat());
        let job = format!("--jobs={}", job.trim());
        while !self.client("squeue", &["-h", &job]).is_empty() {
            sleep(Duration::from_millis(500));
        }
        let queue = begin.elapsed().as_secs_f64();
        let ended = || {
            let states = self.client("sacct", &["-n", "-P", &job, "--format=JobID,State,MaxRSS"]);
            states.lines().filter(|line| line.contains(".batch|COMPLETED|")).count()
        };
        while ended() < TASKS {
            sleep(Duration::from_millis(250));
        }
        let accounted = begin.elapsed().as_secs_f64();
        fs::remove_dir_all(&folder).unwrap();
        ByHand { queue, accounted }
    }

    fn through_harp(&self, pack: &str) -> f64 {
        let folder = scratch("sweep");
        let experiment = format!(
            "name = 'second'\n[program]\ncommand = \"sh -c 'sleep 1; true {{n}}'\"\n[parameters.n]\n\
             sd = {{ from = 1, to = {TASKS}, step = 1 }}\n[allocation]\ncores = 1\nmemory = '100M'\n\
             [design]\ntimeout = '20s'\n[learn]\ntargets = ['walltime']\n"
        );
        fs::write(folder.join("harp.toml"), experiment).unwrap();
        let begin = Instant::now();
        let harp = std::env::var_os("HARP").unwrap_or_else(|| env!("CARGO_BIN_EXE_harp").into());
        let status = Command::new(harp)
            .args([
                "generate",
                "--on",
                "slurm",
                "--yes",
                "--quiet",
                "--partition",
                "debug",
                "--max-jobs",
                "1000",
            ])
            .args(["--pack", pack])
            .current_dir(&folder)
            .env("SLURM_CONF", &self.configuration)
            .status()
            .unwrap();
        let took = begin.elapsed().as_secs_f64();
        assert!(status.success(), "harp failed");
        fs::remove_dir_all(&folder).unwrap();
        took
    }
}

/// An empty folder.
fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("harp-bench-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).unwrap();
    folder
}
