//! Which job ran on which processors, over time.

use super::Canvas;
use super::axis::Axis;
use super::colour::{SERIES, series_class};
use super::frame::{Plot, header};
use super::lettering::text_width;
use super::svg::{Anchor, Drawing};
use crate::Quantity;
use crate::text::plural;
use crate::view::{AxisView, GanttView};

/// Most rectangles that are drawn; beyond that a reader tells nothing apart.
const MOST_RECTANGLES: usize = 6000;

/// Draws each job as a rectangle over its processors and its time; neighbours differ in colour.
pub fn gantt_chart(view: &GanttView, canvas: &Canvas) -> String {
    let mut drawing = Drawing::default();
    let top = header(&mut drawing, canvas, &view.title, &view.subtitle, &[]);
    let x = AxisView::linear(view.time_name.clone(), Quantity::Seconds);
    let y = AxisView::linear("processors", Quantity::Number);
    let x = Axis::up_to(&x, view.length);
    let y = Axis::up_to(&y, f64::from(view.processors));
    let plot = Plot::new(canvas, top, 10.0, x, y);
    plot.draw(&mut drawing);
    if view.jobs.is_empty() {
        plot.draw_empty(&mut drawing);
    }
    let mut drawn = 0;
    plot.clipped(&mut drawing, canvas, |drawing| {
        for (index, job) in view.jobs.iter().enumerate() {
            let left = plot.x.position(job.start.max(0.0));
            let right = plot.x.position(job.end.min(view.length));
            if right <= left || drawn >= MOST_RECTANGLES {
                continue;
            }
            let noted = view.jobs.len() <= 1000;
            drawing.group(series_class(index % SERIES), if noted { &job.name } else { "" }, |drawing| {
                for &(first, count) in &job.processors {
                    drawn += 1;
                    let high = plot.y.position(f64::from(first) + f64::from(count));
                    let low = plot.y.position(f64::from(first));
                    drawing.rectangle("solid soft", (left, high), right - left, low - high);
                    let middle = ((left + right) / 2.0, (low + high) / 2.0 + 4.0);
                    if low - high > 14.0 && right - left > text_width(&job.name, 11.0) + 6.0 {
                        drawing.text("small halo", middle, Anchor::Middle, &job.name);
                    }
                }
            });
        }
    });
    let description =
        format!("{} on {} processors over time.", plural(view.jobs.len(), "job"), view.processors);
    drawing.finish(canvas, &view.title, &description)
}
