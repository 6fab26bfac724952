//! Candidates that did not become plans, counted by reason.

use std::collections::BTreeSet;

use harp_core::{Allocation, Bytes};
use harp_site::{Placement, PriceUnknown, RefusalReason};
use serde::Serialize;
use thiserror::Error;

use crate::Plan;

/// Candidates turned down for one reason. A candidate counts once for each node type that no
/// partition gives it.
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

    /// Counts the first reason of each node type that got no plan.
    pub(crate) fn add_without_plan(
        &mut self,
        candidate: &Allocation,
        plans: &[Plan],
        turned_down: Vec<(Placement, Why)>,
    ) {
        let mut settled: BTreeSet<String> =
            plans.iter().map(|plan| plan.placement.node_type.clone()).collect();
        for (placement, why) in turned_down {
            if settled.insert(placement.node_type.clone()) {
                self.add(candidate, Some(&placement), &why);
            }
        }
    }

    pub(crate) fn into_inner(self) -> Vec<Refused> {
        self.0
    }
}
