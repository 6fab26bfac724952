//! The names of policies, read and written.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::{Backfill, DEFAULT_RELAXATION, Order, Policy, Shape};

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
}
