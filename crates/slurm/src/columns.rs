//! The columns of accounting that harp reads.

use crate::Cells;

/// The columns harp reads, by their place in [`NAMES`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Field {
    JobId,
    Cluster,
    User,
    Account,
    Partition,
    State,
    ExitCode,
    DerivedExitCode,
    Submit,
    Start,
    End,
    ElapsedRaw,
    Elapsed,
    Timelimit,
    Nodes,
    Tasks,
    Cpus,
    RequestedCpus,
    RequestedMemory,
    AllocTres,
    ReqTres,
    MaxRss,
    AveRss,
    UsageTotal,
    UsageMean,
    UserCpu,
    SystemCpu,
    Energy,
    NodeList,
    WorkDirectory,
    Comment,
    SubmitLine,
    JobName,
}

/// Their names at `sacct --format`, in the order of [`Field`]; what people write freely comes last.
pub(crate) const NAMES: [&str; 33] = [
    "JobID",
    "Cluster",
    "User",
    "Account",
    "Partition",
    "State",
    "ExitCode",
    "DerivedExitCode",
    "Submit",
    "Start",
    "End",
    "ElapsedRaw",
    "Elapsed",
    "Timelimit",
    "NNodes",
    "NTasks",
    "AllocCPUS",
    "ReqCPUS",
    "ReqMem",
    "AllocTRES",
    "ReqTRES",
    "MaxRSS",
    "AveRSS",
    "TRESUsageInTot",
    "TRESUsageInAve",
    "UserCPU",
    "SystemCPU",
    "ConsumedEnergyRaw",
    "NodeList",
    "WorkDir",
    "Comment",
    "SubmitLine",
    "JobName",
];

/// Where each field is in the rows at hand.
#[derive(Debug)]
pub(crate) struct Columns([Option<usize>; NAMES.len()]);

impl Columns {
    pub(crate) fn new(header: &[String]) -> Columns {
        let place = |name: &str| header.iter().position(|column| column.eq_ignore_ascii_case(name));
        let mut places = NAMES.map(place);
        let other = |field: Field, name: &str, places: &mut [Option<usize>; NAMES.len()]| {
            places[field as usize] = places[field as usize].or_else(|| place(name));
        };
        other(Field::JobId, "JobIDRaw", &mut places);
        other(Field::Nodes, "AllocNodes", &mut places);
        other(Field::Cpus, "NCPUS", &mut places);
        Columns(places)
    }

    pub(crate) fn has(&self, field: Field) -> bool {
        self.0[field as usize].is_some()
    }

    /// The text of a field; `None` where it is empty, cut off, or there is no such column.
    pub(crate) fn cell<'a>(&self, cells: &Cells<'a>, field: Field) -> Option<&'a str> {
        let column = self.0[field as usize]?;
        // the beginning of a state or an id says something; that of a name or a number says nothing
        let is_lost = cells.is_cut(column) && !matches!(field, Field::State | Field::JobId);
        if is_lost { None } else { cells.get(column) }
    }
}
