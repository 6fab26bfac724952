//! Cells of the tables about traces and schedules: times, shares and counts that may not be known.

use harp_report::Cell;
use harp_report::text::{number, share, significant};

/// A time in one unit and three digits, which keeps wide tables narrow: `1.89 h`.
pub fn compact(seconds: f64) -> String {
    const UNITS: [(&str, f64); 4] = [("d", 86_400.0), ("h", 3600.0), ("min", 60.0), ("s", 1.0)];
    let fitting = UNITS.into_iter().find(|(_, size)| seconds.abs() >= *size);
    let (unit, size) = fitting.unwrap_or(("s", 1.0));
    format!("{} {unit}", significant(seconds / size, 3))
}

/// Seconds, in the unit that suits them.
pub fn seconds(value: Option<f64>) -> Cell {
    value.map_or_else(Cell::missing, |value| Cell::number(compact(value), value))
}

/// Hours, shown in the unit that suits them.
pub fn hours(value: Option<f64>) -> Cell {
    value.map_or_else(Cell::missing, |value| Cell::number(compact(value * 3600.0), value))
}

/// A share, shown in percent.
pub fn percent(value: Option<f64>) -> Cell {
    value.map_or_else(Cell::missing, |value| Cell::number(share(value), value))
}

/// A bare number.
pub fn plain(value: Option<f64>) -> Cell {
    value.map_or_else(Cell::missing, |value| Cell::number(number(value), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_one_unit() {
        let shown = [0.0, 0.5, 59.0, 98.0, 6802.09, 389_669.88].map(compact);
        assert_eq!(shown, ["0 s", "0.500 s", "59.0 s", "1.63 min", "1.89 h", "4.51 d"]);
        assert_eq!(seconds(None), Cell::missing());
    }
}
