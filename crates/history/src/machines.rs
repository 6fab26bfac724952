//! What was measured of machines, by their names.

use std::collections::BTreeMap;

use harp_core::{Descriptors, Timestamp};
use rusqlite::params;

use crate::{HistoryError, Store};

impl Store {
    /// Keeps what was measured of a machine, in place of what was there.
    pub fn describe_machine(
        &mut self,
        host: &str,
        descriptors: &Descriptors,
        measured: Timestamp,
    ) -> Result<(), HistoryError> {
        // Numbers by name always make a text.
        let text = serde_json::to_string(descriptors).unwrap_or_default();
        self.attempt("written", |connection| {
            connection.execute(
                "INSERT INTO machines (host, descriptors, measured_ms) VALUES (?1, ?2, ?3) \
                 ON CONFLICT (host) DO UPDATE SET descriptors = ?2, measured_ms = ?3",
                params![host, text, measured.0],
            )
        })?;
        Ok(())
    }

    /// Every machine something was measured of. What cannot be read any more is left out.
    pub fn machines(&self) -> Result<BTreeMap<String, Descriptors>, HistoryError> {
        self.attempt("read", |connection| {
            let mut statement = connection.prepare("SELECT host, descriptors FROM machines")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
            let all: Vec<(String, String)> = rows.collect::<rusqlite::Result<_>>()?;
            let read = |(host, text): (String, String)| Some((host, serde_json::from_str(&text).ok()?));
            Ok(all.into_iter().filter_map(read).collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_measurement_of_a_machine_counts() {
        let directory = tempfile::tempdir().unwrap();
        let mut store = Store::open(&directory.path().join("h.sqlite")).unwrap();
        let of = |rate: f64| Descriptors { floating_gflops: Some(rate), ..Descriptors::default() };
        store.describe_machine("a", &of(1.0), Timestamp(1)).unwrap();
        store.describe_machine("b", &of(2.0), Timestamp(1)).unwrap();
        store.describe_machine("a", &of(3.0), Timestamp(2)).unwrap();
        let found = store.machines().unwrap();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), [("a".into(), of(3.0)), ("b".into(), of(2.0))]);
    }
}
