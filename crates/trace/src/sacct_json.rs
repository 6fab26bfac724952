//! What `sacct --json` prints: one document with an array `jobs`, read element by element so that the
//! document is never in memory as a whole.

use std::fmt;
use std::io::{BufReader, Read};

use harp_slurm::json_number as number;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use crate::reading::Sink;
use crate::{Job, Reading, Status, TraceError};

/// Visits the jobs of the document.
pub(crate) fn visit(source: &mut dyn Read, reading: &mut Reading, sink: Sink<'_>) -> Result<(), TraceError> {
    let name = reading.name.clone();
    let mut deserializer = serde_json::Deserializer::from_reader(BufReader::new(source));
    Document { reading, sink }.deserialize(&mut deserializer).map_err(|error| TraceError::Columns {
        name,
        line: error.line() as u64,
        reason: format!("the document cannot be read: {error}"),
        hint: "give the whole output of `sacct --json`".to_owned(),
    })
}

/// The document: an object with `jobs`, or the array itself.
struct Document<'a> {
    reading: &'a mut Reading,
    sink: Sink<'a>,
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
        while let Some(key) = map.next_key::<String>()? {
            if key == "jobs" {
                map.next_value_seed(Document { reading: &mut *self.reading, sink: &mut *self.sink })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(element) = elements.next_element::<Value>()? {
            // an element stands for a line: the document's own lines say nothing
            self.reading.lines += 1;
            let line = self.reading.lines;
            match job(line, &element, self.reading) {
                Ok(job) => {
                    self.reading.jobs += 1;
                    (self.sink)(&job, &self.reading.header);
                }
                Err(reason) => self.reading.skipped.add(line, reason),
            }
        }
        Ok(())
    }
}

fn job(line: u64, element: &Value, reading: &mut Reading) -> Result<Job, String> {
    let time = &element["time"];
    let submit = number(&time["submission"])
        .ok_or_else(|| format!("job {line} of the array has no time.submission"))?;
    let start = number(&time["start"]).filter(|&start| start > 0);
    let state = match &element["state"]["current"] {
        Value::Array(states) => states.first().and_then(Value::as_str).unwrap_or(""),
        Value::String(state) => state,
        _ => "",
    };
    let finished = !matches!(state, "RUNNING" | "PENDING" | "SUSPENDED" | "REQUEUED");
    let positive = |value: Option<i64>| value.filter(|&value| value >= 0);
    let count = |value: Option<i64>| positive(value).and_then(|value| u32::try_from(value).ok());
    let tres = |list: &str, kind: &str, name: &str| {
        let found = element["tres"][list].as_array()?.iter().find(|entry| {
            entry["type"].as_str() == Some(kind) && entry["name"].as_str().unwrap_or("").starts_with(name)
        });
        number(&found?["count"])
    };
    let required = number(&element["required"]["CPUs"]);
    let text = |key: &str| element[key].as_str().filter(|text| !text.is_empty());
    Ok(Job {
        number: number(&element["job_id"]).map_or(line, i64::unsigned_abs),
        line,
        submit,
        wait: positive(start.map(|start| start - submit)),
        run: if finished { positive(number(&time["elapsed"])) } else { None },
        allocated_processors: count(tres("allocated", "cpu", "")),
        requested_processors: count(tres("requested", "cpu", "").or(required)),
        requested_time: positive(number(&time["limit"])).map(|minutes| minutes * 60),
        status: Status::from_word(state),
        user: text("user").map(|text| reading.users.number(text)),
        group: text("account").map(|text| reading.groups.number(text)),
        executable: text("name").map(|text| reading.executables.number(text)),
        queue: text("qos").map(|text| reading.queues.number(text)),
        partition: text("partition").map(|text| reading.partitions.number(text)),
        gpus: count(tres("allocated", "gres", "gpu")),
        ..Job::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    fn read(text: &str) -> Result<(Vec<Job>, Reading), TraceError> {
        let mut reading = Reading::new("t.json", Format::SacctJson);
        let mut jobs = Vec::new();
        visit(&mut text.as_bytes(), &mut reading, &mut |job, _| jobs.push(*job))?;
        Ok((jobs, reading))
    }

    #[test]
    fn old_and_new_shapes_are_read() {
        let (jobs, reading) = read(
            r#"{"meta": {"plugin": {}}, "jobs": [
              {"job_id": 5, "user": "anna", "time": {"submission": 100, "start": 160, "elapsed": 60,
               "limit": {"set": true, "infinite": false, "number": 60}}, "state": {"current": ["TIMEOUT"]},
               "tres": {"allocated": [{"type": "cpu", "name": "", "count": 8}, {"type": "gres", "name": "gpu", "count": 2}],
                        "requested": [{"type": "cpu", "name": "", "count": 4}]}},
              {"job_id": 6, "time": {"submission": 100, "start": 0, "elapsed": 0, "limit": 5},
               "state": {"current": "PENDING"}, "required": {"CPUs": 3}},
              {"job_id": 7}]}"#,
        )
        .unwrap();
        assert_eq!((jobs.len(), reading.skipped.count), (2, 1));
        let job = jobs[0];
        assert_eq!((job.wait, job.run, job.requested_time), (Some(60), Some(60), Some(3600)));
        assert_eq!((job.processors(), job.allocated_processors, job.gpus), (Some(4), Some(8), Some(2)));
        assert_eq!(job.status, Status::Cancelled);
        assert_eq!((jobs[1].run, jobs[1].processors(), jobs[1].requested_time), (None, Some(3), Some(300)));
    }

    #[test]
    fn a_cut_document_names_its_line() {
        let error = read("{\"jobs\": [\n{\"job_id\": 5,").unwrap_err().to_string();
        assert!(error.starts_with("t.json:2:"), "{error}");
    }
}
