//! What `sacct --json` prints: one document with an array `jobs`, each with its steps; read element by
//! element. Facts of the shape are those of Slurm 22.05 (`data_parser` v0.0.38) and later.
//!
//! Slurm 22.05 writes exit code 0 for jobs that failed and no CPU time for jobs; the states and the
//! steps are right, so they are what is used.

use std::fmt;
use std::io::Read;

use harp_core::{Bytes, Seconds};
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::assemble::Components;
use crate::identifier::{JobId, Part};
use crate::job::{AccountedJob, ExitCode};
use crate::memory::{StepMemory, job_memory};
use crate::state::{State, StateKind};
use crate::{AccountingError, Reading, TimeLimit};

/// A number, bare or as Slurm's `{"set": true, "infinite": false, "number": 5}`.
pub fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Object(fields) => {
            let flag = |key: &str| fields.get(key).and_then(Value::as_bool);
            if flag("set") == Some(false) || flag("infinite") == Some(true) {
                return None;
            }
            fields.get("number").and_then(number)
        }
        Value::Number(number) => {
            number.as_i64().or_else(|| number.as_f64().map(|value| value.round() as i64))
        }
        _ => None,
    }
}

pub(crate) fn read(
    name: &str,
    source: impl Read,
    visit: &mut dyn FnMut(AccountedJob),
) -> Result<Reading, AccountingError> {
    let mut reading = Reading::default();
    let mut deserializer = serde_json::Deserializer::from_reader(source);
    let (mut components, mut jobs) = (Components::default(), 0);
    let mut count = |job: AccountedJob| {
        jobs += 1;
        visit(job);
    };
    let mut join = |job: AccountedJob| components.push(job, &mut count);
    Document { reading: &mut reading, visit: &mut join }.deserialize(&mut deserializer).map_err(|error| {
        AccountingError::NotAccounting {
            name: name.to_owned(),
            line: error.line() as u64,
            reason: format!("the document cannot be read: {error}"),
        }
    })?;
    components.finish(&mut count);
    reading.jobs = jobs;
    reading.notes.push("JSON of Slurm 22.05 lacks exit codes; text (--parsable2) says more".to_owned());
    Ok(reading)
}

/// The document: an object with `jobs`, or the array itself.
struct Document<'a> {
    reading: &'a mut Reading,
    visit: &'a mut dyn FnMut(AccountedJob),
}

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with an array `jobs`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut has_jobs = false;
        while let Some(key) = map.next_key::<String>()? {
            if key == "jobs" {
                has_jobs = true;
                map.next_value_seed(Document { reading: &mut *self.reading, visit: &mut *self.visit })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        // another of Slurm's answers is not accounting without jobs
        if has_jobs { Ok(()) } else { Err(A::Error::custom("there is no array `jobs` in it")) }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element::<Value>()? {
            self.reading.lines += 1;
            match job(self.reading.lines, &element) {
                Ok(job) => {
                    self.reading.steps += u64::from(job.steps);
                    (self.visit)(job);
                }
                Err(reason) => self.reading.skip(self.reading.lines, reason),
            }
        }
        Ok(())
    }
}

fn state(value: &Value) -> State {
    // a word, or the state with what else holds: ["CANCELLED", "COMPLETING"]
    let word = value.as_array().and_then(|states| states.first()).unwrap_or(value);
    State::parse(word.as_str().unwrap_or(""))
}

fn count(value: &Value) -> Option<u64> {
    number(value).and_then(|value| u64::try_from(value).ok())
}

fn tres(list: &Value, kind: &str, name: &str) -> Option<u64> {
    let found = list.as_array()?.iter().find(|entry| {
        entry["type"].as_str() == Some(kind) && entry["name"].as_str().unwrap_or("").starts_with(name)
    });
    count(&found?["count"])
}

fn seconds(value: &Value) -> Option<Seconds> {
    Some(Seconds(
        number(&value["seconds"])? as f64 + number(&value["microseconds"]).unwrap_or(0) as f64 / 1e6,
    ))
}

fn exit_code(value: &Value) -> Option<ExitCode> {
    let part = |value: &Value| number(value).and_then(|value| i32::try_from(value).ok());
    let signal = part(&value["signal"]["id"]).or_else(|| part(&value["signal"]["signal_id"]));
    match (part(&value["return_code"]), signal) {
        (None, None) => None,
        // of a job ended by a signal the code is null
        (code, signal) => Some(ExitCode { code: code.unwrap_or(0), signal: signal.unwrap_or(0) }),
    }
}

