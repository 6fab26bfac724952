//! Which column of a table is which field of a job: by well-known names, or as a person says.

use std::collections::BTreeMap;

use crate::TraceError;

/// What a column can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Field {
    Number,
    Submit,
    Start,
    End,
    Wait,
    Run,
    RequestedProcessors,
    AllocatedProcessors,
    AverageCpuTime,
    UsedMemory,
    RequestedTime,
    RequestedMinutes,
    RequestedMemory,
    Status,
    User,
    Group,
    Executable,
    Queue,
    Partition,
    PrecedingJob,
    ThinkTime,
    Gpus,
    Tres,
}

/// The name a person uses for each field, then names it is known by, the surest first.
const KNOWN: [(Field, &[&str]); 23] = [
    (Field::Number, &["number", "job", "job_id", "jobid", "jobidraw", "job_number", "id"]),
    (Field::Submit, &["submit", "submit_time", "submission", "submitted", "submittime", "subtime"]),
    (Field::Start, &["start", "start_time", "starttime", "started"]),
    (Field::End, &["end", "end_time", "endtime", "finish", "finish_time"]),
    (Field::Wait, &["wait", "wait_time", "waittime", "queue_time"]),
    (
        Field::Run,
        &["run", "run_time", "runtime", "elapsedraw", "elapsed", "duration", "run_seconds", "walltime_used"],
    ),
    (
        Field::RequestedProcessors,
        &[
            "processors",
            "procs",
            "requested_processors",
            "reqcpus",
            "req_cpus",
            "requested_procs",
            "node_num",
            "nodes",
            "num_nodes",
            "cpu_num",
            "cpus",
            "cores",
            "size",
        ],
    ),
    (
        Field::AllocatedProcessors,
        &["allocated_processors", "alloccpus", "alloc_cpus", "ncpus", "allocated_procs", "used_processors"],
    ),
    (Field::AverageCpuTime, &["average_cpu_time"]),
    (Field::UsedMemory, &["used_memory"]),
    (
        Field::RequestedTime,
        &[
            "requested_time",
            "wall_time",
            "walltime",
            "timelimit",
            "time_limit",
            "request",
            "requested_seconds",
            "request_time",
        ],
    ),
    (Field::RequestedMinutes, &["requested_minutes", "timelimitraw"]),
    (Field::RequestedMemory, &["requested_memory"]),
    (Field::Status, &["status", "new_status", "state", "outcome", "exit_status"]),
    (Field::User, &["user", "user_id", "uid", "username", "owner"]),
    (Field::Group, &["group", "project", "account", "group_id", "gid"]),
    (Field::Executable, &["executable", "application", "jobname", "job_name", "name"]),
    (Field::Queue, &["queue", "qos", "queue_name"]),
    (Field::Partition, &["partition"]),
    (Field::PrecedingJob, &["preceding_job"]),
    (Field::ThinkTime, &["think_time"]),
    (Field::Gpus, &["gpus", "gpu_num", "num_gpus", "allocgpus"]),
    (Field::Tres, &["alloctres", "reqtres"]),
];

/// Says which column of a table is which field, where the names alone do not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnMap {
    chosen: BTreeMap<String, String>,
}

impl ColumnMap {
    /// Reads `submit=SubmittedAt,processors=CPUs,run=WallClock`. The names to the left are those of
    /// the fields of [`crate::Job`] and `processors`, `start`, `end`, `requested_minutes`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut chosen = BTreeMap::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let Some((field, column)) = part.split_once('=') else {
                return Err(format!("`{part}` is not FIELD=COLUMN"));
            };
            let field = field.trim().to_ascii_lowercase();
            if !KNOWN.iter().any(|(_, names)| names[0] == field) {
                let names: Vec<&str> = KNOWN.iter().map(|(_, names)| names[0]).collect();
                return Err(format!("`{field}` is not a field; the fields are {}", names.join(", ")));
            }
            chosen.insert(field, column.trim().to_owned());
        }
        Ok(ColumnMap { chosen })
    }
}

/// Where each field is in a row.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    places: [Option<usize>; KNOWN.len()],
    pub(crate) width: usize,
}

impl Layout {
    /// Finds the fields in a header, and refuses a table that lacks what every job needs.
    pub(crate) fn new(name: &str, line: u64, header: &[String], map: &ColumnMap) -> Result<Self, TraceError> {
        let find = |wanted: &str| header.iter().position(|title| title.trim().eq_ignore_ascii_case(wanted));
        let failed =
            |reason: String, hint: String| TraceError::Columns { name: name.to_owned(), line, reason, hint };
        let mut places = [None; KNOWN.len()];
        for (place, (_, names)) in places.iter_mut().zip(&KNOWN) {
            *place = match map.chosen.get(names[0]) {
                Some(column) => Some(find(column).ok_or_else(|| {
                    let hint = format!("the columns are {}", header.join(", "));
                    failed(format!("there is no column `{column}` for {}", names[0]), hint)
                })?),
                None => names.iter().find_map(|known| find(known)),
            };
        }
        let layout = Layout { places, width: header.len() };
        let hint = |field: &str| {
            format!(
                "say which column it is with --columns {field}=NAME; the columns are {}",
                header.join(", ")
            )
        };
        if layout.place(Field::Submit).is_none() {
            return Err(failed("no column holds the submit time".to_owned(), hint("submit")));
        }
        if layout.place(Field::Run).is_none()
            && (layout.place(Field::Start).is_none() || layout.place(Field::End).is_none())
        {
            return Err(failed("no column holds the run time".to_owned(), hint("run")));
        }
        Ok(layout)
    }

    /// The column of a field.
    pub(crate) fn place(&self, field: Field) -> Option<usize> {
        self.places[field as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    #[test]
    fn fields_are_listed_in_the_order_of_their_numbers() {
        for (index, (field, _)) in KNOWN.iter().enumerate() {
            assert_eq!(*field as usize, index);
        }
    }

    #[test]
    fn well_known_names_are_found_and_a_person_overrules_them() {
        let titles = header("job,submit_time,run_time,cpu_num,node_num,state,new_status,Wanted");
        let layout = Layout::new("t", 1, &titles, &ColumnMap::default()).unwrap();
        assert_eq!(layout.place(Field::RequestedProcessors), Some(4));
        assert_eq!(layout.place(Field::Status), Some(6));
        let map = ColumnMap::parse("processors=cpu_num, user=wanted").unwrap();
        let layout = Layout::new("t", 1, &titles, &map).unwrap();
        assert_eq!(layout.place(Field::RequestedProcessors), Some(3));
        assert_eq!(layout.place(Field::User), Some(7));
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = Layout::new("t.csv", 1, &header("a,run"), &ColumnMap::default()).unwrap_err().to_string();
        assert!(error.contains("t.csv:1: no column holds the submit time"), "{error}");
        assert!(error.contains("--columns submit=NAME; the columns are a, run"), "{error}");
        assert!(ColumnMap::parse("colour=red").unwrap_err().contains("`colour` is not a field"));
        assert!(ColumnMap::parse("submit").is_err());
        let map = ColumnMap::parse("submit=b").unwrap();
        assert!(
            Layout::new("t", 1, &header("a,run"), &map).unwrap_err().to_string().contains("no column `b`")
        );
    }
}
