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
        let folder = self.configuration.parent().unwrap().parent().unwrap();
        let process = std::fs::read_to_string(folder.join("run/slurmctld.process")).unwrap();
        let pid = process.split_whitespace().next().unwrap();
        assert!(Command::new("kill").arg(pid).status().unwrap().success());
        let begin = Instant::now();
        while Path::new("/proc").join(pid).exists() {
            assert!(begin.elapsed() < Duration::from_secs(60), "the controller does not stop");
            sleep(Duration::from_millis(100));
        }
        let output =
            Command::new(super::support::repository().join("testbed/start.sh")).arg(folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
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
