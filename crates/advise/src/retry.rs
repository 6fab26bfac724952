//! Whether a job that did not complete is submitted again, and with what: decided by what ended it.
//!
//! Time doubles as in the study (HARP, PEARC'23), or grows to the model's next quantile; memory doubles until
//! it is more than the attempt was seen to use.
//! Caps always hold.

use harp_core::{Bytes, Distribution, Interruption, Money, Outcome, Reexecution, Seconds};

/// What an attempt asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempt {
    /// Walltime.
    pub time: Seconds,
    /// Memory on a node, where it is asked for.
    pub memory: Option<Bytes>,
}

/// An attempt that is over.
#[derive(Debug, Clone, Copy)]
pub struct Ended<'a> {
    /// What it asked for.
    pub asked: &'a Attempt,
    /// How it ended.
    pub outcome: &'a Outcome,
    /// The most memory it was seen to use on a node. Where Slurm looks at memory now and then, that may be
    /// far more than was asked for.
    pub peak_memory: Option<Bytes>,
}

/// What no attempt may exceed. `None` is no cap.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Caps {
    /// Attempts after the first.
    pub retries: u32,
    /// Walltime of one attempt.
    pub time: Option<Seconds>,
    /// Memory of one attempt on a node.
    pub memory: Option<Bytes>,
    /// Price of all attempts together.
    pub cost: Option<Money>,
}

impl Caps {
    /// An attempt that asks for no more than is allowed.
    #[must_use]
    pub fn hold(&self, attempt: Attempt) -> Attempt {
        let time = self.time.map_or(attempt.time, |cap| if cap < attempt.time { cap } else { attempt.time });
        let memory = attempt.memory.map(|asked| self.memory.map_or(asked, |cap| cap.min(asked)));
        Attempt { time, memory }
    }
}

/// How time grows.
#[derive(Debug, Clone, Copy)]
pub enum TimeGrowth<'a> {
    /// By a factor.
    Times(Reexecution),
    /// To the quantile of the predicted time that leaves a fifth of the risk, and at least by a quarter.
    Quantile(&'a Distribution),
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// It has completed.
    Done,
    /// Submit this.
    Again(Attempt, String),
    /// No more, and why.
    Stop(String),
}

/// Decides after an attempt. `made` counts the attempts, this one included; `spent` is what all of them
/// cost, and `price` what another would cost at most.
pub fn next_attempt(
    ended: &Ended<'_>,
    made: u32,
    spent: Option<Money>,
    caps: &Caps,
    growth: TimeGrowth<'_>,
    price: &dyn Fn(&Attempt) -> Option<Money>,
) -> Next {
    let Ended { asked, outcome, peak_memory } = *ended;
    let (next, why) = match outcome {
        Outcome::Completed => return Next::Done,
        Outcome::TimedOut { .. } => match grown_time(asked.time, caps.time, growth) {
            Some(time) => (Attempt { time, ..*asked }, format!("it needs more than {}", asked.time)),
            None => return Next::Stop(format!("it needs more than {}, and that is the cap", asked.time)),
        },
        Outcome::OutOfMemory { limit } => {
            let Some(had) = asked.memory.or(*limit) else {
                return Next::Stop("it ran out of memory, and how much it had is not known".to_owned());
            };
            let needed = peak_memory.map_or(had, |peak| peak.max(had));
            match grown_memory(had, needed, caps.memory) {
                Some(memory) => {
                    (Attempt { memory: Some(memory), ..*asked }, format!("it needs more than {needed}"))
                }
                None => return Next::Stop(format!("it needs more than {needed}, and the cap is no more")),
            }
        }
        Outcome::Interrupted { cause: Interruption::Cancelled | Interruption::Deadline } => {
            return Next::Stop(format!("it was {outcome}"));
        }
        Outcome::Interrupted { .. } => (*asked, format!("it was {outcome}")),
        Outcome::Failed { .. }
        | Outcome::Signalled { .. }
        | Outcome::Rejected { .. }
        | Outcome::NotStarted { .. } => return Next::Stop(format!("the program itself {outcome}")),
    };
    if made > caps.retries {
        return Next::Stop(format!("{why}; no attempt is left"));
    }
    if let (Some(cap), Some(spent), Some(price)) = (caps.cost, spent, price(&next))
        && spent.0 + price.0 > cap.0
    {
        return Next::Stop(format!("{why}; another attempt could cost more than is left of {cap}"));
    }
    Next::Again(next, why)
}

/// Memory doubled until it is more than is known to be too little; `None` where the cap is not more.
fn grown_memory(had: Bytes, needed: Bytes, cap: Option<Bytes>) -> Option<Bytes> {
    let mut grown = had.0.max(1);
    while grown <= needed.0 {
        grown = grown.checked_mul(2)?;
    }
    let grown = cap.map_or(Bytes(grown), |cap| cap.min(Bytes(grown)));
    (grown > needed).then_some(grown)
}

