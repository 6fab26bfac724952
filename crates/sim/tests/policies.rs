//! Every policy against the plain simulator, and what must hold of every schedule, on random small
//! workloads.

mod plain;

use harp_sim::{
    Backfill, Estimates, Estimator, FromModel, Order, Perfect, Policy, Requested, Schedule, Shape, SimJob,
    Workload, simulate,
};
use proptest::prelude::*;

const MACHINE: u32 = 8;

fn jobs() -> impl Strategy<Value = Vec<SimJob>> {
    let job = (0i64..8, 0i64..30, 0i64..20, 1u32..=MACHINE, 0u32..3);
    proptest::collection::vec(job, 1..40).prop_map(|drawn| {
        let mut submit = 0;
        let build = |(number, (gap, run, more, processors, user)): (usize, (i64, i64, i64, u32, u32))| {
            // half the jobs come together with the one before
            submit += (gap - 3).max(0);
            SimJob { number: number as u64, submit, run, request: (run + more).max(1), processors, user }
        };
        drawn.into_iter().enumerate().map(build).collect()
    })
}

fn backfills() -> Vec<Backfill> {
    let mut all = vec![
        Backfill::None,
        Backfill::Easy,
        Backfill::EasySjbf,
        Backfill::Conservative,
        Backfill::Relaxed { relax: 0.1 },
        Backfill::Relaxed { relax: 0.75 },
    ];
    all.extend(Shape::NAMED.map(|(_, shape)| Backfill::AdaptiveRelaxed { relax: 0.6, shape }));
    all
}

fn policies() -> impl Strategy<Value = Policy> {
    let order = proptest::sample::select(Order::NAMED.map(|(_, order)| order).to_vec());
    (order, proptest::sample::select(backfills())).prop_map(|(order, backfill)| Policy { order, backfill })
}

/// No processor is used twice and no job starts before it is submitted.
fn possible(workload: &Workload, schedule: &Schedule) -> Result<(), TestCaseError> {
    let lines: Vec<_> = schedule.jobs(workload).collect();
    for line in &lines {
        prop_assert!(line.start >= line.submit);
        let used: u32 = lines
            .iter()
            .filter(|other| other.start <= line.start && line.start < other.end)
            .map(|other| other.processors)
            .sum();
        prop_assert!(used <= workload.processors, "{used} processors used at {}", line.start);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn engine_and_plain_simulator_agree(jobs in jobs(), policy in policies(), perfect in any::<bool>()) {
        let workload = Workload::new(jobs, MACHINE);
        let estimator: &mut dyn Estimator = if perfect { &mut Perfect } else { &mut Requested };
        let schedule = simulate(&workload, policy, estimator);
        let estimate = |job: &SimJob| if perfect { job.run.max(1) } else { job.request };
        let estimates: Vec<i64> = workload.jobs.iter().map(estimate).collect();
        let plain = plain::simulate(&workload.jobs, MACHINE, policy, &estimates);
        prop_assert_eq!(&schedule.starts, &plain.starts, "{}", policy);
        let promises: Vec<Option<i64>> = (0..workload.jobs.len()).map(|index| schedule.promise(index)).collect();
        prop_assert_eq!(promises, plain.promises, "{}", policy);
        possible(&workload, &schedule)?;
    }

    #[test]
    fn estimates_that_run_out_break_nothing(jobs in jobs(), policy in policies(), short in 1i64..12) {
        let workload = Workload::new(jobs, MACHINE);
        let mut estimators: Vec<Box<dyn Estimator>> = vec![
            Estimates::LastTwo.estimator(),
            Estimates::LastTwoElapsed.estimator(),
            Estimates::Boosted.estimator(),
            Box::new(FromModel(move |_: &SimJob| Some(short as f64))),
        ];
        for estimator in &mut estimators {
            possible(&workload, &simulate(&workload, policy, estimator.as_mut()))?;
        }
    }

    #[test]
    fn nobody_is_promised_in_vain(jobs in jobs(), sjbf in any::<bool>()) {
        let workload = Workload::new(jobs, MACHINE);
        let easy = if sjbf { Backfill::EasySjbf } else { Backfill::Easy };
        for (backfill, estimator) in [
            (easy, &mut Perfect as &mut dyn Estimator),
            (easy, &mut Requested),
            (Backfill::Conservative, &mut Perfect),
            (Backfill::Conservative, &mut Requested),
        ] {
            let schedule = simulate(&workload, Policy { order: Order::Fcfs, backfill }, estimator);
            for (index, &start) in schedule.starts.iter().enumerate() {
                if let Some(promise) = schedule.promise(index) {
                    prop_assert!(start <= promise, "job {index} promised {promise}, started {start}");
                }
            }
        }
    }

    #[test]
    fn conservative_delays_nobody_behind_those_that_come_later(jobs in jobs()) {
        // with exact estimates a job starts when it would if nobody came after it
        let whole = Workload::new(jobs, MACHINE);
        let policy = Policy { order: Order::Fcfs, backfill: Backfill::Conservative };
        let jobs: Vec<SimJob> = whole.jobs.iter().map(|job| SimJob { run: job.run.max(1), ..*job }).collect();
        let starts = simulate(&Workload::new(jobs.clone(), MACHINE), policy, &mut Perfect).starts;
        for count in 1..jobs.len() {
            let part = Workload::new(jobs[..count].to_vec(), MACHINE);
            prop_assert_eq!(&simulate(&part, policy, &mut Perfect).starts, &starts[..count]);
        }
    }
}
