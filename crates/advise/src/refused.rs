//! Candidates that did not become plans, counted by reason.

use harp_core::{Allocation, Bytes};
use harp_site::{Placement, PriceUnknown, RefusalReason};
use serde::Serialize;
use thiserror::Error;

/// Candidates and places turned down for one reason. A candidate tried at three places and refused
/// at two counts twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// A stable word for the kind of reason: `too_many_cores`, `too_much_memory`, `price_unknown`, …
    pub kind: String,
    /// How many.
    pub count: usize,
    /// The first of them, in words.
    pub example: String,
}

/// Why one candidate at one place is no plan.
#[derive(Debug, Clone, PartialEq, Error)]
pub(crate) enum Why {
    #[error("{0}")]
    Site(RefusalReason),
    #[error("{0}")]
    Price(PriceUnknown),
    #[error("needs {needed} of memory, the candidate is limited to {limit}")]
    Memory { needed: Bytes, limit: Bytes },
    #[error("the site wants jobs to say how much memory they need, and there is no prediction of it")]
    NoMemory,
    #[error("no prediction: {0}")]
    Forecast(String),
}

impl Why {
    fn kind(&self) -> &'static str {
        match self {
            Why::Site(reason) => reason.kind(),
            Why::Price(_) => "price_unknown",
            Why::Memory { .. } => "memory_limit_too_low",
            Why::NoMemory => "no_memory_prediction",
            Why::Forecast(_) => "no_prediction",
        }
    }
}

/// Counts reasons in the order they first occur.
#[derive(Debug, Default)]
pub(crate) struct RefusedList(Vec<Refused>);

impl RefusedList {
    pub(crate) fn add(&mut self, candidate: &Allocation, placement: Option<&Placement>, why: &Why) {
        let kind = why.kind();
        if let Some(known) = self.0.iter_mut().find(|refused| refused.kind == kind) {
            known.count += 1;
            return;
        }
        let place = match placement {
            Some(Placement { node_type, partition: Some(partition) }) => {
                format!(" on {node_type} in {partition}")
            }
            Some(Placement { node_type, partition: None }) => format!(" on {node_type}"),
            None => String::new(),
        };
        self.0.push(Refused {
            kind: kind.to_owned(),
            count: 1,
            example: format!("{candidate}{place}: {why}"),
        });
    }

    pub(crate) fn into_inner(self) -> Vec<Refused> {
        self.0
    }
}
