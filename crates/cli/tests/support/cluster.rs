//! A real Slurm cluster for tests: started when the first test asks for it, stopped when this process
//! ends, however it ends.

#![allow(dead_code)] // each test program uses a part of it

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The cluster of this process.
pub struct Cluster {
    configuration: PathBuf,
}

impl Cluster {
    /// The one cluster of this process.
    pub fn shared() -> &'static Cluster {
        static CLUSTER: OnceLock<Cluster> = OnceLock::new();
        CLUSTER.get_or_init(|| {
            // sockets have short paths: not below the build folder
            let folder = std::env::temp_dir().join(format!("harp-testbed-{}", std::process::id()));
            let script = super::support::repository().join("testbed/start.sh");
            let output = Command::new(script)
                .arg(&folder)
                .env("TESTBED_OWNER", std::process::id().to_string())
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Cluster { configuration: folder.join("client/slurm.conf") }
        })
    }

    /// Stops the controller and starts it again, as an operator would.
    pub fn restart_controller(&self) {
        self.stop("slurmctld");
        self.start_what_is_down();
    }

    /// Starts every daemon that does not run, and waits until all nodes are up.
    pub fn start_what_is_down(&self) {
        let script = super::support::repository().join("testbed/start.sh");
        let output = Command::new(script).arg(self.folder()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Stops a daemon.
    pub fn stop(&self, daemon: &str) {
        let pid = self.process(daemon);
        assert!(Command::new("kill").arg(&pid).status().unwrap().success());
        let begin = Instant::now();
        while Path::new("/proc").join(&pid).exists() {
            assert!(begin.elapsed() < Duration::from_secs(60), "{daemon} does not stop");
            sleep(Duration::from_millis(100));
        }
    }

    /// The controller loses all it knew of jobs and had not told accounting yet, and starts again.
    pub fn forget_jobs(&self) {
        self.stop("slurmctld");
        for file in ["job_state", "job_state.old", "dbd.messages"] {
            std::fs::remove_file(self.folder().join("state").join(file)).unwrap_or_default();
        }
        self.start_what_is_down();
    }

    /// A node loses its power: its daemon and everything on it is gone at once, and Slurm notices.
    pub fn fail_node(&self, node: &str) {
        let kill = |pid: &str| Command::new("kill").args(["-KILL", pid]).output().unwrap();
        assert!(kill(&self.process(&format!("slurmd.{node}"))).status.success());
        let begin = Instant::now();
        loop {
            let found = self.processes_on(node);
            if found.is_empty() {
                break;
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "{found:?} do not end");
            for pid in &found {
                kill(pid);
            }
            sleep(Duration::from_millis(50));
        }
        // Slurm would find out by itself after `SlurmdTimeout`
        self.ask("scontrol", &["update", &format!("nodename={node}"), "state=down", "reason=power"]);
    }

    /// The processes of jobs on a node; the ones that watch over them first, who else would tell of it.
    fn processes_on(&self, node: &str) -> Vec<String> {
        let read = |pid: &str, file: &str| std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let configuration = format!("SLURM_CONF={}/", self.folder().display());
        let (mut watchers, mut found) = (Vec::new(), Vec::new());
        for entry in std::fs::read_dir("/proc").unwrap().flatten() {
            let Ok(pid) = entry.file_name().into_string() else { continue };
            if !pid.bytes().all(|byte| byte.is_ascii_digit()) {
                continue;
            }
            let environment = read(&pid, "environ");
            let has = |is_it: &dyn Fn(&[u8]) -> bool| environment.split(|byte| *byte == 0).any(is_it);
            if !has(&|variable| variable.starts_with(configuration.as_bytes()))
                || !has(&|variable| variable == format!("SLURMD_NODENAME={node}").as_bytes())
            {
                continue;
            }
            let status = String::from_utf8(read(&pid, "status")).unwrap_or_default();
            let parent = status.lines().find_map(|line| line.strip_prefix("PPid:")).unwrap_or("").trim();
            if read(parent, "comm") == b"slurmstepd\n" {
                watchers.push(parent.to_owned());
            }
            found.push(pid);
        }
        [watchers, found].concat()
    }

    /// Has a task that was put back into the queue start now: by itself Slurm waits two minutes. A node
    /// refuses to start a job in the second in which it has ended it, so there is some wait.
    pub fn start_at_once(&self, task: &str) {
        sleep(Duration::from_secs(2));
        let begin = Instant::now();
        let now = ["update", &format!("jobid={task}"), "starttime=now"];
        while !self.client("scontrol", &now).output().unwrap().status.success() {
            assert!(begin.elapsed() < Duration::from_secs(60), "{task} is not back in the queue");
            sleep(Duration::from_millis(100));
        }
    }

    /// Where everything of it is.
    pub fn folder(&self) -> &Path {
        self.configuration.parent().unwrap().parent().unwrap()
    }

    fn process(&self, daemon: &str) -> String {
        let text = std::fs::read_to_string(self.folder().join(format!("run/{daemon}.process"))).unwrap();
        text.split_whitespace().next().unwrap().to_owned()
    }

    /// The configuration clients find it by.
    pub fn configuration(&self) -> &Path {
        &self.configuration
    }

    /// A client of this cluster.
    pub fn client(&self, name: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(name);
        command.args(arguments).env("SLURM_CONF", &self.configuration).env("TZ", "UTC");
        command
    }

    /// What a client prints; fails the test when it complains.
    pub fn ask(&self, name: &str, arguments: &[&str]) -> String {
        let output = self.client(name, arguments).output().unwrap();
        assert!(output.status.success(), "{name} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Submits a command as a job and gives its id.
    pub fn submit(&self, options: &[&str], command: &str) -> String {
        let fixed = ["--parsable", "--output=/dev/null"];
        let arguments = [&fixed, options, &["--wrap", command]].concat();
        self.ask("sbatch", &arguments).trim().split(';').next().unwrap().to_owned()
    }

    /// harp on this cluster.
    pub fn harp(&self, directory: &Path, arguments: &[&str], expected: i32) -> Output {
        let mut command = super::support::harp(directory, arguments);
        let output = command.env("SLURM_CONF", &self.configuration).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(expected), "harp {arguments:?}: {said}");
        output
    }

    /// What harp prints on this cluster, as JSON.
    pub fn harp_json(&self, directory: &Path, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_slice(&self.harp(directory, arguments, 0).stdout).unwrap()
    }

    /// Waits until accounting shows as many rows of jobs in final states as there should be.
    pub fn wait_until_accounted(&self, jobs: &[&str], rows: usize) {
        let begin = Instant::now();
        let list = format!("--jobs={}", jobs.join(","));
        loop {
            let answer = self.ask("sacct", &["-n", "-P", "-X", "-o", "State,End", &list]);
            let is_over = |line: &&str| {
                !line.starts_with("PENDING") && !line.starts_with("RUNNING") && !line.ends_with("Unknown")
            };
            if answer.lines().filter(is_over).count() == rows && answer.lines().count() == rows {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(120), "jobs {jobs:?} are not over:\n{answer}");
            sleep(Duration::from_millis(300));
        }
    }
}
