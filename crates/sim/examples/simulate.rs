//! Simulates a trace and prints the result as JSON without its series:
//! `cargo run --release -p harp-sim --example simulate -- FILE PROCESSORS ESTIMATES POLICY…`.

#![allow(clippy::print_stdout)]

use std::error::Error;

use harp_sim::{Estimates, Oversized, SimulateOptions, WorkloadBuilder, compare};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, processors, estimates, policies @ ..] = arguments.as_slice() else {
        return Err("give FILE PROCESSORS ESTIMATES POLICY…".into());
    };
    let mut builder = WorkloadBuilder::default();
    let reading = harp_trace::visit_path(file.as_ref(), &Default::default(), &mut |job| builder.add(job))?;
    let workload = builder.finish(&reading, Some(processors.parse()?), Oversized::Refuse)?;
    let policies = policies.iter().map(|name| name.parse()).collect::<Result<_, _>>()?;
    let estimates = estimates.parse::<Estimates>()?.into();
    let options = SimulateOptions { policies, estimates, ..SimulateOptions::default() };
    let mut result = compare(&workload, &options).0;
    for policy in &mut result.policies {
        policy.timeline.clear();
        policy.wait_percentiles_s.clear();
        policy.metrics.by_user.truncate(3);
    }
    println!("{}", serde_json::to_string_pretty(&result)?);
    Ok(())
}