fn job(line: u64, element: &Value) -> Result<AccountedJob, String> {
    let number_of_job = count(&element["job_id"]).ok_or("the job has no job_id")?;
    let (array, het) = (&element["array"], &element["het"]);
    let id = match (count(&array["job_id"]).filter(|&id| id > 0), count(&array["task_id"])) {
        (Some(job), Some(task)) => JobId { job, part: Part::Task(task), step: None },
        (Some(job), None) if array["task"].as_str().is_some_and(|tasks| !tasks.is_empty()) => {
            JobId { job, part: Part::WaitingTasks, step: None }
        }
        _ => match (count(&het["job_id"]).filter(|&id| id > 0), count(&het["job_offset"])) {
            (Some(job), Some(offset)) => JobId { job, part: Part::Component(offset), step: None },
            _ => JobId { job: number_of_job, part: Part::Whole, step: None },
        },
    };
    let state = state(&element["state"]["current"]);
    if state.kind == StateKind::Unknown {
        return Err(format!("job {id} has no state harp knows"));
    }
    let (time, given, asked) =
        (&element["time"], &element["tres"]["allocated"], &element["tres"]["requested"]);
    let moment = |value: &Value| number(value).filter(|&time| time > 0);
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let mebibytes = |value: Option<u64>| value.and_then(|count| count.checked_mul(1 << 20)).map(Bytes);
    let nodes = tres(given, "node", "").or_else(|| count(&element["allocation_nodes"]));
    let steps = element["steps"].as_array().map_or(&[][..], Vec::as_slice);
    let step_memory: Vec<StepMemory> = steps.iter().map(take_step).collect();
    let memory = job_memory(&step_memory, nodes.unwrap_or(1).max(1));
    let cpu = |kind: &str| -> Option<Seconds> {
        let times: Vec<Seconds> = steps.iter().filter_map(|step| seconds(&step["time"][kind])).collect();
        (!times.is_empty()).then(|| times.into_iter().sum())
    };
    let is_oom = |step: &Value| {
        step["step"]["id"].as_str().is_none_or(|id| !id.ends_with("extern"))
            && self::state(&step["state"]).kind == StateKind::OutOfMemory
    };
    let is_open = |step: &Value| self::state(&step["state"]).kind == StateKind::Unfinished;
    // Of a job that failed, exit code 0 is the fault of old versions.
    let exit = exit_code(&element["exit_code"])
        .filter(|exit| *exit != ExitCode::default() || state.kind == StateKind::Completed);
    Ok(AccountedJob {
        line,
        id,
        cluster: text(&element["cluster"]),
        user: text(&element["user"]).or_else(|| text(&element["association"]["user"])),
        account: text(&element["account"]),
        partition: text(&element["partition"]),
        name: text(&element["name"]),
        comment: text(&element["comment"]["job"]),
        submit_line: text(&element["submit_line"]),
        work_directory: text(&element["working_directory"]),
        state,
        exit,
        derived_exit: exit_code(&element["derived_exit_code"]),
        submit: moment(&time["submission"]),
        start: moment(&time["start"]),
        end: moment(&time["end"]),
        elapsed: number(&time["elapsed"]).filter(|&time| time >= 0).map(|time| Seconds(time as f64)),
        limit: number(&time["limit"])
            .map_or(TimeLimit::Unknown, |minutes| TimeLimit::Of(Seconds(minutes as f64 * 60.0))),
        nodes,
        cpus: tres(given, "cpu", "")
            .or_else(|| tres(asked, "cpu", ""))
            .or_else(|| count(&element["required"]["CPUs"])),
        memory: mebibytes(tres(given, "mem", "").or_else(|| tres(asked, "mem", ""))),
        requested_memory: None,
        gpus: tres(given, "gres", "gpu").or_else(|| tres(asked, "gres", "gpu")),
        gpu_kind: None,
        user_time: cpu("user").filter(|time| time.0 > 0.0),
        system_time: cpu("system"),
        peak_memory: memory.per_node.map(Bytes),
        total_memory: memory.total.map(Bytes),
        gpu_memory: None,
        gpu_utilisation: None,
        energy: None,
        steps: u32::try_from(steps.len()).unwrap_or(u32::MAX),
        open_steps: u32::try_from(steps.iter().filter(|step| is_open(step)).count()).unwrap_or(u32::MAX),
        step_out_of_memory: steps.iter().any(is_oom),
        components: 1,
    })
}

fn take_step(step: &Value) -> StepMemory {
    // "requested" is Slurm's word for what went in, so for what was used
    let used = &step["tres"]["requested"];
    let positive = |value: Option<u64>| value.filter(|&value| value > 0);
    StepMemory {
        largest_task: positive(tres(&used["max"], "mem", "")),
        mean_task: positive(tres(&used["average"], "mem", "")),
        all_tasks: positive(tres(&used["total"], "mem", "")),
        tasks: count(&step["tasks"]["count"]),
        nodes: count(&step["nodes"]["count"]),
        hosts: step["nodes"]["range"].as_str().map(str::to_owned),
        start: number(&step["time"]["start"]).filter(|&time| time > 0),
        end: number(&step["time"]["end"]).filter(|&time| time > 0),
    }
}
