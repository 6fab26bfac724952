//! From a case's cells to a number: encoding, kept columns, standardisation, fitted model, clipping.

use harp_core::Value;
use serde::{Deserialize, Serialize};

use crate::importance::importances;
use crate::prepare::{Beyond, Bounds, Encoder, Prepared, Role, Standardiser};
use crate::regress::{Fitted, Penalty, Training, number, regressor};
use crate::{BuildOptions, ModelKind};

/// Everything a prediction passes through, as data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pipeline {
    pub encoder: Encoder,
    /// Encoded columns that are used, rising.
    pub kept: Vec<usize>,
    /// `None` for models that take the features as they are.
    pub standardiser: Option<Standardiser>,
    pub fitted: Fitted,
    pub bounds: Bounds,
}

impl Pipeline {
    /// Fits a kind of model on prepared rows, or says why it cannot.
    pub(crate) fn fit(
        kind: ModelKind,
        prepared: &Prepared,
        options: &BuildOptions,
        seed: u64,
    ) -> Result<Pipeline, String> {
        let regressor = regressor(kind).ok_or("it is made of others")?;
        let standardiser = regressor
            .standardised()
            .then(|| Standardiser::fit(&prepared.inputs, &prepared.weights, options.principal_components));
        let standard: Option<Vec<Vec<f64>>> = standardiser
            .as_ref()
            .map(|standardiser| prepared.inputs.iter().map(|row| standardiser.apply(row)).collect());
        let fitted = regressor.fit(&Training {
            inputs: standard.as_deref().unwrap_or(&prepared.inputs),
            targets: &prepared.targets,
            weights: &prepared.weights,
            roles: if standard.is_some() { &[] } else { &prepared.roles },
            configurations: prepared.configurations,
            seed,
            penalty: Penalty::of(options.loss, options.reexecution),
            law: Some(&prepared.law),
        })?;
        Ok(Pipeline {
            encoder: prepared.encoder.clone(),
            kept: prepared.reduction.kept.clone(),
            standardiser,
            fitted,
            bounds: match kind {
                // What depends on nothing is nowhere out of range.
                ModelKind::Constant => prepared.bounds.without_ranges(),
                _ => prepared.bounds.clone(),
            },
        })
    }

    /// The prediction, and how far beyond the measured range the case lies.
    pub(crate) fn predict(&self, cells: &[Option<&Value>]) -> (f64, Beyond) {
        let beyond = self.bounds.beyond(cells);
        (self.bounds.clip(self.apply(&self.row(cells)), beyond), beyond)
    }

    /// The kept columns of a case.
    fn row(&self, cells: &[Option<&Value>]) -> Vec<f64> {
        let encoded = self.encoder.encode(cells);
        self.kept.iter().filter_map(|&column| encoded.get(column).copied()).collect()
    }

    /// What the fitted model says of kept columns.
    fn apply(&self, row: &[f64]) -> f64 {
        match &self.standardiser {
            Some(standardiser) => self.fitted.predict(&standardiser.apply(row)),
            None => self.fitted.predict(row),
        }
    }

    /// The logarithm of what the model itself says, not clipped to what was measured.
    pub(crate) fn fitted_logarithm(&self, cells: &[Option<&Value>]) -> f64 {
        self.fitted.predict(&self.row(cells)).max(1e-300).ln()
    }

    /// What sums of phases that explain the runs about as well as the likeliest say of a case, from low to high,
    /// each with its weight; none of other models.
    pub(crate) fn opinions(&self, cells: &[Option<&Value>]) -> Vec<(f64, f64)> {
        let Fitted::Phases(phases) = &self.fitted else { return Vec::new() };
        phases.opinions(&self.row(cells))
    }

    /// How many features it was learned with.
    pub(crate) fn features(&self) -> usize {
        self.encoder.features.len()
    }

    /// For each feature whether it is looked at.
    pub(crate) fn used(&self, features: usize) -> Vec<bool> {
        let columns = self.encoder.columns();
        let mut used = vec![false; features];
        for role in self.kept.iter().filter_map(|&column| columns.get(column)) {
            if let Some(used) = used.get_mut(role.feature) {
                *used = true;
            }
        }
        used
    }

