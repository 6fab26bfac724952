//! Simulates a trace: `simulate FILE PROCESSORS POLICY…`.
#![allow(clippy::print_stdout, clippy::unwrap_used)]
use harp_sim::*;
fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let mut builder = WorkloadBuilder::default();
    let begin = std::time::Instant::now();
    let reading =
        harp_trace::visit_path(arguments[1].as_ref(), &Default::default(), &mut |job| builder.add(job))
            .unwrap();
    let workload = builder.finish(&reading, Some(arguments[2].parse().unwrap()), Oversized::Refuse).unwrap();
    println!("read {} in {:?}", workload.jobs.len(), begin.elapsed());
    for name in &arguments[3..] {
        let policy: Policy = name.parse().unwrap();
        let mut best = f64::INFINITY;
        let mut schedule = simulate(&workload, policy, &mut Requested);
        for _ in 0..5 {
            let begin = std::time::Instant::now();
            schedule = simulate(&workload, policy, &mut Requested);
            best = best.min(begin.elapsed().as_secs_f64());
        }
        let n = workload.jobs.len() as f64;
        let mut wait = 0.0;
        let mut slow = 0.0;
        let mut area = 0.0;
        let mut last = 0;
        let (mut v, mut heads) = (0.0, 0);
        for (i, (job, start)) in workload.jobs.iter().zip(&schedule.starts).enumerate() {
            let w = (start - job.submit) as f64;
            wait += w;
            slow += ((w + job.run as f64) / (job.run as f64).max(10.0)).max(1.0);
            area += job.run as f64 * job.processors as f64;
            last = last.max(start + job.run);
            if let Some(p) = schedule.promise(i) {
                heads += 1;
                v += (start - p).max(0) as f64;
            }
        }
        println!(
            "{name:>20} wait {:.2} bsld {:.3} util {:.4} violation {:.2} of {heads} backfilled {} lost {:.4}  {:.0} jobs/s",
            wait / n,
            slow / n,
            area / (last as f64 * workload.processors as f64),
            v / f64::from(heads),
            schedule.backfilled.iter().filter(|b| **b).count(),
            schedule.lost_processor_seconds / (last as f64 * workload.processors as f64),
            n / best
        );
    }
}
