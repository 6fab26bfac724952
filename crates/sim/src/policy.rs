//! Policies: in which order jobs wait, and which may overtake.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use thiserror::Error;

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

/// A text that names no policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a policy\n  hint: {HINT}")]
pub struct ParsePolicyError(String);

const HINT: &str = "fcfs, sjf, ljf, saf, laf, wfp3, unicep, f1, f2, f3 or f4, alone or followed by +BACKFILL; \
    BACKFILL alone means fcfs+BACKFILL and is easy, easy-sjbf, conservative, relaxed[:SHARE] or \
    adaptive-relaxed[:SHARE[:linear|square|root|inverse]]";

impl FromStr for Policy {
    type Err = ParsePolicyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ParsePolicyError(text.to_owned());
        let lower = text.trim().to_ascii_lowercase();
        let order =
            |name: &str| Order::NAMED.iter().find(|(known, _)| *known == name).map(|&(_, order)| order);
        let (order, backfill) = match lower.split_once('+') {
            Some((first, second)) => {
                (order(first).ok_or_else(error)?, parse_backfill(second).ok_or_else(error)?)
            }
            None => match order(&lower) {
                Some(order) => (order, Backfill::None),
                None => (Order::Fcfs, parse_backfill(&lower).ok_or_else(error)?),
            },
        };
        Ok(Policy { order, backfill })
    }
}

fn parse_backfill(text: &str) -> Option<Backfill> {
    let mut parts = text.split(':');
    let name = parts.next()?;
    let relax = match parts.next() {
        None => None,
        Some(text) => Some(text.parse::<f64>().ok().filter(|share| share.is_finite() && *share >= 0.0)?),
    };
    let shape = match parts.next() {
        None => None,
        Some(text) => Some(Shape::NAMED.iter().find(|(known, _)| *known == text)?.1),
    };
    if parts.next().is_some() {
        return None;
    }
    let share = relax.unwrap_or(DEFAULT_RELAXATION);
    match (name, relax, shape) {
        ("none", None, None) => Some(Backfill::None),
        ("easy", None, None) => Some(Backfill::Easy),
        ("easy-sjbf", None, None) => Some(Backfill::EasySjbf),
        ("conservative", None, None) => Some(Backfill::Conservative),
        ("relaxed", _, None) => Some(Backfill::Relaxed { relax: share }),
        ("adaptive-relaxed", _, _) => {
            Some(Backfill::AdaptiveRelaxed { relax: share, shape: shape.unwrap_or_default() })
        }
        _ => None,
    }
}

impl fmt::Display for Backfill {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share =
            |relax: f64| if relax == DEFAULT_RELAXATION { String::new() } else { format!(":{relax}") };
        match *self {
            Backfill::None => formatter.write_str("none"),
            Backfill::Easy => formatter.write_str("easy"),
            Backfill::EasySjbf => formatter.write_str("easy-sjbf"),
            Backfill::Conservative => formatter.write_str("conservative"),
            Backfill::Relaxed { relax } => write!(formatter, "relaxed{}", share(relax)),
            Backfill::AdaptiveRelaxed { relax, shape: Shape::Linear } => {
                write!(formatter, "adaptive-relaxed{}", share(relax))
            }
            Backfill::AdaptiveRelaxed { relax, shape } => {
                let name =
                    Shape::NAMED.iter().find(|(_, known)| *known == shape).map_or("", |(name, _)| name);
                write!(formatter, "adaptive-relaxed:{relax}:{name}")
            }
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Order::NAMED.iter().find(|(_, order)| *order == self.order).map_or("", |(name, _)| name);
        let text = match (self.order, self.backfill) {
            (_, Backfill::None) => name.to_owned(),
            (Order::Fcfs, backfill) => backfill.to_string(),
            (_, backfill) => format!("{name}+{backfill}"),
        };
        formatter.pad(&text)
    }
}

impl Serialize for Policy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        for name in [
            "fcfs",
            "sjf",
            "easy",
            "easy-sjbf",
            "conservative",
            "relaxed",
            "adaptive-relaxed",
            "sjf+easy",
            "f1+relaxed:0.25",
            "adaptive-relaxed:0.2:root",
            "wfp3+conservative",
            "laf",
            "unicep+easy-sjbf",
        ] {
            assert_eq!(name.parse::<Policy>().unwrap().to_string(), name);
        }
        for name in [
            "",
            "fifo",
            "easy:2",
            "relaxed:x",
            "relaxed:-1",
            "fcfs+",
            "adaptive-relaxed:0.1:round",
            "easy+sjf",
        ] {
            assert!(name.parse::<Policy>().is_err(), "{name}");
        }
        assert!("x".parse::<Policy>().unwrap_err().to_string().contains("hint: fcfs, sjf"));
    }

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
