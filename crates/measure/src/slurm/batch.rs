//! A submission: the runs that go to Slurm as one job array, and the files they share with their jobs.
//!
//! ```text
//! <state>/slurm/<batch>/job.sh          the script
//!                       tasks.json      what each task runs, in order
//!                       3.log           what task 3 said
//!                       3-0.started     its first run has begun
//!                       3-0.result      … and has ended: how, and what it used
//! <state>/slurm/<batch>.withdrawn/      given up: a job that comes late finds nothing to do
//! ```

use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use harp_core::{Configuration, Timestamp};
use harp_experiment::PlannedRun;
use harp_slurm::JobRequest;
use serde::{Deserialize, Serialize};

/// The name of a batch, which no other has: sixteen hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BatchId(pub String);

impl BatchId {
    /// A new one, by chance.
    pub fn new() -> io::Result<BatchId> {
        let mut bytes = [0; 8];
        fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(BatchId(bytes.iter().map(|byte| format!("{byte:02x}")).collect()))
    }

    /// The batch of a job of this name.
    pub fn of_job_name(name: &str) -> Option<BatchId> {
        harp_slurm::batch_of_job_name(name).map(|id| BatchId(id.to_owned()))
    }
}

impl fmt::Display for BatchId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

/// Runs that are submitted together, each task with the same request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Its name.
    pub id: BatchId,
    /// The experiment's name, for people who read the queue; empty in batches of earlier versions.
    #[serde(default)]
    pub experiment: String,
    /// When it was made.
    pub created: Timestamp,
    /// What each task asks for.
    pub request: JobRequest,
    /// The runs of each task, in the order they run.
    pub tasks: Vec<Vec<BatchRun>>,
}

/// One run of a batch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatchRun {
    /// What is run.
    pub configuration: Configuration,
    /// Which repetition.
    pub repetition: u32,
    /// How often it was submitted before and came back without an outcome of its own.
    #[serde(default)]
    pub returned: u32,
}

/// A batch that is not settled, as the ledger remembers it.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenBatch {
    /// The batch.
    pub batch: Batch,
    /// Its job, once Slurm has said its number.
    pub job: Option<u64>,
    /// Positions of its runs that are settled.
    pub settled: Vec<usize>,
}

impl BatchRun {
    /// The run as it was planned.
    pub fn planned(&self) -> PlannedRun {
        PlannedRun { configuration: self.configuration.clone(), repetition: self.repetition }
    }
}

impl Batch {
    /// The name its job has, by which it is found again whatever happens in between.
    pub fn job_name(&self) -> String {
        harp_slurm::own_job_name(&self.experiment, &self.id.0)
    }

    /// Task, place in the task, and run of each position.
    pub fn positions(&self) -> impl Iterator<Item = (usize, usize, &BatchRun)> {
        self.tasks
            .iter()
            .enumerate()
            .flat_map(|(task, runs)| runs.iter().enumerate().map(move |(place, run)| (task, place, run)))
    }

