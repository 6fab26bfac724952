//! Writes every chart, the page and the tables, with made-up numbers, to a folder:
//! `cargo run -p harp-report --example gallery -- FOLDER`.

use std::path::Path;
use std::{env, fs, io};

use harp_report::{
    Canvas, Style, accuracy_chart, candidates_chart, candidates_table, cases_table, pareto_chart, plan_table,
    run_page, scaling_chart, scaling_miniature,
};

#[path = "../tests/sample/mod.rs"]
mod sample;

fn main() -> io::Result<()> {
    let folder = env::args().nth(1).unwrap_or_else(|| "gallery".to_owned());
    let folder = Path::new(&folder);
    fs::create_dir_all(folder)?;
    let run = sample::run();
    for (suffix, width, height) in [("", 720.0, 460.0), ("-narrow", 380.0, 400.0)] {
        let canvas = Canvas::standalone(width, height);
        let write = |name: &str, svg: String| fs::write(folder.join(format!("{name}{suffix}.svg")), svg);
        for target in &run.targets {
            for view in &target.scaling {
                write(&format!("scaling-{}", target.target), scaling_chart(view, &canvas))?;
            }
            write(&format!("accuracy-{}", target.target), accuracy_chart(target, &canvas))?;
            if let Some(view) = &target.candidates {
                write(&format!("candidates-{}", target.target), candidates_chart(view, &canvas))?;
            }
        }
        if let Some(plan) = &run.plan {
            write("pareto", pareto_chart(plan, &canvas))?;
        }
    }
    fs::write(folder.join("page.html"), run_page(&run))?;
    let mut terminal = String::new();
    for style in [Style::plain(), Style::ascii()] {
        for target in &run.targets {
            terminal.push_str(&cases_table(target).to_terminal(110, &style));
            terminal.push('\n');
            for view in &target.scaling {
                terminal.push_str(&scaling_miniature(view, 90, 18, &style));
                terminal.push('\n');
            }
            if let Some(view) = &target.candidates {
                terminal.push_str(&candidates_table(view).to_terminal(110, &style));
                terminal.push('\n');
            }
        }
        if let Some(plan) = &run.plan {
            terminal.push_str(&plan_table(plan).to_terminal(100, &style));
            terminal.push('\n');
        }
    }
    fs::write(folder.join("terminal.txt"), terminal)
}
