//! Characterises a trace and prints the result as JSON:
//! `cargo run --release -p harp-trace --example summary -- FILE [procs=N]`.

#![allow(clippy::print_stdout)]

use std::error::Error;

use harp_trace::summary::{Collector, Machine};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("give FILE")?;
    let machine = arguments.next().map_or(Ok(Machine::default()), |text| Machine::parse(&text))?;
    let mut collector = Collector::default();
    let reading = harp_trace::visit_path(file.as_ref(), &Default::default(), &mut |job| collector.add(job))?;
    println!("{}", serde_json::to_string_pretty(&collector.finish(&reading, machine)?)?);
    Ok(())
}
