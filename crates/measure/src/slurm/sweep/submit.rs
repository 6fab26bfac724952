//! Submitting: the files of the runs, the intention, and only then the call.

use std::path::PathBuf;

use harp_core::Seconds;
use harp_experiment::Execute;
use harp_slurm::{ArrayScript, JobRequest, own_job_name};

use super::open::Open;
use super::{SlurmSweep, SlurmSweepError, State};
use crate::Program;
use crate::slurm::batch::{Batch, BatchFolder, BatchId, BatchRun, OpenBatch, write_whole};
use crate::slurm::inside::InsideRun;
use crate::slurm::pack::{Array, Candidate, Packing, arrays};
use crate::slurm::{SlurmError, client};
use crate::sweep::{RunDirectory, SweepError, make_directory, prepare};

impl SlurmSweep<'_> {
    /// The arrays that some runs would be submitted as.
    pub fn arrays(&self, runs: &[BatchRun]) -> Vec<Array> {
        self.arrays_within(runs, self.most_jobs)
    }

    fn arrays_within(&self, runs: &[BatchRun], most_tasks: usize) -> Vec<Array> {
        let candidates: Vec<Candidate> = runs.iter().cloned().map(self.describe).collect();
        let most_tasks = most_tasks.min(self.packing.most_tasks);
        // What processes on several nodes use only accounting knows, and it knows it job by job.
        let target = if self.experiment.program.mpi { Seconds(0.0) } else { self.packing.target };
        arrays(&candidates, &Packing { most_tasks, target, ..self.packing })
    }

    /// The script a batch is submitted with.
    pub fn script(&self, id: &BatchId, request: &JobRequest, tasks: usize) -> String {
        let folder = BatchFolder::of(self.state_directory, id).0.display().to_string();
        let command: Vec<String> = self.runner.iter().cloned().chain([folder.clone()]).collect();
        let script = ArrayScript {
            name: &own_job_name(&self.experiment.name, &id.0),
            comment: &format!("harp {}", self.experiment.application()),
            folder: &folder,
            tasks,
            request,
            modules: &self.experiment.program.modules,
            command: &command,
        };
        script.text()
    }

    /// What a run does in its job; the inner error says why it cannot be started.
    fn inside(&self, run: &BatchRun, request: &JobRequest) -> Result<Result<InsideRun, String>, SweepError> {
        let planned = run.planned();
        let directory = RunDirectory::create(self.state_directory, &planned)?;
        let rendered = match prepare(self.experiment, self.experiment_directory, &planned, &directory)? {
            Ok(rendered) => rendered,
            Err(reason) => return Ok(Err(reason)),
        };
        let program = match rendered.execute {
            Execute::Words(words) => Program::Direct(words),
            Execute::Shell(line) => Program::Shell(line),
        };
        let program = if self.experiment.program.mpi { through_srun(program, request) } else { program };
        Ok(Ok(InsideRun {
            program,
            environment: rendered.environment.into_iter().collect(),
            directory: rendered.directory,
            logs: directory.path().to_owned(),
            time_limit: rendered.timeout.filter(|_| self.time_outs),
            after: rendered.after,
            by_slurm: self.experiment.program.mpi,
        }))
    }
}

/// A batch and what each run of each of its tasks does.
type Together = (Batch, Vec<Vec<InsideRun>>);

/// One process for each task of the job, started by Slurm.
fn through_srun(program: Program, request: &JobRequest) -> Program {
    let mut words = vec!["srun".to_owned(), format!("--ntasks={}", request.processes())];
    // Since Slurm 22.05 srun no longer takes this from the batch job.
    words.extend(request.cores_per_task.map(|cores| format!("--cpus-per-task={cores}")));
    match program {
        Program::Direct(program) => words.extend(program),
        Program::Shell(line) => words.extend(["/bin/sh".to_owned(), "-c".to_owned(), line]),
    }
    Program::Direct(words)
}

