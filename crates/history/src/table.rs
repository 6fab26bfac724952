//! Runs and cases as CSV.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufReader, Chain, Cursor, Read, Write};

use harp_core::{Run, Value};

use crate::HistoryError;
use crate::separator::{self, Decimals};

/// Reads cases to predict: a header with feature names, one case a row. An empty cell is missing.
pub fn read_cases(file: &str, source: impl Read) -> Result<Vec<BTreeMap<String, Value>>, HistoryError> {
    let mut rows = Rows::open(file, source)?;
    let mut cases = Vec::new();
    while let Some((_, record)) = rows.next()? {
        let named = rows.header.iter().zip(record.iter());
        let filled = named.filter(|(_, cell)| !cell.is_empty());
        cases.push(filled.map(|(name, cell)| (name.to_owned(), Value::from_text(cell))).collect());
    }
    Ok(cases)
}

/// A CSV file whose first line names each column once, with commas, semicolons or tabs between cells.
pub(crate) struct Rows<'a, R> {
    file: &'a str,
    pub(crate) header: csv::StringRecord,
    reader: csv::Reader<Chain<Cursor<Vec<u8>>, BufReader<R>>>,
    separator: u8,
    pub(crate) decimals: Decimals,
    /// Added to lines: where they end with a carriage return too, the reader is still before the line feed when it
    /// says where the next row begins.
    behind: u64,
}

impl<'a, R: Read> Rows<'a, R> {
    pub(crate) fn open(file: &'a str, source: R) -> Result<Self, HistoryError> {
        let mut source = BufReader::new(source);
        let read = separator::of_header(&mut source);
        let (head, separator) = read.map_err(|error| broken(file, &error.into(), 0))?;
        let behind = u64::from(head.ends_with(b"\r\n"));
        let source = Cursor::new(head).chain(source);
        let mut reader =
            csv::ReaderBuilder::new().delimiter(separator).trim(csv::Trim::All).from_reader(source);
        let header = reader.headers().map_err(|error| broken(file, &error, 0))?.clone();
        let rows = Rows { file, header, reader, separator, decimals: Decimals::default(), behind };
        if rows.header.is_empty() {
            return Err(rows.wrong(1, "the file is empty; its first line must name each column once"));
        }
        let mut seen = BTreeSet::new();
        for name in &rows.header {
            if name.is_empty() {
                return Err(rows.wrong(1, "a column has no name; the first line must name each column once"));
            }
            if !seen.insert(name) {
                let reason =
                    format!("column `{name}` occurs twice; the first line must name each column once");
                return Err(rows.wrong(1, reason));
            }
        }
        Ok(rows)
    }

    /// The next row and its line.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, csv::StringRecord)>, HistoryError> {
        let mut record = csv::StringRecord::new();
        match self.reader.read_record(&mut record) {
            Ok(true) => {
                let line = record.position().map_or(1, csv::Position::line) + self.behind;
                let pointed = self.decimals.read(self.separator, line, &record);
                let pointed = pointed.map_err(|reason| self.wrong(line, reason))?;
                Ok(Some((line, pointed.unwrap_or(record))))
            }
            Ok(false) => Ok(None),
            Err(error) => Err(broken(self.file, &error, self.behind)),
        }
    }

    /// An error in a line.
    pub(crate) fn wrong(&self, line: u64, reason: impl Into<String>) -> HistoryError {
        HistoryError::Table { file: self.file.to_owned(), line, reason: reason.into() }
    }
}

fn broken(file: &str, error: &csv::Error, behind: u64) -> HistoryError {
    let line = error.position().map_or(1, csv::Position::line) + behind;
    let reason = match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("this row has {len} cells, the header has {expected_len}; give every row as many")
        }
        csv::ErrorKind::Utf8 { .. } => "this is not text in UTF-8; save the file as UTF-8".to_owned(),
        _ => error.to_string(),
    };
    HistoryError::Table { file: file.to_owned(), line, reason }
}