fn grown_time(asked: Seconds, cap: Option<Seconds>, growth: TimeGrowth<'_>) -> Option<Seconds> {
    let grown = match growth {
        TimeGrowth::Times(reexecution) => reexecution.after(asked.0),
        TimeGrowth::Quantile(distribution) => {
            let risk = distribution.probability_above(asked.0);
            distribution.quantile(1.0 - risk / 5.0).max(1.25 * asked.0)
        }
    };
    let grown = cap.map_or(grown, |cap| grown.min(cap.0));
    (grown > asked.0).then_some(Seconds(grown))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Attempt = Attempt { time: Seconds(180.0), memory: Some(Bytes(1 << 30)) };
    const DOUBLING: TimeGrowth<'_> = TimeGrowth::Times(Reexecution { growth: 2.0, maximum: None });

    fn caps() -> Caps {
        Caps { retries: 3, ..Caps::default() }
    }

    fn decide(outcome: &Outcome, made: u32, caps: &Caps) -> Next {
        let ended = Ended { asked: &ASKED, outcome, peak_memory: None };
        next_attempt(&ended, made, Some(Money(1.0)), caps, DOUBLING, &|_| Some(Money(0.5)))
    }

    /// What a job that needs so long uses with all its attempts.
    fn total(first: f64, needs: f64) -> f64 {
        let mut attempt = Attempt { time: Seconds(first), memory: None };
        let mut used = 0.0;
        loop {
            if attempt.time.0 >= needs {
                return used + needs;
            }
            used += attempt.time.0;
            let outcome = Outcome::TimedOut { limit: attempt.time };
            let caps = Caps { retries: 20, ..Caps::default() };
            let ended = Ended { asked: &attempt, outcome: &outcome, peak_memory: None };
            match next_attempt(&ended, 1, None, &caps, DOUBLING, &|_| None) {
                Next::Again(next, _) => attempt = next,
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn doubling_totals_are_those_of_the_study() {
        assert_eq!(total(180.0, 685.0), 1225.0);
        assert_eq!(total(95.0, 516.0), 1181.0);
        assert_eq!(total(103.0, 516.0), 1237.0);
    }

    #[test]
    fn the_cause_decides() {
        let again = |outcome: Outcome| match decide(&outcome, 1, &caps()) {
            Next::Again(next, _) => Some((next.time.0, next.memory)),
            _ => None,
        };
        let memory = ASKED.memory;
        assert_eq!(again(Outcome::TimedOut { limit: Seconds(180.0) }), Some((360.0, memory)));
        assert_eq!(again(Outcome::OutOfMemory { limit: memory }), Some((180.0, Some(Bytes(2 << 30)))));
        for cause in [Interruption::Preempted, Interruption::NodeFailure, Interruption::Requeued] {
            assert_eq!(again(Outcome::Interrupted { cause }), Some((180.0, memory)), "{cause:?}");
        }
        assert_eq!(again(Outcome::Interrupted { cause: Interruption::Cancelled }), None);
        assert_eq!(again(Outcome::Failed { exit_code: 3 }), None);
        assert_eq!(again(Outcome::Signalled { signal: 11 }), None);
        assert_eq!(decide(&Outcome::Completed, 1, &caps()), Next::Done);
    }

    #[test]
    fn memory_grows_beyond_what_was_seen() {
        let gibibytes = |count: u64| Bytes(count << 30);
        let grown = |seen: u64, cap: Option<u64>| {
            grown_memory(gibibytes(1), gibibytes(seen.max(1)), cap.map(gibibytes))
        };
        assert_eq!(grown(0, None), Some(gibibytes(2)));
        assert_eq!(grown(3, None), Some(gibibytes(4)));
        assert_eq!(grown(4, None), Some(gibibytes(8)));
        assert_eq!(grown(4, Some(5)), Some(gibibytes(5)));
        assert_eq!(grown(5, Some(5)), None, "that much is known to be too little");
        assert_eq!(grown_memory(Bytes(1), Bytes(u64::MAX), None), None);
    }

    #[test]
    fn caps_always_hold() {
        let timed_out = Outcome::TimedOut { limit: Seconds(180.0) };
        let capped = Caps { time: Some(Seconds(300.0)), ..caps() };
        let Next::Again(next, _) = decide(&timed_out, 1, &capped) else { panic!() };
        assert_eq!(next.time, Seconds(300.0));
        let at_cap = Caps { time: Some(Seconds(180.0)), ..caps() };
        assert!(matches!(decide(&timed_out, 1, &at_cap), Next::Stop(_)));
        let memory = Caps { memory: ASKED.memory, ..caps() };
        assert!(matches!(decide(&Outcome::OutOfMemory { limit: None }, 1, &memory), Next::Stop(_)));
        assert!(matches!(decide(&timed_out, 4, &caps()), Next::Stop(_)), "three retries, four attempts");
        let cost = Caps { cost: Some(Money(1.4)), ..caps() };
        assert!(matches!(decide(&timed_out, 1, &cost), Next::Stop(_)));
        assert!(matches!(decide(&timed_out, 1, &Caps { cost: Some(Money(1.6)), ..caps() }), Next::Again(..)));
    }

    #[test]
    fn the_models_next_quantile_leaves_a_fifth_of_the_risk() {
        let quantiles = (1..100).map(|n| (f64::from(n) / 100.0, 10.0 * f64::from(n))).collect();
        let distribution = Distribution::new(quantiles).unwrap();
        let asked = Seconds(750.0);
        let grown = grown_time(asked, None, TimeGrowth::Quantile(&distribution)).unwrap();
        assert!((distribution.probability_above(grown.0) - 0.05).abs() < 0.005, "{grown}");
        // where the model knows no more, it still grows
        let beyond = grown_time(Seconds(5000.0), None, TimeGrowth::Quantile(&distribution)).unwrap();
        assert_eq!(beyond, Seconds(6250.0));
    }
}
