//! Which jobs are the same one again.

use std::collections::BTreeMap;

use harp_core::Allocation;

use super::PastJob;
use super::job::Shape;

/// A name with `#` for every run of digits: `heat_n40` and `heat_n80` are the same job with other input.
pub(super) fn pattern(name: &str) -> String {
    let mut pattern = String::new();
    for c in name.chars() {
        if !c.is_ascii_digit() {
            pattern.push(c);
        } else if !pattern.ends_with('#') {
            pattern.push('#');
        }
    }
    pattern
}

/// Jobs by what they have in common: name but for numbers, partition, nodes, cores and GPUs. A name of
/// which all jobs agree is kept as it is.
pub(super) fn recurring(jobs: &[PastJob]) -> Vec<(Shape, Vec<&PastJob>)> {
    type Key = (String, Option<String>, Option<u32>, Option<u32>, Option<u32>);
    let mut groups: BTreeMap<Key, Vec<&PastJob>> = BTreeMap::new();
    for job in jobs {
        let Allocation { nodes, cores, gpus, .. } = job.allocation;
        groups.entry((pattern(&job.name), job.partition.clone(), nodes, cores, gpus)).or_default().push(job);
    }
    groups
        .into_iter()
        .map(|((name, partition, nodes, cores, gpus), jobs)| {
            let mut limits: BTreeMap<_, usize> = BTreeMap::new();
            jobs.iter()
                .filter_map(|job| job.memory_limit)
                .for_each(|limit| *limits.entry(limit).or_default() += 1);
            let memory = limits.into_iter().max_by_key(|(_, count)| *count).map(|(limit, _)| limit);
            let first = jobs.first().map(|job| job.name.clone());
            let same = first.filter(|first| jobs.iter().all(|job| job.name == *first));
            let allocation = Allocation { nodes, cores, gpus, memory, ..Allocation::default() };
            (Shape { name: same.unwrap_or(name), partition, allocation }, jobs)
        })
        .collect()
}
