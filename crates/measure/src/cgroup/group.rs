//! One control group, made for one run.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::thread;
use std::time::Duration;

use harp_core::Bytes;
use rustix::process::{Pid, Signal, kill_process};

use super::Version;
use super::locate::{Location, location};
use crate::mark;
use crate::procfs::{self, ProcessId};

const PREFIX: &str = "harp-";

/// A control group; removed when dropped.
pub(crate) struct Group {
    directory: PathBuf,
    version: Version,
}

/// What a group holds at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// All that is charged to it.
    pub charged: u64,
    /// Of this, file contents the kernel keeps only because there is room.
    pub cache: u64,
}

impl Held {
    /// What cannot be taken back: the processes' own memory, shared memory and the kernel's for them.
    pub(crate) fn needed(self) -> u64 {
        self.charged.saturating_sub(self.cache)
    }
}

impl Group {
    /// A new group with a limit, named by its run's mark, or `None` where none can be made or the limit cannot be set.
    pub(crate) fn create(mark: &str, limit: Option<Bytes>) -> Option<Self> {
        static STALE_REMOVED: Once = Once::new();
        let location = location()?;
        STALE_REMOVED.call_once(|| remove_stale(location));
        Self::create_in(location, mark, limit)
    }

    fn create_in(location: &Location, mark: &str, limit: Option<Bytes>) -> Option<Self> {
        let directory = location.directory.join(format!("{PREFIX}{mark}"));
        let group = Group { directory, version: location.version };
        fs::create_dir(&group.directory).ok()?;
        if let Some(limit) = limit {
            group.set_limit(limit).ok()?;
        }
        let peak_is_kept = group.directory.join(group.peak_file()).exists();
        peak_is_kept.then_some(group)
    }

    fn set_limit(&self, limit: Bytes) -> io::Result<()> {
        let limit = limit.0.to_string();
        match self.version {
            Version::One => {
                self.write("memory.limit_in_bytes", &limit)?;
                // Absent where swap is not accounted for or there is none.
                let _ = self.write("memory.swappiness", "0");
                let _ = self.write("memory.memsw.limit_in_bytes", &limit);
            }
            Version::Two => {
                self.write("memory.max", &limit)?;
                let _ = self.write("memory.swap.max", "0");
                let _ = self.write("memory.oom.group", "1");
            }
        }
        Ok(())
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        // Not created if absent: a control group's files are there from the start.
        let mut file = OpenOptions::new().write(true).open(self.directory.join(file))?;
        io::Write::write_all(&mut file, text.as_bytes())
    }

    fn read(&self, file: &str) -> Option<String> {
        procfs::read(self.directory.join(file))
    }

    fn number(&self, file: &str) -> Option<u64> {
        self.read(file)?.trim().parse().ok()
    }

    fn peak_file(&self) -> &'static str {
        match self.version {
            Version::One => "memory.max_usage_in_bytes",
            Version::Two => "memory.peak",
        }
    }

    /// Which interface it has.
    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// The file through which a process with one thread enters by writing `0`.
    pub(crate) fn entrance(&self) -> Option<File> {
        let file = match self.version {
            // Moving one thread takes no lock that stops every fork on the machine for a moment.
            Version::One => "tasks",
            Version::Two => "cgroup.procs",
        };
        OpenOptions::new().write(true).open(self.directory.join(file)).ok()
    }

    /// The most that was ever charged to it, file contents included.
    pub(crate) fn peak(&self) -> Option<u64> {
        self.number(self.peak_file())
    }

    /// What it holds now.
    pub(crate) fn held(&self) -> Option<Held> {
        let charged = self.number(match self.version {
            Version::One => "memory.usage_in_bytes",
            Version::Two => "memory.current",
        })?;
        let statistics = self.read("memory.stat")?;
        let (cache, shared) = match self.version {
            Version::One => ("total_cache", "total_shmem"),
            Version::Two => ("file", "shmem"),
        };
        // Shared memory is counted among the file contents, but nothing else holds it.
        let shared = named(&statistics, shared).unwrap_or(0);
        Some(Held { charged, cache: named(&statistics, cache)?.saturating_sub(shared) })
    }

    /// How many of its processes the kernel ended for want of memory.
    pub(crate) fn out_of_memory_kills(&self) -> u64 {
        let file = match self.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        self.read(file).and_then(|text| named(&text, "oom_kill")).unwrap_or(0)
    }

    /// The processes in it that have not ended.
    pub(crate) fn processes(&self) -> Vec<ProcessId> {
        processes_of(&self.directory)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A process just reaped may still be leaving.
        for attempt in 0..20 {
            match fs::remove_dir(&self.directory) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    thread::sleep(Duration::from_millis(attempt));
                }
                _ => return,
            }
        }
    }
}

/// `name number` on a line of its own.
fn named(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

fn processes_of(directory: &Path) -> Vec<ProcessId> {
    let listed = procfs::read(directory.join("cgroup.procs")).unwrap_or_default();
    listed.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Ends what a killed harp left running in its groups, and removes them.
fn remove_stale(location: &Location) {
    let Ok(entries) = fs::read_dir(&location.directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !name.to_str().and_then(|name| name.strip_prefix(PREFIX)).is_some_and(mark::is_stale) {
            continue;
        }
        for process in processes_of(&entry.path()).into_iter().filter_map(Pid::from_raw) {
            let _ = kill_process(process, Signal::KILL);
        }
        drop(Group { directory: entry.path(), version: location.version });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imitation(version: Version, files: &[(&str, &str)]) -> (tempfile::TempDir, Group) {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(directory.path().join(name), text).unwrap();
        }
        let group = Group { directory: directory.path().to_owned(), version };
        (directory, group)
    }

    #[test]
    fn version_two_is_read() {
        let (_directory, group) = imitation(
            Version::Two,
            &[
                ("memory.peak", "900\n"),
                ("memory.current", "800\n"),
                ("memory.stat", "anon 300\nfile 450\nkernel 50\nshmem 150\nfile_mapped 7\n"),
                ("memory.events", "low 0\nmax 3\noom 1\noom_kill 2\noom_group_kill 1\n"),
                ("cgroup.procs", "12\n34\n"),
                ("memory.max", "max"),
            ],
        );
        assert_eq!(group.peak(), Some(900));
        let held = group.held().unwrap();
        assert_eq!(held, Held { charged: 800, cache: 300 });
        assert_eq!(held.needed(), 500);
        assert_eq!(group.out_of_memory_kills(), 2);
        assert_eq!(group.processes(), [12, 34]);
        group.set_limit(Bytes(4096)).unwrap();
        assert!(group.read("memory.max").unwrap().starts_with("4096"));
    }

    #[test]
    fn version_one_is_read() {
        let (_directory, group) = imitation(
            Version::One,
            &[
                ("memory.max_usage_in_bytes", "900\n"),
                ("memory.usage_in_bytes", "800\n"),
                ("memory.stat", "cache 1\nshmem 1\ntotal_cache 450\ntotal_rss 300\ntotal_shmem 150\n"),
                ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"),
            ],
        );
        assert_eq!(group.peak(), Some(900));
        assert_eq!(group.held(), Some(Held { charged: 800, cache: 300 }));
        assert_eq!(group.out_of_memory_kills(), 1);
        assert!(group.set_limit(Bytes(4096)).is_err(), "a limit that cannot be set is an error");
    }
}
