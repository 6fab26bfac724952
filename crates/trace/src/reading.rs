//! What a reader tells besides the jobs: the format, the header, the names behind numbers, and the
//! lines that could not be used.

use std::collections::HashMap;

use serde::Serialize;

use crate::{Format, Job, Zone};

/// How many refused lines are listed; beyond that they are only counted.
pub const LISTED: usize = 1000;

/// A line that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BadLine {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// The lines that could not be used: all counted, the first thousand listed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// How many there were.
    pub count: u64,
    /// The first of them.
    pub lines: Vec<BadLine>,
}

impl Skipped {
    pub(crate) fn add(&mut self, line: u64, reason: String) {
        self.count += 1;
        if self.lines.len() < LISTED {
            self.lines.push(BadLine { line, reason });
        }
    }
}

/// What the header comments of a trace say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Header {
    /// `MaxProcs`: processors of the machine.
    pub max_processors: Option<u32>,
    /// `MaxNodes`: nodes of the machine.
    pub max_nodes: Option<u32>,
    /// `UnixStartTime`: the second the trace's time 0 stands for.
    pub unix_start_time: Option<i64>,
    /// `TimeZoneString`, else `TimeZone`, as written.
    pub time_zone: Option<String>,
    /// All comment lines without their semicolon, for writing the trace again.
    pub comments: Vec<String>,
}

impl Header {
    /// The machine's size: processors, else nodes.
    pub fn machine(&self) -> Option<u32> {
        self.max_processors.or(self.max_nodes)
    }

    /// The time zone, where it is told and known.
    pub fn zone(&self) -> Option<Zone> {
        self.time_zone.as_deref().and_then(Zone::of_header)
    }

    /// Takes in one comment line (without the leading semicolon).
    pub(crate) fn comment(&mut self, text: &str) {
        if let Some((key, value)) = text.split_once(':') {
            let value = value.trim();
            let number = value.split_whitespace().next().and_then(|word| word.parse::<i64>().ok());
            let size = number.and_then(|n| u32::try_from(n).ok()).filter(|&n| n > 0);
            match key.trim().to_ascii_lowercase().as_str() {
                "maxprocs" => self.max_processors = size.or(self.max_processors),
                "maxnodes" => self.max_nodes = size.or(self.max_nodes),
                // no log begins in 1970: 0 stands for a start that was not told
                "unixstarttime" => {
                    self.unix_start_time = number.filter(|&start| start > 0).or(self.unix_start_time);
                }
                "timezonestring" => self.time_zone = Some(value.to_owned()),
                "timezone" if self.time_zone.is_none() => self.time_zone = Some(value.to_owned()),
                _ => {}
            }
        }
        if self.comments.len() < LISTED {
            self.comments.push(text.trim_end().to_owned());
        }
    }
}

/// Where the numbers of texts begin in a trace whose other names are numbers.
const AFTER_NUMBERS: u64 = 1 << 62;

/// Numbers given to texts in order of first appearance, from 1. Where the first text is itself a whole
/// number, such texts keep their number.
#[derive(Debug, Clone, Default)]
pub struct Names {
    numbers: HashMap<String, u64>,
    texts: Vec<String>,
    numeric: Option<bool>,
}

impl Names {
    /// The number of a text; a new one if it was not seen before.
    pub fn number(&mut self, text: &str) -> u64 {
        let plain = text.parse::<u64>().ok().filter(|&number| number < AFTER_NUMBERS);
        let numeric = *self.numeric.get_or_insert(plain.is_some());
        if let Some(number) = plain.filter(|_| numeric) {
            return number;
        }
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let first = if numeric { AFTER_NUMBERS } else { 1 };
        let number = first + self.texts.len() as u64;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// The text behind a number.
    pub fn text(&self, number: u64) -> Option<&str> {
        let first = if self.numeric == Some(true) { AFTER_NUMBERS } else { 1 };
        let index = usize::try_from(number.checked_sub(first)?).ok()?;
        self.texts.get(index).map(String::as_str)
    }
}

/// Where readers put jobs, each with the header as far as it was read.
pub(crate) type Sink<'a> = &'a mut dyn FnMut(&Job, &Header);

/// What reading a trace gave besides its jobs.
#[derive(Debug, Clone, Serialize)]
pub struct Reading {
    /// The file's name, for messages.
    pub name: String,
    /// The kind it was read as.
    pub format: Format,
    /// Lines in the file, comments and empty ones included.
    pub lines: u64,
    /// Jobs read.
    pub jobs: u64,
    /// Lines that could not be used.
    pub skipped: Skipped,
    /// Lines of job steps, whose job has a line of its own.
    pub steps: u64,
    /// The header.
    pub header: Header,
    /// The zone of dates without an offset, and of hours of the day.
    #[serde(skip)]
    pub zone: Zone,
    /// Names of the users, where the trace names them.
    #[serde(skip)]
    pub users: Names,
    /// Names of groups or projects.
    #[serde(skip)]
    pub groups: Names,
    /// Names of queues.
    #[serde(skip)]
    pub queues: Names,
    /// Names of partitions.
    #[serde(skip)]
    pub partitions: Names,
    /// Names of programs.
    #[serde(skip)]
    pub executables: Names,
}

impl Reading {
    pub(crate) fn new(name: &str, format: Format) -> Self {
        Reading {
            name: name.to_owned(),
            format,
            lines: 0,
            jobs: 0,
            skipped: Skipped::default(),
            steps: 0,
            header: Header::default(),
            zone: Zone::default(),
            users: Names::default(),
            groups: Names::default(),
            queues: Names::default(),
            partitions: Names::default(),
            executables: Names::default(),
        }
    }
}

/// A whole trace in memory: for small ones. Large ones are visited job by job ([`crate::visit`]).
#[derive(Debug, Clone)]
pub struct Trace {
    /// Everything but the jobs.
    pub reading: Reading,
    /// The jobs in the order of the file.
    pub jobs: Vec<Job>,
}