    /// How many runs it has.
    pub fn len(&self) -> usize {
        self.tasks.iter().map(Vec::len).sum()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Where the files of a batch are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchFolder(pub PathBuf);

impl BatchFolder {
    /// The folder of a batch.
    pub fn of(state: &Path, id: &BatchId) -> BatchFolder {
        BatchFolder(state.join("slurm").join(&id.0))
    }

    /// The script.
    pub fn script(&self) -> PathBuf {
        self.0.join("job.sh")
    }

    /// What its tasks run.
    pub fn tasks(&self) -> PathBuf {
        self.0.join("tasks.json")
    }

    /// There once a run has begun.
    pub fn started(&self, task: usize, place: usize) -> PathBuf {
        self.0.join(format!("{task}-{place}.started"))
    }

    /// There once a run has ended.
    pub fn result(&self, task: usize, place: usize) -> PathBuf {
        self.0.join(format!("{task}-{place}.result"))
    }

    /// The last line a task's job wrote by itself.
    pub fn last_words(&self, task: usize) -> Option<String> {
        let text = fs::read(self.0.join(format!("{task}.log"))).ok()?;
        let text = String::from_utf8_lossy(&text);
        text.lines()
            .rev()
            .map(str::trim)
            .find(|line| !line.is_empty())
            // a shell names the script, by a path of the node that nobody can open any more
            .map(|line| line.rsplit_once("/slurm_script: ").map_or(line, |(_, complaint)| complaint))
            .map(|line| line.chars().take(300).collect())
    }

    /// There once a task is given up: whoever comes late must not run it.
    pub fn withdrawn(&self, task: usize) -> PathBuf {
        self.0.join(format!("{task}.withdrawn"))
    }

    /// Gives the whole batch up; `false` if it was not there.
    pub fn withdraw(&self) -> io::Result<bool> {
        match fs::rename(&self.0, self.aside()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Takes back that it was given up.
    pub fn reinstate(&self) -> io::Result<()> {
        fs::rename(self.aside(), &self.0)
    }

    fn aside(&self) -> PathBuf {
        let mut name = self.0.as_os_str().to_owned();
        name.push(".withdrawn");
        PathBuf::from(name)
    }
}

/// Writes a file so that it is there whole or not at all, and stays.
pub(super) fn write_whole(file: &Path, bytes: &[u8]) -> io::Result<()> {
    write_beside(file, bytes, fs::File::sync_all)
}

/// The same without waiting for the disk, which many jobs share. Should the machine crash, the file may be
/// empty.
pub(super) fn write_soon(file: &Path, bytes: &[u8]) -> io::Result<()> {
    write_beside(file, bytes, |_| Ok(()))
}

fn write_beside(file: &Path, bytes: &[u8], keep: impl Fn(&fs::File) -> io::Result<()>) -> io::Result<()> {
    let mut beside = file.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let beside = PathBuf::from(beside);
    let mut opened = fs::File::create(&beside)?;
    opened.write_all(bytes)?;
    keep(&opened)?;
    fs::rename(&beside, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_found_by_the_name_of_its_job() {
        let id = BatchId::new().unwrap();
        assert_ne!(id, BatchId::new().unwrap());
        let text = format!(r#"{{"id":"{id}","created":5,"request":{{}},"tasks":[]}}"#);
        let earlier: Batch = serde_json::from_str(&text).unwrap();
        assert_eq!(earlier.job_name(), format!("harp-{id}"), "as a version without the experiment kept it");
        let batch = Batch { experiment: "heat 2D".to_owned(), ..earlier.clone() };
        assert_eq!(batch.job_name(), format!("harp-heat-2D-{id}"));
        for batch in [earlier, batch] {
            assert_eq!(BatchId::of_job_name(&batch.job_name()), Some(id.clone()));
        }
        assert_eq!(BatchId::of_job_name("heat"), None);
    }

    #[test]
    fn the_last_words_of_a_job_name_no_file_of_a_node() {
        let state = tempfile::tempdir().unwrap();
        let folder = BatchFolder::of(state.path(), &BatchId("0123456789abcdef".into()));
        assert_eq!(folder.last_words(0), None);
        fs::create_dir_all(&folder.0).unwrap();
        let said = "loading\n/var/spool/slurmd/job00046/slurm_script: line 19: module: command not found\n\n";
        fs::write(folder.0.join("0.log"), said).unwrap();
        assert_eq!(folder.last_words(0).as_deref(), Some("line 19: module: command not found"));
        fs::write(folder.0.join("1.log"), "slurmstepd: error: no such node\n").unwrap();
        assert_eq!(folder.last_words(1).as_deref(), Some("slurmstepd: error: no such node"));
    }

    #[test]
    fn what_is_withdrawn_can_be_reinstated() {
        let state = tempfile::tempdir().unwrap();
        let folder = BatchFolder::of(state.path(), &BatchId("0123456789abcdef".into()));
        assert!(!folder.withdraw().unwrap());
        fs::create_dir_all(&folder.0).unwrap();
        write_whole(&folder.tasks(), b"[]").unwrap();
        assert!(folder.withdraw().unwrap());
        assert!(!folder.tasks().exists());
        folder.reinstate().unwrap();
        assert_eq!(fs::read(folder.tasks()).unwrap(), b"[]");
    }
}
