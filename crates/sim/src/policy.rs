//! Policies: in which order jobs wait, and which may overtake.

mod names;

use serde::{Serialize, Serializer};

pub use names::ParsePolicyError;

/// In which order waiting jobs are looked at. The job with the lowest score is the head; ties go to
/// the job submitted first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// First come, first served.
    #[default]
    Fcfs,
    /// Shortest estimate first.
    Sjf,
    /// Longest estimate first.
    Ljf,
    /// Smallest area (estimate × processors) first.
    SmallestArea,
    /// Largest area first.
    LargestArea,
    /// −(wait/estimate)³ × processors: W. Tang, Z. Lan, N. Desai, D. Buettner, "Fault-aware,
    /// utility-based job scheduling on Blue Gene/P systems", CLUSTER 2009.
    Wfp3,
    /// −wait / (log₂ processors × estimate), ibid.
    Unicep,
    /// log₁₀(r)·n + 870·log₁₀(s) for estimate r, processors n, submission s: D. Carastan-Santos,
    /// R. Y. de Camargo, "Obtaining dynamic scheduling policies with simulation and machine
    /// learning", SC'17.
    F1,
    /// √r·n + 25 600·log₁₀(s), ibid.
    F2,
    /// r·n + 6 860 000·log₁₀(s), ibid.
    F3,
    /// r·√n + 530 000·log₁₀(s), ibid.
    F4,
}

impl Order {
    /// Every order with its name.
    pub const NAMED: [(&'static str, Order); 11] = [
        ("fcfs", Order::Fcfs),
        ("sjf", Order::Sjf),
        ("ljf", Order::Ljf),
        ("saf", Order::SmallestArea),
        ("laf", Order::LargestArea),
        ("wfp3", Order::Wfp3),
        ("unicep", Order::Unicep),
        ("f1", Order::F1),
        ("f2", Order::F2),
        ("f3", Order::F3),
        ("f4", Order::F4),
    ];

    /// Whether scores change while jobs wait.
    pub fn changes_with_time(self) -> bool {
        matches!(self, Order::Wfp3 | Order::Unicep)
    }

    /// The score of a job with this estimate, size and submission, at `now`. Never NaN.
    pub fn score(self, estimate: i64, processors: u32, submit: i64, now: i64) -> f64 {
        let r = estimate.max(1) as f64;
        let n = f64::from(processors);
        let wait = (now - submit) as f64;
        // seconds from the first submission; the logarithm of 0 is taken as that of 1
        let s = (submit.max(1) as f64).log10();
        match self {
            Order::Fcfs => 0.0,
            Order::Sjf => r,
            Order::Ljf => -r,
            Order::SmallestArea => r * n,
            Order::LargestArea => -r * n,
            Order::Wfp3 => -(wait / r).powi(3) * n,
            Order::Unicep if wait == 0.0 => 0.0,
            // log₂ 1 = 0: a serial job that has waited at all comes first
            Order::Unicep => -wait / (n.log2() * r),
            Order::F1 => r.log10() * n + 870.0 * s,
            Order::F2 => r.sqrt() * n + 25_600.0 * s,
            Order::F3 => r * n + 6_860_000.0 * s,
            Order::F4 => r * n.sqrt() + 530_000.0 * s,
        }
    }
}

/// How the relaxation of adaptive relaxed backfilling follows the queue: the factor for pressure
/// q = queue length / largest queue length so far, both taken when the head blocks (the head counts).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Shape {
    /// q: the longer the queue, the more a promise may slip.
    #[default]
    Linear,
    /// q².
    Square,
    /// √q.
    Root,
    /// 1 − q: the longer the queue, the less.
    Inverse,
}

impl Shape {
    /// Every shape with its name.
    pub const NAMED: [(&'static str, Shape); 4] = [
        ("linear", Shape::Linear),
        ("square", Shape::Square),
        ("root", Shape::Root),
        ("inverse", Shape::Inverse),
    ];

    /// The factor for a pressure between 0 and 1.
    pub fn factor(self, pressure: f64) -> f64 {
        match self {
            Shape::Linear => pressure,
            Shape::Square => pressure * pressure,
            Shape::Root => pressure.sqrt(),
            Shape::Inverse => 1.0 - pressure,
        }
    }
}

/// Which jobs may start before the head.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Backfill {
    /// None.
    #[default]
    None,
    /// Jobs that do not delay the head: D. A. Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995;
    /// A. W. Mu'alem, D. G. Feitelson, IEEE TPDS 12(6), 2001.
    Easy,
    /// The same, tried shortest first: D. Tsafrir, Y. Etsion, D. G. Feitelson, "Backfilling using
    /// system-generated predictions rather than user runtime estimates", IEEE TPDS 18(6), 2007.
    EasySjbf,
    /// Jobs that delay nobody: every job has a reservation from its submission (Mu'alem and
    /// Feitelson, ibid.).
    Conservative,
    /// Jobs that end before the head's first promise plus this share of its promised wait: W. A. Ward,
    /// C. L. Mahood, J. E. West, "Scheduling jobs on parallel systems using a relaxed backfill
    /// strategy", JSSPP 2002.
    Relaxed {
        /// The share.
        relax: f64,
    },
    /// The same with the share scaled by how full the queue is: D. Zhang et al., "Cross-system analysis
    /// of job characterization and scheduling in large-scale computing clusters", IPDPS 2024.
    AdaptiveRelaxed {
        /// The share at the largest queue.
        relax: f64,
        /// How it follows the queue.
        shape: Shape,
    },
}

/// A queue order with a way to overtake.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Policy {
    /// The order.
    pub order: Order,
    /// The overtaking.
    pub backfill: Backfill,
}

/// The relaxation where none is given.
pub const DEFAULT_RELAXATION: f64 = 0.1;

impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_follow_their_formulas() {
        let score = |order: Order| order.score(100, 4, 1000, 1200);
        assert_eq!(score(Order::Wfp3), -8.0 * 4.0);
        assert_eq!(score(Order::Unicep), -200.0 / (2.0 * 100.0));
        assert_eq!(score(Order::F1), 2.0 * 4.0 + 870.0 * 3.0);
        assert_eq!(score(Order::F2), 10.0 * 4.0 + 25_600.0 * 3.0);
        assert_eq!(score(Order::F3), 400.0 + 6_860_000.0 * 3.0);
        assert_eq!(score(Order::F4), 200.0 + 530_000.0 * 3.0);
        assert_eq!(Order::Unicep.score(100, 1, 0, 10), f64::NEG_INFINITY);
        assert_eq!(Order::Unicep.score(100, 1, 10, 10), 0.0);
    }
}
