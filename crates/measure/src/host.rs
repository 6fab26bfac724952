//! Describes this machine, as far as it lets itself be read.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use harp_core::{Bytes, Cache, Host};
use rustix::system::uname;
use rustix::thread::{CpuSet, sched_getaffinity};

use crate::{gpu, procfs};

const PROCESSORS: &str = "/sys/devices/system/cpu";

/// Describes this machine.
pub fn host() -> Host {
    let system = uname();
    let text = |bytes: &std::ffi::CStr| bytes.to_string_lossy().into_owned();
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let online = online(Path::new(PROCESSORS));
    Host {
        name: text(system.nodename()),
        processor: processor_name(&processors),
        cores: count(physical_cores(Path::new(PROCESSORS), &online).len()),
        threads: count(online.len()),
        clock_mhz: largest_clock(Path::new(PROCESSORS), &online).or_else(|| current_clock(&processors)),
        caches: online.first().map(|first| caches(Path::new(PROCESSORS), *first)).unwrap_or_default(),
        memory: procfs::total_memory(),
        gpus: gpu::probe().map(|probe| probe.describe()).unwrap_or_default(),
        kernel: Some(format!("{} {}", text(system.sysname()), text(system.release()))),
    }
}

/// The processors this process may use, one hardware thread of each physical core first, so that
/// the first *n* disturb each other least.
///
/// The second figure says how many of them are on a core of their own.
pub fn available_cores() -> (Vec<usize>, usize) {
    let allowed = sched_getaffinity(None)
        .map(|set| (0..CpuSet::MAX_CPU).filter(|&number| set.is_set(number)).collect())
        .unwrap_or_else(|_| online(Path::new(PROCESSORS)));
    let mut seen = BTreeSet::new();
    let (mut first, second): (Vec<usize>, Vec<usize>) =
        allowed.into_iter().partition(|&number| seen.insert(core_of(Path::new(PROCESSORS), number)));
    let own_cores = first.len();
    first.extend(second);
    (first, own_cores)
}

fn count(number: usize) -> Option<u32> {
    u32::try_from(number).ok().filter(|&number| number > 0)
}

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// x86 says `model name`, other architectures use other words.
fn processor_name(text: &str) -> Option<String> {
    ["model name", "cpu model", "Processor", "cpu", "uarch"].into_iter().find_map(|name| {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    })
}

fn online(directory: &Path) -> Vec<usize> {
    read(&directory.join("online")).map(|text| parse_list(&text)).unwrap_or_default()
}

/// `0-3,8,10-11` as the kernel writes lists.
fn parse_list(text: &str) -> Vec<usize> {
    text.split(',')
        .filter_map(|part| {
            let (first, last) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
            Some(first.parse().ok()?..=last.parse().ok()?)
        })
        .flatten()
        .collect()
}

/// What tells the physical core of a hardware thread apart from others.
fn core_of(directory: &Path, number: usize) -> (String, String) {
    let topology = directory.join(format!("cpu{number}/topology"));
    let get = |name: &str| read(&topology.join(name));
    // Without topology every hardware thread counts as a core.
    (get("physical_package_id").unwrap_or_default(), get("core_id").unwrap_or_else(|| format!("cpu{number}")))
}

fn physical_cores(directory: &Path, online: &[usize]) -> BTreeSet<(String, String)> {
    online.iter().map(|&number| core_of(directory, number)).collect()
}

fn largest_clock(directory: &Path, online: &[usize]) -> Option<f64> {
    let clocks = online.iter().filter_map(|number| {
        let file = directory.join(format!("cpu{number}/cpufreq/cpuinfo_max_freq"));
        read(&file)?.parse::<f64>().ok()
    });
    clocks.max_by(f64::total_cmp).map(|kilohertz| kilohertz / 1000.0)
}

/// Virtual machines hide the largest clock; the current one is then all there is.
fn current_clock(text: &str) -> Option<f64> {
    let clocks = text.lines().filter_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "cpu MHz").then(|| value.trim().parse::<f64>().ok())?
    });
    clocks.max_by(f64::total_cmp)
}

fn caches(directory: &Path, number: usize) -> Vec<Cache> {
    let Ok(entries) = fs::read_dir(directory.join(format!("cpu{number}/cache"))) else { return Vec::new() };
    let mut found: Vec<Cache> = entries
        .flatten()
        .filter_map(|entry| {
            let get = |name: &str| read(&entry.path().join(name));
            let holds_data = get("type").is_some_and(|kind| kind != "Instruction");
            let size = get("size")?.parse::<Bytes>().ok()?;
            holds_data.then_some(Cache { level: get("level")?.parse().ok()?, size })
        })
        .collect();
    found.sort_by_key(|cache| (cache.level, cache.size));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_lists_are_read() {
        assert_eq!(parse_list("0-2,5,7-8\n"), [0, 1, 2, 5, 7, 8]);
        assert_eq!(parse_list(""), Vec::<usize>::new());
    }

    #[test]
    fn this_machine_can_be_described() {
        let host = host();
        assert!(!host.name.is_empty());
        assert!(host.kernel.unwrap().starts_with("Linux "));
        assert!(host.memory.unwrap() > Bytes(64 << 20));
        let (cores, threads) = (host.cores.unwrap(), host.threads.unwrap());
        assert!(1 <= cores && cores <= threads);
        let (available, own_cores) = available_cores();
        assert!(own_cores >= 1 && own_cores <= available.len());
    }

    #[test]
    fn hardware_threads_of_one_core_are_told_apart_from_cores() {
        let directory = tempfile::tempdir().unwrap();
        for (number, core) in [(0, 0), (1, 1), (2, 0), (3, 1)] {
            let topology = directory.path().join(format!("cpu{number}/topology"));
            fs::create_dir_all(&topology).unwrap();
            fs::write(topology.join("physical_package_id"), "0\n").unwrap();
            fs::write(topology.join("core_id"), format!("{core}\n")).unwrap();
        }
        assert_eq!(physical_cores(directory.path(), &[0, 1, 2, 3]).len(), 2);
        let cache = directory.path().join("cpu0/cache/index3");
        fs::create_dir_all(&cache).unwrap();
        for (name, text) in [("type", "Unified\n"), ("size", "32768K\n"), ("level", "3\n")] {
            fs::write(cache.join(name), text).unwrap();
        }
        assert_eq!(caches(directory.path(), 0), [Cache { level: 3, size: Bytes(32 << 20) }]);
    }

    #[test]
    fn processors_name_themselves_in_several_ways() {
        assert_eq!(processor_name("processor\t: 0\nmodel name\t: Some CPU\n").as_deref(), Some("Some CPU"));
        assert_eq!(processor_name("cpu\t\t: POWER9\n").as_deref(), Some("POWER9"));
        assert_eq!(processor_name("processor\t: 0\n"), None);
        assert_eq!(current_clock("cpu MHz\t: 2000.5\ncpu MHz\t: 2450.0\n"), Some(2450.0));
    }
}
