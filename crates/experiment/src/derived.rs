//! What follows from values a person gives for a case: sizes of files and computed parameters.

use std::collections::BTreeMap;
use std::path::Path;

use harp_core::Value;

use crate::{Experiment, Kind};

impl Experiment {
    /// The sizes of the files and the computed parameters that follow from the values given; what
    /// cannot be worked out from them is left out. `size` takes a path relative to the experiment file.
    pub fn derived(
        &self,
        given: &BTreeMap<String, Value>,
        size: &dyn Fn(&Path) -> Option<u64>,
    ) -> BTreeMap<String, Value> {
        let mut found = BTreeMap::new();
        for parameter in self.parameters.iter().filter(|parameter| parameter.kind == Kind::File) {
            if let Some(Value::Text(path)) = given.get(&parameter.name)
                && let Some(bytes) = size(&self.program.directory.join(path))
            {
                let bytes = Value::Integer(i64::try_from(bytes).unwrap_or(i64::MAX));
                found.insert(format!("{}_bytes", parameter.name), bytes);
            }
        }
        for parameter in self.computation_order.iter().filter_map(|index| self.parameters.get(*index)) {
            let known = |name: &str| given.get(name).or(found.get(name)).cloned();
            if let Some(expression) = &parameter.expression
                && let Ok(value) = expression.evaluate(&known)
            {
                found.insert(parameter.name.clone(), value);
            }
        }
        found
    }
}
