//! The charts of a simulation, as files: waits, queue length, and processors over time.

use std::path::Path;

use harp_report::{
    AxisView, Canvas, GanttBar, GanttView, LineSeries, LinesView, Quantity, gantt_chart, lines_chart,
};
use harp_sim::{GanttJob, Moment, PolicyResult, Schedule, SimulateResult, Workload};

use super::command::file_for;
use crate::cells::compact;
use crate::failure::Failure;
use crate::project;
use crate::terminal::Terminal;

/// The length of the window where none is given.
const WINDOW: i64 = 12 * 3600;

/// Spans of time that are drawn: with more, the lines of several policies hide each other.
const SPANS: usize = 80;

/// What is drawn and where it is put.
pub struct Charts<'a> {
    /// The jobs.
    pub workload: &'a Workload,
    /// The figures.
    pub result: &'a SimulateResult,
    /// The schedules, in the order of the policies.
    pub schedules: &'a [Schedule],
    /// The window of the chart of processors over time.
    pub window: Option<(i64, i64)>,
}

impl Charts<'_> {
    /// Writes `wait.svg`, `queue.svg`, `utilisation.svg` and `gantt-POLICY.svg`.
    pub fn write(&self, folder: &Path, terminal: &Terminal) -> Result<(), Failure> {
        std::fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))?;
        let canvas = Canvas::default();
        let write = |file: &Path, chart: String| -> Result<(), Failure> {
            project::write_whole(file, &chart)?;
            terminal.say(&format!("wrote {}", file.display()));
            Ok(())
        };
        write(&folder.join("wait.svg"), lines_chart(&self.waits(), &canvas))?;
        write(&folder.join("queue.svg"), lines_chart(&self.queue(), &canvas))?;
        write(&folder.join("utilisation.svg"), lines_chart(&self.utilisation(), &canvas))?;
        let window = self.window.unwrap_or_else(|| self.busiest_window());
        for (policy, schedule) in self.result.policies.iter().zip(self.schedules) {
            let name = &policy.metrics.name;
            let file = file_for(&folder.join("gantt.svg"), name);
            write(&file, gantt_chart(&self.gantt(name, schedule, window), &canvas))?;
        }
        Ok(())
    }

    fn lines(&self, points: impl Fn(&PolicyResult) -> Vec<(f64, f64)>) -> Vec<LineSeries> {
        let line =
            |policy: &PolicyResult| LineSeries { name: policy.metrics.name.clone(), points: points(policy) };
        self.result.policies.iter().map(line).collect()
    }

    /// The distribution of waits.
    fn waits(&self) -> LinesView {
        LinesView {
            title: "How long jobs wait".to_owned(),
            subtitle: "Share of jobs that wait at most so long; below 1 s is drawn at 1 s".to_owned(),
            x: AxisView::logarithmic("wait", Quantity::Seconds),
            y: AxisView::linear("share of jobs", Quantity::Percent),
            series: self.lines(|policy| {
                let waits = policy.wait_percentiles_s.iter().enumerate();
                waits.map(|(percent, &wait)| (wait.max(1.0), percent as f64)).collect()
            }),
        }
    }

    fn over_time(&self, title: &str, y: AxisView, value: impl Fn(&Moment) -> f64) -> LinesView {
        let points = |policy: &PolicyResult| {
            let chunks = policy.timeline.chunks(policy.timeline.len().div_ceil(SPANS).max(1));
            let mean = |chunk: &[Moment]| chunk.iter().map(&value).sum::<f64>() / chunk.len() as f64;
            let middle = |chunk: &[Moment]| chunk[chunk.len() / 2].time_s as f64;
            chunks.map(|chunk| (middle(chunk), mean(chunk))).collect()
        };
        let longest = self.result.policies.iter().map(|policy| policy.metrics.makespan_s).fold(0.0, f64::max);
        LinesView {
            title: title.to_owned(),
            subtitle: format!("Means over spans of up to {}", compact(longest / SPANS as f64)),
            x: AxisView::linear("time since the first submission", Quantity::Seconds),
            y,
            series: self.lines(points),
        }
    }

    fn queue(&self) -> LinesView {
        let y = AxisView::linear("waiting jobs", Quantity::Number);
        self.over_time("Queue length over time", y, |moment| moment.waiting)
    }

    fn utilisation(&self) -> LinesView {
        let y = AxisView::linear("processors in use", Quantity::Percent);
        let processors = f64::from(self.result.processors.max(1));
        self.over_time("Utilisation over time", y, |moment| 100.0 * moment.busy / processors)
    }

    /// Around the longest queue of the first policy.
    fn busiest_window(&self) -> (i64, i64) {
        let moments = self.result.policies.first().map_or(&[][..], |policy| &policy.timeline);
        let longest = moments.iter().max_by(|a, b| a.waiting.total_cmp(&b.waiting));
        let from = longest.map_or(0, |moment| moment.time_s - WINDOW / 2).max(0);
        let end = self.result.policies.iter().map(|policy| policy.metrics.makespan_s as i64).max();
        let length = WINDOW.min(end.unwrap_or(WINDOW)).max(1);
        (from, from + length)
    }

    fn gantt(&self, policy: &str, schedule: &Schedule, (from, to): (i64, i64)) -> GanttView {
        let bar = |job: GanttJob| GanttBar {
            name: job.job.to_string(),
            start: (job.start_s - from) as f64,
            end: (job.end_s - from) as f64,
            processors: job.processors,
        };
        let jobs = harp_sim::gantt(self.workload, schedule, from, to);
        GanttView {
            title: format!("Jobs on processors, {policy}"),
            subtitle: format!(
                "{} from {} after the first submission; each job on the lowest free processors",
                compact((to - from) as f64),
                compact(from as f64)
            ),
            time_name: "time in the window".to_owned(),
            length: (to - from) as f64,
            processors: self.result.processors,
            jobs: jobs.into_iter().map(bar).collect(),
        }
    }
}
