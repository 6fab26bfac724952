//! A model put together from models of components.

use std::collections::BTreeMap;

use harp_core::{Target, Value};
use serde::{Deserialize, Serialize};

use super::{Formula, Rest};
use crate::prepare::Beyond;
use crate::{LearnError, TargetModel};

/// Nothing takes no time: a formula that comes out below is taken for this.
const SMALLEST: f64 = 1e-12;

/// A formula and the models of its components.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Custom {
    /// How they are put together.
    pub formula: Formula,
    /// One model a component, by name.
    pub components: BTreeMap<String, TargetModel>,
    /// What they leave out.
    #[serde(default)]
    pub rest: Rest,
}

impl Custom {
    /// What the formula says of a case, and how far the case lies beyond what the components learned.
    pub(crate) fn centre(&self, case: &BTreeMap<String, Value>) -> Result<(f64, Beyond), LearnError> {
        let mut said = BTreeMap::new();
        let mut beyond = Beyond { logarithm: 0.0, spans: 0.0 };
        for (name, model) in &self.components {
            let (value, farther) = model.estimate_and_distance(case)?;
            said.insert(name.as_str(), value);
            if farther.spans > beyond.spans {
                beyond = farther;
            }
        }
        let number =
            |name: &str| said.get(name).copied().or_else(|| case.get(name).and_then(Value::as_number));
        let value = self.formula.value(&number).map_err(|feature| LearnError::MissingFeature { feature })?;
        let value = self.rest.whole(value);
        let value = if value.is_finite() { value.max(SMALLEST) } else { SMALLEST };
        Ok((value, beyond))
    }

    /// Whether a file's parts fit together.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.rest.check()?;
        for (name, model) in &self.components {
            if model.custom.is_some() {
                return Err(format!("component `{name}` is made of components itself"));
            }
            if model.target != Target::Metric(name.clone()) {
                return Err(format!("component `{name}` predicts something else"));
            }
            model.check()?;
        }
        match self.components.keys().find(|name| !self.formula.names().contains(name.as_str())) {
            Some(unused) => Err(format!("component `{unused}` is not in the formula")),
            None => Ok(()),
        }
    }
}
