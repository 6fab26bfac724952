//! What follows from the values of a case: the sizes of its files, its computed parameters, and
//! whether the constraints allow it.

use std::collections::BTreeMap;

use harp_core::{Allocation, Configuration, Parameters, Scale, Value};

use super::Surroundings;
use crate::check::convert;
use crate::{Constraint, Diagnostic, Experiment, ExpressionError, Kind, Parameter, Position, Severity};

impl Experiment {
    /// The configuration of a case someone names by its values: sizes of files and computed
    /// parameters are added, so that it has the features of a run. Constraints are not looked at.
    pub fn complete(
        &self,
        scale: Scale,
        mut parameters: Parameters,
        allocation: Allocation,
        known: &Surroundings<'_>,
    ) -> Result<Configuration, Diagnostic> {
        self.add_sizes(&mut parameters, known)?;
        let resources: BTreeMap<&str, Value> = allocation.entries().into_iter().collect();
        for index in &self.computation_order {
            if let Some(parameter) = self.parameters.get(*index) {
                let value = |name: &str| parameters.get(name).or(resources.get(name)).cloned();
                let found = self.compute(parameter, &value, &parameters)?;
                parameters.0.extend(found.map(|found| (parameter.name.clone(), found)));
            }
        }
        Ok(Configuration { scale, parameters, allocation })
    }

    /// Whether the constraints allow a configuration.
    pub fn admits(&self, configuration: &Configuration) -> Result<bool, Diagnostic> {
        Ok(self.violated(configuration)?.is_none())
    }

    /// The first constraint a configuration breaks. Those that speak of values it does not have yet are
    /// not looked at.
    pub fn broken_constraint(&self, configuration: &Configuration) -> Option<&Constraint> {
        let features = configuration.values();
        self.constraints.iter().find(|constraint| {
            let holds = constraint.expression.evaluate(&|name| features.get(name).cloned());
            holds == Ok(Value::Boolean(false))
        })
    }

    /// The first constraint a configuration breaks.
    pub(super) fn violated(&self, configuration: &Configuration) -> Result<Option<usize>, Diagnostic> {
        let features = configuration.values();
        for (number, constraint) in self.constraints.iter().enumerate() {
            let holds = constraint.expression.evaluate(&|name| features.get(name).cloned());
            let holds = holds.map_err(|error| {
                let message =
                    format!("the constraint `{}` with {configuration}: {error}", constraint.expression);
                let hint = "exclude that case with `and` or `or` before it";
                self.report(Severity::Error, constraint.position, message, hint)
            })?;
            if holds != Value::Boolean(true) {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    fn add_sizes(&self, parameters: &mut Parameters, known: &Surroundings<'_>) -> Result<(), Diagnostic> {
        for parameter in self.parameters.iter().filter(|parameter| parameter.kind == Kind::File) {
            let Some(Value::Text(path)) = parameters.get(&parameter.name) else { continue };
            let full = self.program.directory.join(path);
            let Some(size) = (known.file_size)(&full) else {
                let message = format!("the file `{}` does not exist", full.display());
                let hint = "paths are relative to `directory`";
                return Err(self.report(Severity::Error, parameter.position, message, hint));
            };
            parameters.set(format!("{}_bytes", parameter.name), i64::try_from(size).unwrap_or(i64::MAX));
        }
        Ok(())
    }

    fn compute(
        &self,
        parameter: &Parameter,
        value: &dyn Fn(&str) -> Option<Value>,
        parameters: &Parameters,
    ) -> Result<Option<Value>, Diagnostic> {
        let Some(expression) = &parameter.expression else { return Ok(None) };
        let fault = |reason: String, hint: &str| {
            let message = format!("computing `{}` with {parameters}: {reason}", parameter.name);
            self.report(Severity::Error, parameter.position, message, hint)
        };
        let found = expression.evaluate(value).map_err(|error: ExpressionError| {
            fault(error.to_string(), "change the expression or the values")
        })?;
        match parameter.kind {
            Kind::Integer => convert(&found, Kind::Integer).map(Some).ok_or_else(|| {
                fault(format!("{found} is not whole"), "round it with floor(…), or write  type = \"real\"")
            }),
            _ => Ok(Some(found)),
        }
    }

    /// Something wrong with the experiment that its text alone did not show.
    pub(crate) fn report(
        &self,
        severity: Severity,
        position: Position,
        message: String,
        hint: &str,
    ) -> Diagnostic {
        Diagnostic { severity, file: self.file.clone(), position, message, hint: Some(hint.to_owned()) }
    }
}
