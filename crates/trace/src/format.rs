//! The kinds of trace, and telling them apart by their content.

use serde::Serialize;

/// A kind of trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// The Standard Workload Format.
    Swf,
    /// What `sacct --parsable2` prints.
    Sacct,
    /// What `sacct --json` prints.
    SacctJson,
    /// A table with a header line.
    Csv,
    /// One JSON object a line, with the field names of [`crate::Job`].
    JsonLines,
}

impl Format {
    /// Every kind.
    pub const ALL: [Format; 5] =
        [Format::Swf, Format::Sacct, Format::SacctJson, Format::Csv, Format::JsonLines];

    /// The word for `--format`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Swf => "swf",
            Format::Sacct => "sacct",
            Format::SacctJson => "sacct-json",
            Format::Csv => "csv",
            Format::JsonLines => "jsonl",
        }
    }

    /// The kind named by a word of `--format`.
    pub fn from_name(name: &str) -> Option<Self> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The kind a file's first bytes look like.
    pub fn detect(beginning: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(beginning);
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.next()?;
        if first.starts_with(';') {
            return Some(Format::Swf);
        }
        if first.starts_with('{') || first.starts_with('[') {
            let whole = first.starts_with('{') && first.ends_with('}') && first.contains("\"submit\"");
            return Some(if whole { Format::JsonLines } else { Format::SacctJson });
        }
        let words: Vec<&str> = first.split_whitespace().collect();
        if words.len() >= 5 && words.iter().all(|word| word.parse::<f64>().is_ok()) {
            return Some(Format::Swf);
        }
        if first.contains('|') && first.to_ascii_lowercase().contains("jobid") {
            return Some(Format::Sacct);
        }
        first.contains(',').then_some(Format::Csv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_content() {
        let kind = |text: &str| Format::detect(text.as_bytes());
        assert_eq!(kind("\n; Version: 2.2\n"), Some(Format::Swf));
        assert_eq!(kind("1 0 -1 5 2 -1 -1 2 9 -1 1 1 1 1 1 1 -1 -1\n"), Some(Format::Swf));
        assert_eq!(kind("JobID|User|Submit\n"), Some(Format::Sacct));
        assert_eq!(kind("{\n \"meta\": {"), Some(Format::SacctJson));
        assert_eq!(kind("{\"number\":1,\"submit\":2}\n"), Some(Format::JsonLines));
        assert_eq!(kind(",job,user\n0,1,2\n"), Some(Format::Csv));
        assert_eq!(kind("hello world\n"), None);
        for format in Format::ALL {
            assert_eq!(Format::from_name(format.name()), Some(format));
        }
    }
}
