//! Evaluates run-time prediction on a trace and prints the result as JSON:
//! `cargo run --release -p harp-trace --example predict -- FILE`.

#![allow(clippy::print_stdout)]

use std::error::Error;

use harp_trace::predict::{Evaluation, PredictOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("give FILE")?;
    let mut evaluation = Evaluation::default();
    harp_trace::visit_path(file.as_ref(), &Default::default(), &mut |job| evaluation.add(job))?;
    println!("{}", serde_json::to_string_pretty(&evaluation.finish(&PredictOptions::default()))?);
    Ok(())
}