    /// What the model says of itself: a formula, length scales or importances.
    /// `prepared` is what it was fitted on.
    pub(crate) fn formula(&self, names: &[String], prepared: &Prepared) -> Option<String> {
        let columns = self.encoder.columns();
        let name = |column: usize| {
            let role = columns[self.kept[column]];
            let name = &names[role.feature];
            match role.role {
                Role::Number => name.clone(),
                Role::Level(level) => format!("{name}={}", self.encoder.level(role.feature, level)),
                Role::Missing => format!("{name} missing"),
            }
        };
        match &self.fitted {
            Fitted::PowerLaw(law) => Some(law.formula(name)),
            Fitted::Raw(law) => Some(law.formula(name)),
            Fitted::Posynomial(law) => Some(law.formula(name)),
            Fitted::Phases(law) => Some(law.formula(name)),
            Fitted::Process(process) => Some(process.describe(name)),
            Fitted::Boosted(boosted) => Some(boosted.describe(name)),
            Fitted::Trended(trended) => Some(trended.describe(name)),
            Fitted::Linear(_) => Some(self.plane(name)),
            // Components are mixtures of features, of which none has a name.
            Fitted::Tree(tree) if self.mixes_no_features() => Some(tree.describe(name)),
            Fitted::Tree(_) | Fitted::Network(_) => {
                importances(&prepared.inputs, |row| self.apply(row), name)
            }
        }
    }

    fn mixes_no_features(&self) -> bool {
        self.standardiser.as_ref().is_none_or(|standardiser| standardiser.components.is_none())
    }

    /// The formula of a model that is a plane, whatever its columns went through before: what it says where all
    /// are 0, and what each adds.
    fn plane(&self, name: impl Fn(usize) -> String) -> String {
        let mut row = vec![0.0; self.kept.len()];
        let base = self.apply(&row);
        let mut text = format!("T ≈ {}{}", if base < 0.0 { "-" } else { "" }, number(base.abs()));
        for column in 0..row.len() {
            row[column] = 1.0;
            let slope = self.apply(&row) - base;
            row[column] = 0.0;
            if slope != 0.0 {
                let sign = if slope < 0.0 { '-' } else { '+' };
                text.push_str(&format!(" {sign} {} · {}", number(slope.abs()), name(column)));
            }
        }
        text
    }

    /// Whether the parts fit together for the given number of features.
    pub(crate) fn check(&self, features: usize) -> Result<(), String> {
        if self.encoder.features.len() != features {
            return Err("the encoding has another number of features".to_owned());
        }
        let columns = self.encoder.check()?;
        let rising = self.kept.windows(2).all(|pair| pair[0] < pair[1]);
        if !rising || self.kept.last().is_some_and(|&last| last >= columns) {
            return Err("the kept columns are not columns".to_owned());
        }
        let width = match &self.standardiser {
            Some(standardiser) => standardiser.check(self.kept.len())?,
            None => self.kept.len(),
        };
        self.fitted.check(width)?;
        self.bounds.check(features)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Table;
    use harp_core::{Column, Dataset, Observed, Row, Scale, Target};

    fn explained(kind: ModelKind) -> String {
        let rows = (0..24i64).map(|i| Row {
            cells: vec![Some(Value::Integer(10 * (i % 6))), Some(Value::Integer(i / 6))],
            observed: Observed::Exact((5 + 2 * 10 * (i % 6) - 3 * (i / 6)).max(1) as f64),
            scale: Scale::Sd,
            group: i as u64,
        });
        let names = ["size", "threads"].map(|name| Column { name: name.to_owned() });
        let dataset = Dataset::new(Target::Walltime, names.to_vec(), rows.skip(1).collect()).unwrap();
        let table = Table::of(&dataset).unwrap();
        let all: Vec<(usize, f64)> = (0..table.rows.len()).map(|row| (row, 1.0)).collect();
        let options = BuildOptions::default();
        let prepared = Prepared::of(&table, &all, false);
        let pipeline = Pipeline::fit(kind, &prepared, &options, 1).unwrap();
        pipeline.formula(&["size".to_owned(), "threads".to_owned()], &prepared).unwrap()
    }

    #[test]
    fn planes_trees_and_networks_explain_themselves() {
        let plane = explained(ModelKind::Linear);
        assert!(
            plane.starts_with("T ≈ ") && plane.contains(" · size - ") && plane.ends_with(" · threads"),
            "{plane}"
        );
        for kind in [ModelKind::Tree, ModelKind::SmallNetwork] {
            let told = explained(kind);
            assert!(told.starts_with("importances: size 9"), "{kind} {told}");
        }
    }
}