impl State<'_, '_> {
    /// Submits while there is room. Room is made in large pieces: many small arrays would be a flood, too.
    pub(super) fn submit(&mut self) -> Result<(), SlurmSweepError> {
        let most = self.sweep.most_jobs.max(1);
        let in_queue: usize = self.open.iter().map(|batch| batch.tasks().len()).sum();
        if self.pending.is_empty() || (in_queue > 0 && 2 * in_queue > most) {
            return Ok(());
        }
        let mut room = most - in_queue;
        for mut array in self.sweep.arrays_within(&self.pending, room) {
            if room == 0 || self.held {
                break;
            }
            array.tasks.truncate(room);
            room -= array.tasks.len();
            self.submit_array(array)?;
        }
        Ok(())
    }

    fn submit_array(&mut self, array: Array) -> Result<(), SlurmSweepError> {
        let taken: Vec<&BatchRun> = array.tasks.iter().flatten().collect();
        self.pending.retain(|run| !taken.contains(&run));
        let Some((batch, inside)) = self.put_together(array)? else { return Ok(()) };
        let folder = BatchFolder::of(self.sweep.state_directory, &batch.id);
        let failed = |path: PathBuf| move |source| SweepError::File { action: "write", path, source };
        make_directory(&folder.0)?;
        let tasks = serde_json::to_vec(&inside).map_err(std::io::Error::from);
        tasks.and_then(|tasks| write_whole(&folder.tasks(), &tasks)).map_err(failed(folder.tasks()))?;
        let script = self.sweep.script(&batch.id, &batch.request, batch.tasks.len());
        write_whole(&folder.script(), script.as_bytes()).map_err(failed(folder.script()))?;

        self.ledger.intend(&batch).map_err(SweepError::Record)?;
        let (id, tasks, runs) = (batch.id.clone(), batch.tasks.len(), batch.len());
        self.open
            .push(Open::of(OpenBatch { batch, job: None, settled: Vec::new() }, self.sweep.state_directory));
        match client::submit(&folder.script()) {
            Ok(job) => {
                self.ledger.submitted(&id, job).map_err(SweepError::Record)?;
                if let Some(open) = self.open.last_mut() {
                    open.job = Some(job);
                }
                self.observer.submitted(job, tasks, runs);
                self.pace.hurry();
                Ok(())
            }
            // It may have arrived all the same: it is looked for before anything else is done about it.
            Err(SlurmError::Unreachable { .. } | SlurmError::TooSlow { .. }) => Ok(()),
            Err(error) => self.refused(error, folder),
        }
    }

    /// Slurm has said no, so there is no such job.
    fn refused(&mut self, error: SlurmError, folder: BatchFolder) -> Result<(), SlurmSweepError> {
        let last = self.open.len() - 1;
        self.give_back_all(last)?;
        self.open.retain(|batch| !batch.is_settled());
        let said = match error {
            SlurmError::Failed { said, .. } | SlurmError::NotAllowed { said, .. } => said,
            other => return Err(other.into()),
        };
        // A limit on how many jobs a person may have: there is room when one has ended.
        let is_full = ["limit", "too many"].iter().any(|word| said.to_ascii_lowercase().contains(word));
        if is_full && !self.open.is_empty() {
            self.held = true;
            return Ok(());
        }
        Err(SlurmSweepError::Refused { said, script: folder.script() })
    }

    /// The batch and what its tasks do, without runs that cannot be started; those are recorded.
    fn put_together(&mut self, array: Array) -> Result<Option<Together>, SlurmSweepError> {
        let id = BatchId::new().map_err(|source| SweepError::File {
            action: "read",
            path: "/dev/urandom".into(),
            source,
        })?;
        let experiment = self.sweep.experiment.name.clone();
        let mut batch =
            Batch { id, experiment, created: crate::now(), request: array.request, tasks: Vec::new() };
        let mut inside = Vec::new();
        let mut unstartable = Vec::new();
        for runs in array.tasks {
            let (mut kept, mut rendered) = (Vec::new(), Vec::new());
            for run in runs {
                match self.sweep.inside(&run, &batch.request)? {
                    Ok(inside) => {
                        kept.push(run);
                        rendered.push(inside);
                    }
                    Err(reason) => unstartable.push((run, reason)),
                }
            }
            if !kept.is_empty() {
                batch.tasks.push(kept);
                inside.push(rendered);
            }
        }
        for (run, reason) in unstartable {
            self.record_unstartable(run, reason)?;
        }
        Ok((!batch.is_empty()).then_some((batch, inside)))
    }
}
