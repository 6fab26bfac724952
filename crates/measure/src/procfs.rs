//! Reads /proc: what the kernel says about one process. Parsing only; nothing is kept.
//!
//! A process may end at any moment, so everything returns `None` where there is nothing (any more)
//! to read, and never an error.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use harp_core::Bytes;

/// A process number.
pub(crate) type ProcessId = i32;

/// Who a process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    /// Its parent.
    pub parent: ProcessId,
    /// The leader of its session.
    pub session: ProcessId,
    /// When it started, in ticks since boot: with the number, its identity.
    pub started: u64,
    /// Whether it has ended and only waits to be reaped.
    pub ended: bool,
}

/// The resident memory of a process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Resident {
    /// Its own pages, in memory or swapped out. Forked processes may share them.
    pub anonymous: u64,
    /// Pages of mapped files.
    pub file: u64,
    /// Pages of shared memory.
    pub shared: u64,
    /// The largest resident set it ever had.
    pub peak: u64,
}

/// A process's own pages and its fair share of those it shares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Shares {
    /// All anonymous pages it can see.
    pub anonymous: u64,
    /// Anonymous pages, each divided by the number of processes that see it.
    pub anonymous_share: u64,
    /// Shared memory, divided likewise.
    pub shared_share: u64,
    /// Anonymous pages only it can see.
    pub alone: u64,
}

/// What went through a process's system calls, and those of the children it waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Transferred {
    /// Bytes read.
    pub read: u64,
    /// Bytes written.
    pub written: u64,
}

/// The whole text of a small file the kernel makes on the fly. Such files have no size, so reading
/// them the usual way takes many small reads.
pub(crate) fn read(path: impl AsRef<Path>) -> Option<String> {
    String::from_utf8(read_bytes(path)?).ok()
}

fn read_bytes(path: impl AsRef<Path>) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(4096);
    // Through `take`, the size is not asked for first.
    File::open(path).ok()?.take(1 << 30).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// All processes there are.
pub(crate) fn processes() -> Vec<ProcessId> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The number last given to a process or thread: while it stays the same, none was started.
pub(crate) fn newest_process() -> Option<u64> {
    read("/proc/loadavg")?.split_whitespace().last()?.parse().ok()
}

/// Who a process is; also for one that has ended but was not reaped.
pub(crate) fn identity(process: ProcessId) -> Option<Identity> {
    parse_identity(&read(format!("/proc/{process}/stat"))?)
}

/// The resident memory of a process that has not ended.
pub(crate) fn resident(process: ProcessId) -> Option<Resident> {
    parse_resident(&read(format!("/proc/{process}/status"))?)
}

/// How a process shares its pages. The kernel walks all of them: dear for large processes.
pub(crate) fn shares(process: ProcessId) -> Option<Shares> {
    parse_shares(&read(format!("/proc/{process}/smaps_rollup"))?)
}

/// What a process and the children it waited for transferred; also for one that has ended but was
/// not reaped, when it is complete.
pub(crate) fn transferred(process: ProcessId) -> Option<Transferred> {
    parse_transferred(&read(format!("/proc/{process}/io"))?)
}

/// The value an environment variable had when a process was started.
pub(crate) fn variable(process: ProcessId, name: &str) -> Option<String> {
    let environment = read_bytes(format!("/proc/{process}/environ"))?;
    environment.split(|&byte| byte == 0).find_map(|one| {
        let value = one.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        String::from_utf8(value.to_vec()).ok()
    })
}

/// Whether there is a process of this number, ended or not.
pub(crate) fn exists(process: ProcessId) -> bool {
    fs::exists(format!("/proc/{process}")).unwrap_or(true)
}

/// The main memory of the machine.
pub(crate) fn total_memory() -> Option<Bytes> {
    field(&read("/proc/meminfo")?, "MemTotal:").map(Bytes)
}

