//! The flag that asks everything running to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::system;

/// A flag shared by whoever may ask for an end and everything that must heed it.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    requested: Arc<AtomicBool>,
    /// Flags that set this one too.
    others: Vec<Arc<AtomicBool>>,
    heeds_signals: bool,
}

impl Stop {
    /// A flag only [`Stop::request`] sets.
    pub fn new() -> Self {
        Self::default()
    }

    /// A flag that is also set by the first interrupt, termination or hang-up signal (Ctrl-C) this
    /// process gets. A second one ends the process at once; the programs it runs die with it.
    pub fn on_signals() -> Self {
        system::catch_signals();
        Self { heeds_signals: true, ..Self::default() }
    }

    /// A flag that is set with this one, and can be set without setting this one.
    pub(crate) fn child(&self) -> Self {
        let mut others = self.others.clone();
        others.push(Arc::clone(&self.requested));
        Self { requested: Arc::default(), others, heeds_signals: self.heeds_signals }
    }

    /// Asks for an end.
    pub fn request(&self) {
        self.requested.store(true, Ordering::SeqCst);
    }

    /// Whether an end was asked for.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::SeqCst)
            || self.others.iter().any(|other| other.load(Ordering::SeqCst))
            || (self.heeds_signals && system::signal_caught())
    }
}
