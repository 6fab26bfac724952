//! Whole sweeps of small shell programs: what is recorded, when, and what is not.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use harp_core::{Bytes, Money, Outcome, Run, Seconds};
use harp_experiment::{Experiment, PlannedRun, Surroundings, parse};
use harp_measure::{MemoryMethod, Observer, Recorder, Spent, Stop, Summary, Sweep, SweepEnd, SweepError};

/// An experiment in a directory of its own.
struct Bench {
    directory: tempfile::TempDir,
    experiment: Experiment,
}

impl Bench {
    fn new(text: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let experiment = parse("harp.toml", text).unwrap().experiment;
        Self { directory, experiment }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn planned(&self) -> Vec<PlannedRun> {
        // Expects every file and nothing to take long: what is left is for the sweep to find out.
        let known = Surroundings {
            file_size: &|_| Some(1),
            expected_time: &|_| Some(Seconds(0.0)),
            expected_cost: &|_| Some(Money(0.0)),
        };
        self.experiment.plan(&self.experiment.scales(), &known).unwrap().runs
    }

    fn run_directory(&self, run: &Run) -> PathBuf {
        self.path("state/runs").join(format!("{}-{}", run.configuration.key(), run.repetition))
    }

    fn sweep(&self, keeper: &mut Keeper, stop: &Stop) -> Result<Summary, SweepError> {
        self.sweep_with(keeper, stop, |_| {})
    }

    fn sweep_with(
        &self,
        keeper: &mut Keeper,
        stop: &Stop,
        change: impl FnOnce(&mut Sweep<'_>),
    ) -> Result<Summary, SweepError> {
        let (directory, state) = (self.path(""), self.path("state"));
        let mut sweep = Sweep {
            experiment: &self.experiment,
            experiment_directory: &directory,
            state_directory: &state,
            runs: self.planned(),
            spent: Spent::default(),
            price: None,
            memory_method: MemoryMethod::Best,
            is_set_up: false,
        };
        change(&mut sweep);
        let mut witness = std::mem::take(&mut keeper.witness);
        let result = sweep.run(keeper, &mut witness, stop);
        keeper.witness = witness;
        result
    }

    /// Everything runs and is recorded.
    fn all(&self) -> Keeper {
        let mut keeper = Keeper::default();
        let summary = self.sweep(&mut keeper, &Stop::new()).unwrap();
        assert_eq!((summary.left, summary.end), (0, SweepEnd::Done));
        keeper
    }
}

/// Keeps runs in memory; fails at the given one.
#[derive(Default)]
struct Keeper {
    runs: Vec<Run>,
    fail_at: Option<usize>,
    witness: Witness,
}

impl Recorder for Keeper {
    fn record(&mut self, run: &Run) -> Result<(), Box<dyn Error + Send + Sync>> {
        if self.fail_at == Some(self.runs.len()) {
            return Err("no space left on device".into());
        }
        self.runs.push(run.clone());
        Ok(())
    }
}

#[derive(Default)]
struct Witness {
    started: Vec<Vec<usize>>,
    warnings: Vec<String>,
    lines: Vec<String>,
}

impl Observer for Witness {
    fn setting_up(&mut self, line: &str) {
        self.lines.push(line.to_owned());
    }
    fn started(&mut self, _run: &PlannedRun, cores: &[usize]) {
        self.started.push(cores.to_vec());
    }
    fn finished(&mut self, _run: &Run, warnings: &[String]) {
        self.warnings.extend_from_slice(warnings);
    }
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn every_run_is_recorded_once_with_its_figures_and_its_logs() {
    let bench = Bench::new(
        r#"
name = "steps"
[program]
command = "for i in 1 2 3; do echo step $i took $(({n} * i)) s; done; echo end >&2; echo done > result"
shell = true
setup = "echo set up >> setup.log"
own_directory = true
[program.success]
output = "step 3"
file = "result"
[metrics.mean_step]
pattern = 'took (?<value>\d+) s'
take = "mean"
[metrics.absent]
pattern = 'never (?<value>\d+)'
[parameters.n]
sd = [10, 20, 30]
[design]
repetitions = 2
"#,
    );
    let keeper = bench.all();
    assert_eq!(keeper.runs.len(), 6);
    assert_eq!(read(bench.path("setup.log")), "set up\n");
    assert_eq!(keeper.witness.lines.len(), 1);
    assert_eq!(keeper.witness.warnings.len(), 6, "one figure is absent from each run");
    for run in &keeper.runs {
        assert_eq!(run.application, "steps");
        assert_eq!(run.outcome, Outcome::Completed);
        assert!(run.usage.walltime.unwrap().0 > 0.0 && run.started.0 > 1_600_000_000_000);
        let n = run.configuration.parameters.get("n").unwrap().as_number().unwrap();
        assert_eq!(run.metrics.get("mean_step"), Some(&(n * 2.0)));
        assert_eq!(run.metrics.len(), 1);
        let directory = bench.run_directory(run);
        assert!(read(directory.join("stdout")).starts_with("step 1 took"));
        assert_eq!(read(directory.join("stderr")), "end\n");
        assert_eq!(read(directory.join("work/result")), "done\n");
    }
}

#[test]
fn inputs_templates_environment_and_what_follows_are_in_place() {
    let bench = Bench::new(
        r#"
name = "files"
[program]
command = "sort data.txt > sorted; cat run.cfg; echo $COLOUR; echo more >> copied.txt"
shell = true
after = "wc -l < sorted > lines"
environment = { COLOUR = "green" }
inputs = ["data.txt", { path = "other.txt", to = "copied.txt", how = "copy" }]
templates = [{ path = "run.tmpl", to = "run.cfg" }]
own_directory = true
[program.success]
file = "lines"
[metrics.lines]
pattern = '(?<value>\d+)'
from = "lines"
[parameters.n]
sd = [7]
"#,
    );
    bench.write("data.txt", "b\na\nc\n");
    bench.write("other.txt", "original\n");
    bench.write("run.tmpl", "count = {n}\n");
    let keeper = bench.all();
    let run = &keeper.runs[0];
    assert_eq!(run.outcome, Outcome::Completed);
    assert_eq!(run.metrics.get("lines"), Some(&3.0));
    let directory = bench.run_directory(run);
    assert_eq!(read(directory.join("stdout")), "count = 7\ngreen\n");
    assert!(fs::symlink_metadata(directory.join("work/data.txt")).unwrap().is_symlink());
    assert_eq!(read(bench.path("other.txt")), "original\n", "a copy may be changed");
    assert_eq!(read(directory.join("work/copied.txt")), "original\nmore\n");
}

#[test]
fn failures_are_told_apart_and_do_not_end_the_sweep() {
    let bench = Bench::new(
        r#"
name = "failures"
[program]
command = "case {way} in exit) exit 4;; silent) exit 0;; slow) sleep 60;; large) exec dd if=/dev/zero of=/dev/null bs=300M count=3;; good) ;; esac; echo ready"
shell = true
[program.success]
output = "ready"
[parameters.way]
type = "text"
sd = ["exit", "silent", "slow", "large", "good"]
[allocation]
memory = "64M"
[design]
timeout = 0.5
"#,
    );
    let keeper = bench.all();
    let outcome = |way: &str| {
        let of = |run: &&Run| run.configuration.parameters.get("way").unwrap().to_string() == way;
        keeper.runs.iter().find(of).unwrap().outcome.clone()
    };
    assert_eq!(outcome("exit"), Outcome::Failed { exit_code: 4 });
    assert!(matches!(outcome("silent"), Outcome::Rejected { .. }));
    assert_eq!(outcome("slow"), Outcome::TimedOut { limit: Seconds(0.5) });
    assert_eq!(outcome("large"), Outcome::OutOfMemory { limit: Some(Bytes(64 << 20)) });
    assert_eq!(outcome("good"), Outcome::Completed);
}

#[test]
fn what_follows_a_run_may_reject_it() {
    let bench = Bench::new(
        "name = \"x\"\n[program]\ncommand = \"true\"\nafter = \"test {n} -gt 1\"\n[parameters.n]\nsd = [1, 2]\n",
    );
    let keeper = bench.all();
    let completed = keeper.runs.iter().filter(|run| run.outcome.is_completed()).count();
    assert_eq!(completed, 1);
    let rejected = keeper.runs.iter().find(|run| !run.outcome.is_completed()).unwrap();
    let Outcome::Rejected { reason } = &rejected.outcome else { panic!("{:?}", rejected.outcome) };
    assert!(reason.contains("test 1 -gt 1"), "{reason}");
}

#[test]
fn what_cannot_be_started_is_recorded_with_the_reason() {
    let bench = Bench::new(
        r#"
name = "impossible"
[program]
command = "cat {data}"
inputs = ["{data}"]
own_directory = true
[parameters.data]
type = "file"
sd = ["there.txt", "absent.txt"]
[allocation]
cores = [1, 4000]
"#,
    );
    bench.write("there.txt", "x\n");
    let keeper = bench.all();
    let reasons: Vec<String> = keeper.runs.iter().map(|run| run.outcome.to_string()).collect();
    assert_eq!(reasons.iter().filter(|reason| reason.contains("4000 cores")).count(), 2, "{reasons:?}");
    assert_eq!(reasons.iter().filter(|reason| reason.contains("absent.txt")).count(), 1, "{reasons:?}");
    assert_eq!(reasons.iter().filter(|reason| *reason == "completed").count(), 1, "{reasons:?}");
}

#[test]
fn an_earlier_attempt_is_set_aside() {
    let bench = Bench::new(
        "name = \"x\"\n[program]\ncommand = \"echo {n}; touch mine; ls\"\nshell = true\nown_directory = true\n[parameters.n]\nsd = [1]\n",
    );
    for _ in 0..3 {
        assert_eq!(bench.all().runs.len(), 1);
    }
    let mut names: Vec<String> = fs::read_dir(bench.path("state/runs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 3);
    assert!(names[1].ends_with(".1") && names[2].ends_with(".2"), "{names:?}");
    for name in names {
        assert_eq!(read(bench.path("state/runs").join(name).join("stdout")), "1\nmine\n");
    }
}

const SLEEPS: &str = r#"
name = "sleeps"
[program]
command = "sleep {time}"
[parameters.time]
sd = [0.2, 0.21, 0.22, 0.23]
"#;

#[test]
fn runs_side_by_side_have_cores_of_their_own() {
    let bench = Bench::new(&format!("{SLEEPS}[design]\nparallel = \"auto\"\n[allocation]\ncores = 1\n"));
    let (cores, own_cores) = harp_measure::available_cores();
    let started = Instant::now();
    let keeper = bench.all();
    assert_eq!(keeper.runs.len(), 4);
    assert!(keeper.witness.started.iter().all(|used| used.len() == 1 && cores.contains(&used[0])));
    if own_cores > 1 {
        assert!(started.elapsed() < Duration::from_millis(700), "{:?}", started.elapsed());
        assert_ne!(keeper.witness.started[0], keeper.witness.started[1]);
    }
}

#[test]
fn one_run_at_a_time_unless_asked() {
    let bench = Bench::new(SLEEPS);
    let started = Instant::now();
    let keeper = bench.all();
    assert!(started.elapsed() > Duration::from_millis(860));
    assert!(keeper.witness.started.iter().all(Vec::is_empty), "the only run may use everything");
}

#[test]
fn a_run_that_cannot_be_recorded_ends_the_sweep() {
    for parallel in ["1", "\"auto\""] {
        let design = format!("[design]\nparallel = {parallel}\n[allocation]\ncores = 1\n");
        let bench = Bench::new(&format!("{SLEEPS}{design}"));
        let mut keeper = Keeper { fail_at: Some(1), ..Keeper::default() };
        let error = bench.sweep(&mut keeper, &Stop::new()).unwrap_err();
        assert!(error.to_string().contains("no space left"), "{error}");
        assert_eq!(keeper.runs.len(), 1);
    }
}

#[test]
fn a_directory_that_cannot_be_made_is_an_error() {
    let bench = Bench::new(SLEEPS);
    bench.write("state", "a file where a directory should be");
    let error = bench.sweep(&mut Keeper::default(), &Stop::new()).unwrap_err();
    assert!(matches!(error, SweepError::File { .. }), "{error}");
}

#[test]
fn a_failed_setup_ends_the_sweep() {
    let text = SLEEPS.replace("[program]", "[program]\nsetup = [\"true\", \"echo broken; exit 9\"]");
    let bench = Bench::new(&text);
    let error = bench.sweep(&mut Keeper::default(), &Stop::new()).unwrap_err();
    assert!(error.to_string().contains("exit code 9"), "{error}");
    assert_eq!(read(bench.path("state/setup/1.stdout")), "broken\n");
}

/// Asks for a stop once the given number of runs was started.
struct StopAfter(usize, Stop);

impl Observer for StopAfter {
    fn started(&mut self, _run: &PlannedRun, _cores: &[usize]) {
        self.0 -= 1;
        if self.0 == 0 {
            self.1.request();
        }
    }
}

#[test]
fn what_is_stopped_is_not_recorded_and_the_rest_can_follow() {
    let bench = Bench::new(SLEEPS);
    let (directory, state) = (bench.path(""), bench.path("state"));
    let stop = Stop::new();
    let mut keeper = Keeper::default();
    let mut sweep = Sweep {
        experiment: &bench.experiment,
        experiment_directory: &directory,
        state_directory: &state,
        runs: bench.planned(),
        spent: Spent::default(),
        price: None,
        memory_method: MemoryMethod::Sampling,
        is_set_up: false,
    };
    let summary = sweep.run(&mut keeper, &mut StopAfter(2, stop.clone()), &stop).unwrap();
    assert_eq!((summary.completed, summary.left, summary.end), (1, 3, SweepEnd::Stopped));
    assert_eq!(keeper.runs.len(), 1);
    sweep.runs.retain(|planned| planned.configuration != keeper.runs[0].configuration);
    let summary = sweep.run(&mut keeper, &mut (), &Stop::new()).unwrap();
    assert_eq!((summary.completed, summary.left, summary.end), (3, 0, SweepEnd::Done));
}

#[test]
fn the_total_time_ends_what_runs_without_recording_it() {
    let bench = Bench::new(&format!("{SLEEPS}[design]\ntotal_timeout = 0.3\n"));
    let mut keeper = Keeper::default();
    let started = Instant::now();
    let summary = bench.sweep(&mut keeper, &Stop::new()).unwrap();
    assert_eq!((summary.completed, summary.left, summary.end), (1, 3, SweepEnd::TotalTimeout));
    assert_eq!(keeper.runs.len(), 1);
    assert!(started.elapsed() < Duration::from_millis(600));
}

#[test]
fn a_used_up_budget_leaves_runs_out() {
    let bench = Bench::new(&format!("{SLEEPS}[design]\nbudget_time = 0.3\n"));
    let mut keeper = Keeper::default();
    let summary = bench.sweep(&mut keeper, &Stop::new()).unwrap();
    assert_eq!((summary.completed, summary.over_budget, summary.left), (2, 2, 0));
    // What was spent before counts.
    let spent = Spent::from([(keeper.runs[0].configuration.scale, (Seconds(0.4), Money(0.0)))]);
    let summary =
        bench.sweep_with(&mut Keeper::default(), &Stop::new(), |sweep| sweep.spent = spent).unwrap();
    assert_eq!((summary.completed, summary.over_budget), (0, 4));
}

#[test]
fn money_counts_when_somebody_knows_the_price() {
    let bench = Bench::new(&format!("{SLEEPS}[design]\nbudget_cost = 2.5\n"));
    let mut keeper = Keeper::default();
    let summary = bench
        .sweep_with(&mut keeper, &Stop::new(), |sweep| sweep.price = Some(&|_, _| Some(Money(1.0))))
        .unwrap();
    assert_eq!((summary.completed, summary.over_budget), (3, 1));
}
