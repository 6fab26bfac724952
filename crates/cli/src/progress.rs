//! What a person sees while a sweep runs, and what `harp status` is told.

use std::fs;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use harp_core::{Configuration, Money, Run, Seconds};
use harp_experiment::PlannedRun;
use harp_measure::Observer;
use harp_report::Tone;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::{Deserialize, Serialize};

use crate::on_slurm;
use crate::sweep::Knowledge;
use crate::terminal::Terminal;

/// A run that is going on, as written to `running.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Running {
    /// What runs.
    pub configuration: Configuration,
    /// Which repetition.
    pub repetition: u32,
    /// When it started, in milliseconds since 1970.
    pub started_ms: i64,
}

/// Shows a bar on a terminal, nothing when piped; either way keeps `running.json` true.
pub struct Progress<'a> {
    terminal: &'a Terminal,
    knowledge: &'a mut Knowledge,
    bar: ProgressBar,
    running_file: PathBuf,
    running: Vec<Running>,
    shown: Option<Instant>,
    failed: usize,
    left: Vec<PlannedRun>,
}

/// Progress is for people: shown at most this often, so that short runs pay nothing for it.
const BETWEEN_UPDATES: Duration = Duration::from_millis(200);

impl<'a> Progress<'a> {
    /// Progress over runs that are about to start.
    pub fn new(
        terminal: &'a Terminal,
        knowledge: &'a mut Knowledge,
        runs: &[PlannedRun],
        running_file: PathBuf,
    ) -> Self {
        let visible = !terminal.quiet && std::io::stderr().is_terminal();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(runs.len() as u64), target);
        let template = "{bar:24} {pos}/{len}  {elapsed} gone  {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(if terminal.talk_style.unicode {
                style.progress_chars("━╸ ")
            } else {
                style.progress_chars("#- ")
            });
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        Progress {
            terminal,
            knowledge,
            bar,
            running_file,
            running: Vec::new(),
            shown: None,
            failed: 0,
            left: runs.to_vec(),
        }
    }

    /// Takes the bar away and says that nothing runs any more.
    pub fn finish(self) {
        self.bar.finish_and_clear();
        // It is a courtesy to `harp status`, which does not trust it without the lock.
        let _ = fs::remove_file(&self.running_file);
    }

    /// Brings the file and the bar up to date when a run starts, but not more often than people can
    /// read: a run that lasts is always shown.
    fn show(&mut self) {
        if self.shown.is_some_and(|shown| shown.elapsed() < BETWEEN_UPDATES) {
            return;
        }
        self.shown = Some(Instant::now());
        if let Ok(text) = serde_json::to_string(&self.running) {
            let _ = fs::write(&self.running_file, text);
        }
        if self.bar.is_hidden() {
            return;
        }
        let mut parts = Vec::new();
        if self.failed > 0 {
            parts.push(self.terminal.talk_style.paint(Tone::Bad, &format!("{} failed", self.failed)));
        }
        let left: Option<Seconds> = self.left.iter().map(|run| self.knowledge.time(&run.configuration)).sum();
        parts.extend(left.map(|left| format!("about {left} left")));
        let money: Option<Money> = self.left.iter().map(|run| self.knowledge.cost(&run.configuration)).sum();
        parts.extend(money.map(|money| self.knowledge.site().format_price(money)));
        parts.extend(self.running.last().map(|running| running.configuration.to_string()));
        self.bar.set_message(parts.join("  "));
    }
}

impl Observer for Progress<'_> {
    fn started(&mut self, run: &PlannedRun, _cores: &[usize]) {
        self.left.retain(|left| left != run);
        self.running.push(Running {
            configuration: run.configuration.clone(),
            repetition: run.repetition,
            started_ms: jiff::Timestamp::now().as_millisecond(),
        });
        self.show();
    }

    fn finished(&mut self, run: &Run, warnings: &[String]) {
        let is_this = |running: &Running| {
            running.configuration == run.configuration && running.repetition == run.repetition
        };
        self.running.retain(|running| !is_this(running));
        self.bar.inc(1);
        self.knowledge.learn(run);
        if !run.outcome.is_completed() {
            self.failed += 1;
            // Where nobody watches, the summary at the end is enough.
            if !self.bar.is_hidden() {
                let text = format!("{}: {} {}", run.outcome, run.configuration.scale, run.configuration);
                self.bar.suspend(|| self.terminal.say(&text));
            }
        }
        for warning in warnings {
            self.bar.suspend(|| self.terminal.say(&format!("warning: {}: {warning}", run.configuration)));
        }
    }

    fn submitted(&mut self, job: u64, tasks: usize, runs: usize) {
        self.bar.suspend(|| self.terminal.say(&on_slurm::submitted(job, tasks, runs)));
    }

    fn setting_up(&mut self, line: &str) {
        self.bar.suspend(|| self.terminal.say(&format!("setting up: {line}")));
    }
}