/// Writes runs as CSV: one row a run, parameters and metrics as columns of their own.
pub fn write_runs<'a>(
    runs: impl IntoIterator<Item = &'a Run>,
    destination: impl Write,
) -> Result<(), csv::Error> {
    let runs: Vec<&Run> = runs.into_iter().collect();
    let features: Vec<BTreeMap<String, Value>> = runs.iter().map(|run| run.configuration.values()).collect();
    let feature_names: BTreeSet<&String> = features.iter().flat_map(BTreeMap::keys).collect();
    let metric_names: BTreeSet<&String> = runs.iter().flat_map(|run| run.metrics.keys()).collect();
    const FIXED: [&str; 15] = [
        "application",
        "scale",
        "repetition",
        "outcome",
        "host",
        "started_ms",
        "seconds",
        "user_seconds",
        "system_seconds",
        "peak_memory_bytes",
        "peak_memory_source",
        "read_bytes",
        "written_bytes",
        "energy_joules",
        "peak_gpu_memory_bytes",
    ];
    let mut writer = csv::Writer::from_writer(destination);
    let header = FIXED.into_iter().map(str::to_owned);
    let metrics_header = metric_names.iter().map(|name| format!("metric_{name}"));
    writer.write_record(header.chain(feature_names.iter().map(|n| n.to_string())).chain(metrics_header))?;
    for (run, features) in runs.iter().zip(&features) {
        fn cell<T: ToString>(value: Option<T>) -> String {
            value.map(|value| value.to_string()).unwrap_or_default()
        }
        let usage = &run.usage;
        let mut record = vec![
            run.application.clone(),
            run.configuration.scale.to_string(),
            run.repetition.to_string(),
            run.outcome.name().to_owned(),
            run.host.clone(),
            run.started.0.to_string(),
            cell(usage.walltime.map(|time| time.0)),
            cell(usage.user_time.map(|time| time.0)),
            cell(usage.system_time.map(|time| time.0)),
            cell(usage.peak_memory.map(|memory| memory.0)),
            cell(usage.peak_memory_source.map(|source| source.name())),
            cell(usage.read.map(|bytes| bytes.0)),
            cell(usage.written.map(|bytes| bytes.0)),
            cell(usage.energy_joules),
            cell(usage.peak_gpu_memory.map(|memory| memory.0)),
        ];
        record.extend(feature_names.iter().map(|name| cell(features.get(*name))));
        record.extend(metric_names.iter().map(|name| cell(run.metrics.get(*name))));
        writer.write_record(record)?;
    }
    writer.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_read_with_kinds_and_missing_cells() {
        let cases = read_cases("c.csv", "n, method\n10, pow\n1e3,\n".as_bytes()).unwrap();
        assert_eq!(cases[0]["n"], Value::Integer(10));
        assert_eq!(cases[0]["method"], Value::from("pow"));
        assert_eq!(cases[1]["n"], Value::Real(1000.0));
        assert!(!cases[1].contains_key("method"));
    }

    #[test]
    fn bad_tables_name_the_line() {
        let message = |text: &str| read_cases("c.csv", text.as_bytes()).unwrap_err().to_string();
        assert!(message("n,m\n1,2\n1\n").starts_with("c.csv:3:"), "{}", message("n,m\n1,2\n1\n"));
        assert!(message("n,m\r\n1,2\r\n1\r\n").starts_with("c.csv:3:"), "{}", message("n,m\r\n1,2\r\n1\r\n"));
        assert!(message("n,n\n1,2\n").contains("`n` occurs twice"));
        assert!(message("n,\n1,2\n").contains("no name"));
        assert!(message("").contains("c.csv:1: the file is empty"), "{}", message(""));
    }

    #[test]
    fn semicolons_and_tabs_stand_between_cells_where_no_comma_does() {
        let read = |text: &str| read_cases("c.csv", text.as_bytes()).unwrap();
        let plain = read("n,method\n10,pow\n2.5,\n");
        for text in [
            "n;method\n10;pow\n2.5;\n",
            "n;method\n10;pow\n2,5;\n",
            "n\tmethod\n10\tpow\n2.5\t\n",
            "\nn;method\n10;pow\n2.5;\n",
            "\u{feff}n;\"method\"\r\n10;pow\r\n2,5;\r\n",
        ] {
            assert_eq!(read(text), plain, "{text:?}");
        }
        assert_eq!(read("n,a;b\n1,2\n")[0]["a;b"], Value::Integer(2));
        assert_eq!(read("n;\"a,b\"\n1;2\n")[0]["a,b"], Value::Integer(2));
        // Texts keep their commas.
        assert_eq!(read("n;m\n1,5;a,b\n")[0]["m"], Value::from("a,b"));
    }

    #[test]
    fn commas_that_could_stand_for_thousands_are_refused_by_line() {
        let message = |text: &str| read_cases("c.csv", text.as_bytes()).unwrap_err().to_string();
        let mixed = message("n;m\n1,5;2\n3;1.234\n");
        assert!(mixed.starts_with("c.csv:3: `1.234` could be") && mixed.contains("decimal point"), "{mixed}");
        assert!(message("n\tm\n1\t2\n1,234\t2\n").starts_with("c.csv:3: `1,234` could be"));
        let thousands = message("n,m\n1,2\n\"12,345,678.5\",2\n");
        assert_eq!(
            thousands,
            "c.csv:3: `12,345,678.5` could be one number or a list: write 12345678.5, or anything but \
                               commas between several"
        );
        // Lists and texts keep theirs.
        for text in ["0,1", "1,2,3", "1234,567", "a,123", "1,234 MB", ",123"] {
            let cases = read_cases("c.csv", format!("n,m\n\"{text}\",2\n").as_bytes()).unwrap();
            assert_eq!(cases[0]["n"], Value::from(text));
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = read_cases("x.csv", bytes.as_slice());
        }

        #[test]
        fn any_cell_means_the_same_whatever_stands_between(cells in "[0-9a-z.:+-]{1,8}") {
            let read = |text: String| read_cases("x.csv", text.as_bytes()).ok();
            let commas = read(format!("n,m\n{cells},1\n"));
            proptest::prop_assert_eq!(&read(format!("n;m\n{cells};1\n")), &commas);
            proptest::prop_assert_eq!(&read(format!("n\tm\n{cells}\t1\n")), &commas);
        }
    }
}
