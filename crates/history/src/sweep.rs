//! Sweeps measured elsewhere, as CSV: one run a row, one column the target, the others features.

use std::io::Read;

use harp_core::{Column, Dataset, Observed, Row, Scale, Target, Value};

use crate::HistoryError;
use crate::table::Rows;

/// Cells that stand for nothing.
const MISSING: [&str; 6] = ["", "NA", "N/A", "NaN", "nan", "null"];

/// Which columns of a CSV file mean what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SweepColumns {
    /// The column that is to be predicted.
    pub target: String,
    /// The column with `sd`, `fs` or `test`. Without it every row is scaled down.
    pub split: Option<String>,
    /// Columns that are not features, such as what was measured after the run.
    pub ignored: Vec<String>,
}

/// Parts of the names of columns that hold run times in seconds; other columns are bare numbers.
const TIMES: [&str; 7] = ["second", "time", "duration", "elapsed", "_sec", "secs", "makespan"];

/// Reads a sweep. The target's name tells what it is: `peak_memory`, `memory` and `bytes` are memory,
/// `cpu_time` is processor time, everything else is time on the wall. Lines whose target is missing
/// are given back by number.
pub fn read_sweep(
    file: &str,
    source: impl Read,
    columns: &SweepColumns,
) -> Result<(Dataset, Vec<u64>), HistoryError> {
    let mut rows = Rows::open(file, source)?;
    let names: Vec<String> = rows.header.iter().map(str::to_owned).collect();
    let place = |name: &str| {
        names.iter().position(|column| column == name).ok_or_else(|| {
            rows.wrong(1, format!("there is no column `{name}`; the columns are {}", names.join(", ")))
        })
    };
    let target = place(&columns.target)?;
    let split = columns.split.as_deref().map(place).transpose()?;
    let ignored = columns.ignored.iter().map(|name| place(name)).collect::<Result<Vec<usize>, _>>()?;
    let is_feature =
        |column: &usize| *column != target && Some(*column) != split && !ignored.contains(column);
    let features: Vec<usize> = (0..names.len()).filter(is_feature).collect();
    let (mut table, mut skipped) = (Vec::new(), Vec::new());
    while let Some((line, record)) = rows.next()? {
        let cell = |column: usize| record.get(column).filter(|cell| !MISSING.contains(cell));
        let Some(text) = cell(target) else {
            skipped.push(line);
            continue;
        };
        let Some(value) = text.parse::<f64>().ok().filter(|value| value.is_finite()) else {
            return Err(rows.wrong(line, format!("`{}` is `{text}`, which is not a number", columns.target)));
        };
        let scale = match split {
            None => Scale::Sd,
            Some(column) => {
                let text = record.get(column).unwrap_or_default();
                text.parse().map_err(|reason: String| rows.wrong(line, reason))?
            }
        };
        table.push(Row {
            cells: features.iter().map(|&column| cell(column).map(Value::from_text)).collect(),
            observed: Observed::Exact(value),
            scale,
            // Equal rows are found by their cells; nothing else says which belong together.
            group: line,
        });
    }
    let columns = features.iter().map(|&column| Column { name: names[column].clone() }).collect();
    let kind = match names[target].as_str() {
        "peak_memory" | "memory" | "bytes" | "mem_bytes" | "memory_bytes" | "peak_memory_bytes" => {
            Target::PeakMemory
        }
        "cpu_time" | "cpu_seconds" => Target::CpuTime,
        name if TIMES.iter().any(|time| name.to_ascii_lowercase().contains(time)) => Target::Walltime,
        name => Target::Metric(name.to_owned()),
    };
    let dataset = Dataset::new(kind, columns, table).map_err(|error| rows.wrong(1, error.to_string()))?;
    Ok((dataset, skipped))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(split: Option<&str>, ignored: &[&str]) -> SweepColumns {
        SweepColumns {
            target: "seconds".into(),
            split: split.map(Into::into),
            ignored: ignored.iter().map(|name| (*name).into()).collect(),
        }
    }

    #[test]
    fn a_sweep_is_read_with_scales_and_missing_cells() {
        let text = "n,seconds,split,epoch\n10,1.5,sd,0.1\nNA,2,fs,0.2\n30,,sd,\n40,4,test,0.4\n";
        let (sweep, skipped) =
            read_sweep("s.csv", text.as_bytes(), &columns(Some("split"), &["epoch"])).unwrap();
        assert_eq!(sweep.columns, [Column { name: "n".into() }]);
        assert_eq!(sweep.rows.iter().map(|row| row.scale).collect::<Vec<_>>(), Scale::ALL);
        assert_eq!(sweep.rows[1].cells, [None]);
        assert_eq!(sweep.rows[2].observed, Observed::Exact(4.0));
        assert_eq!(skipped, [4]);
    }

    #[test]
    fn mistakes_name_the_line_and_the_fix() {
        let message = |text: &str, split| {
            read_sweep("s.csv", text.as_bytes(), &columns(split, &[])).unwrap_err().to_string()
        };
        assert!(message("n,time\n1,2\n", None).contains("s.csv:1: there is no column `seconds`"));
        assert!(message("n,seconds\n1,fast\n", None).starts_with("s.csv:2: `seconds` is `fast`"));
        assert!(message("n,seconds,s\n1,2,sd\n1,2,train\n", Some("s")).starts_with("s.csv:3: `train`"));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = read_sweep("x.csv", bytes.as_slice(), &columns(None, &[]));
        }

        #[test]
        fn any_table_is_read_or_refused(text in "n,seconds\n([0-9a-z.,\"\n-]{0,40})") {
            let _ = read_sweep("x.csv", text.as_bytes(), &columns(None, &[]));
        }
    }
}
