//! Estimators made anew for each simulation: they learn, so no two simulations may share one.

use std::fmt;
use std::sync::Arc;

use crate::{Estimates, Estimator};

/// Makes estimators of one kind.
#[derive(Clone)]
pub struct Source {
    name: String,
    make: Arc<dyn Fn() -> Box<dyn Estimator> + Send + Sync>,
}

impl Source {
    /// A kind of estimators with its name.
    pub fn new(
        name: impl Into<String>,
        make: impl Fn() -> Box<dyn Estimator> + Send + Sync + 'static,
    ) -> Self {
        Source { name: name.into(), make: Arc::new(make) }
    }

    /// What they are called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A fresh one that has seen nothing.
    pub fn estimator(&self) -> Box<dyn Estimator> {
        (self.make)()
    }
}

impl From<Estimates> for Source {
    fn from(estimates: Estimates) -> Self {
        Source::new(estimates.to_string(), move || estimates.estimator())
    }
}

impl Default for Source {
    fn default() -> Self {
        Source::from(Estimates::default())
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Source").field(&self.name).finish()
    }
}