/// `NAME: 123 kB` somewhere in a text, in bytes.
fn field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(rest.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// `number (name) state parent group session …`; the name may hold anything, also `)`.
fn parse_identity(text: &str) -> Option<Identity> {
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    Some(Identity {
        ended: matches!(*fields.first()?, "Z" | "X"),
        parent: fields.get(1)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    })
}

fn parse_resident(text: &str) -> Option<Resident> {
    let whole = field(text, "VmRSS:")?;
    let peak = field(text, "VmHWM:").unwrap_or(whole);
    let swapped = field(text, "VmSwap:").unwrap_or(0);
    Some(match field(text, "RssAnon:") {
        Some(anonymous) => Resident {
            anonymous: anonymous + swapped,
            file: field(text, "RssFile:").unwrap_or(0),
            shared: field(text, "RssShmem:").unwrap_or(0),
            peak,
        },
        // Kernels before 4.5 do not tell the kinds apart.
        None => Resident { anonymous: whole + swapped, file: 0, shared: 0, peak },
    })
}

fn parse_shares(text: &str) -> Option<Shares> {
    let anonymous = field(text, "Anonymous:")? + field(text, "Swap:").unwrap_or(0);
    let swapped_share = field(text, "SwapPss:").unwrap_or(0);
    let alone = (field(text, "Private_Dirty:").unwrap_or(0) + swapped_share).min(anonymous);
    Some(match field(text, "Pss_Anon:") {
        Some(share) => Shares {
            anonymous,
            anonymous_share: share + swapped_share,
            shared_share: field(text, "Pss_Shmem:").unwrap_or(0),
            alone,
        },
        // Kernels before 5.3 give one share for all kinds; what is over the anonymous pages must be
        // files and shared memory.
        None => Shares {
            anonymous,
            anonymous_share: (field(text, "Pss:")? + swapped_share).min(anonymous),
            shared_share: 0,
            alone,
        },
    })
}

fn parse_transferred(text: &str) -> Option<Transferred> {
    let count = |name: &str| text.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok();
    Some(Transferred { read: count("rchar:")?, written: count("wchar:")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_name_cannot_confuse_the_reader() {
        let text = "42 (a) Z (b c) S 7 42 41 0 -1 4194304 0 0 0 0 1 2 0 0 20 0 1 0 98765 0 0";
        let expected = Identity { parent: 7, session: 41, started: 98_765, ended: false };
        assert_eq!(parse_identity(text), Some(expected));
        assert_eq!(parse_identity("42 (cut"), None);
    }

    #[test]
    fn memory_is_read_with_and_without_its_kinds() {
        let new = "VmHWM:\t  900 kB\nVmRSS:\t  800 kB\nRssAnon:\t500 kB\nRssFile:\t200 kB\nRssShmem:\t100 kB\nVmSwap:\t3 kB\n";
        let expected = Resident { anonymous: 503 << 10, file: 200 << 10, shared: 100 << 10, peak: 900 << 10 };
        assert_eq!(parse_resident(new), Some(expected));
        let old = "VmHWM:\t900 kB\nVmRSS:\t800 kB\n";
        assert_eq!(parse_resident(old).map(|resident| resident.anonymous), Some(800 << 10));
        assert_eq!(parse_resident("Name:\tended\nState:\tZ (zombie)\n"), None);
    }

    #[test]
    fn shares_are_read_with_and_without_their_kinds() {
        let new = "Rss: 3000 kB\nPss: 1200 kB\nPss_Anon: 1000 kB\nPss_File: 150 kB\nPss_Shmem: 50 kB\nPrivate_Dirty: 600 kB\nAnonymous: 2000 kB\nSwap: 8 kB\nSwapPss: 4 kB\n";
        let expected = Shares {
            anonymous: 2008 << 10,
            anonymous_share: 1004 << 10,
            shared_share: 50 << 10,
            alone: 604 << 10,
        };
        assert_eq!(parse_shares(new), Some(expected));
        let old = "Rss: 3000 kB\nPss: 2500 kB\nAnonymous: 2000 kB\n";
        assert_eq!(parse_shares(old).map(|shares| shares.anonymous_share), Some(2000 << 10));
    }

    #[test]
    fn this_very_process_can_be_read() {
        let own = ProcessId::try_from(std::process::id()).unwrap();
        assert!(processes().contains(&own));
        assert!(newest_process().is_some());
        assert!(!identity(own).unwrap().ended);
        let resident = resident(own).unwrap();
        assert!(resident.anonymous > 0 && resident.peak >= resident.anonymous);
        assert!(shares(own).unwrap().anonymous > 0);
        assert!(transferred(own).unwrap().read > 0);
        assert!(total_memory().unwrap() > Bytes(1 << 20));
        assert!(variable(own, "PATH").is_some_and(|path| path.contains('/')));
        assert_eq!(variable(own, "PAT"), None);
        assert!(exists(own));
    }
}
