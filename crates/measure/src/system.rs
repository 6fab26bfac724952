//! The system calls that have no safe form, and nothing else: the only module with `unsafe`.
//!
//! It never decides anything; every function is one call with its arguments checked.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use harp_core::Bytes;
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal, setsid};
use rustix::thread::{CpuSet, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

/// What the child does to itself between fork and exec.
pub(crate) struct Preparation {
    /// Processors to stay on.
    pub cores: Option<CpuSet>,
    /// The `cgroup.procs` file of the control group to enter.
    pub group: Option<File>,
    /// Where to report, just before exec: see [`Report`].
    pub report: OwnedFd,
}

/// What the child says just before it becomes the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Report {
    /// The monotonic clock at that moment.
    pub clock: Duration,
    /// Whether it entered the control group.
    pub entered: bool,
}

impl Report {
    /// Length of a report on the wire.
    pub(crate) const LENGTH: usize = 13;

    fn encode(self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[..8].copy_from_slice(&self.clock.as_secs().to_ne_bytes());
        bytes[8..12].copy_from_slice(&self.clock.subsec_nanos().to_ne_bytes());
        bytes[12] = u8::from(self.entered);
        bytes
    }

    /// Reads a report as the child wrote it.
    pub(crate) fn decode(bytes: &[u8; Self::LENGTH]) -> Self {
        let (mut seconds, mut nanoseconds) = ([0; 8], [0; 4]);
        seconds.copy_from_slice(&bytes[..8]);
        nanoseconds.copy_from_slice(&bytes[8..12]);
        let clock = Duration::new(u64::from_ne_bytes(seconds), u32::from_ne_bytes(nanoseconds));
        Report { clock, entered: bytes[12] != 0 }
    }
}

/// The monotonic clock, the same in every process of the machine.
pub(crate) fn monotonic() -> Duration {
    read_clock(ClockId::Monotonic)
}

/// Processor time of this thread.
pub(crate) fn processor_time() -> Duration {
    read_clock(ClockId::ThreadCPUTime)
}

fn read_clock(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Makes the child lead its own session, die with this process, stay on its cores and enter its
/// control group. A control group that cannot be entered is reported, not an error.
pub(crate) fn prepare(command: &mut Command, preparation: Preparation) {
    let parent = getpid();
    let Preparation { cores, group, report } = preparation;
    let in_child = move || -> io::Result<()> {
        setsid()?;
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() != Some(parent) {
            // The parent died before the line above took effect.
            return Err(rustix::io::Errno::SRCH.into());
        }
        if let Some(cores) = &cores {
            sched_setaffinity(None, cores)?;
        }
        let entered = group.as_ref().is_some_and(|group| rustix::io::write(group, b"0").is_ok());
        rustix::io::write(&report, &Report { clock: monotonic(), entered }.encode())?;
        Ok(())
    };
    // SAFETY: the closure runs in the forked child of a process that may have other threads, so it
    // must only do what is safe in a signal handler. It makes system calls through rustix on values
    // built before the fork, allocates nothing, takes no lock, and its errors are bare numbers.
    unsafe {
        command.pre_exec(in_child);
    }
}

/// How a child ended and what the kernel counted for it and the descendants it waited for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reaped {
    /// Exit code or signal.
    pub status: ExitStatus,
    /// Processor time in user mode.
    pub user: Duration,
    /// Processor time in the kernel.
    pub system: Duration,
    /// Largest resident set of one process.
    pub largest_resident: Bytes,
    /// Times it waited by itself.
    pub voluntary_switches: u64,
    /// Times it was made to wait.
    pub involuntary_switches: u64,
}

/// Waits for a child to end and takes it off the process table.
pub(crate) fn reap(child: Pid) -> io::Result<Reaped> {
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are to live, writable locals of the types wait4 fills in.
        let result = unsafe { libc::wait4(child.as_raw_pid(), &mut status, 0, usage.as_mut_ptr()) };
        if result >= 0 {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: a rusage holds only integers, for which the zeros it started with are valid.
    let usage = unsafe { usage.assume_init() };
    Ok(Reaped {
        status: ExitStatus::from_raw(status),
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
        largest_resident: kibibytes(usage.ru_maxrss),
        voluntary_switches: usage.ru_nvcsw.unsigned_abs(),
        involuntary_switches: usage.ru_nivcsw.unsigned_abs(),
    })
}

/// The largest resident set this process itself has had.
pub(crate) fn own_largest_resident() -> Bytes {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a live, writable local of the type getrusage fills in; a rusage
    // holds only integers, so it is valid even if the call fails and leaves the zeros.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    kibibytes(usage.ru_maxrss)
}

fn duration(time: libc::timeval) -> Duration {
    let microseconds = u32::try_from(time.tv_usec).unwrap_or(0);
    Duration::new(time.tv_sec.unsigned_abs(), microseconds * 1000)
}

fn kibibytes(count: libc::c_long) -> Bytes {
    Bytes(count.unsigned_abs() * 1024)
}

static CAUGHT: AtomicBool = AtomicBool::new(false);
static INSTALL: Once = Once::new();

extern "C" fn remember_signal(_signal: libc::c_int) {
    CAUGHT.store(true, Ordering::SeqCst);
}

/// From now on the first interrupt, termination or hang-up is remembered instead of ending this
/// process; the second ends it.
pub(crate) fn catch_signals() {
    INSTALL.call_once(|| {
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // SAFETY: a zeroed sigaction is valid (empty mask, no restorer). The handler only
            // stores to an atomic, which is allowed in a signal handler. A refused call leaves the
            // default action, under which the signal ends the process.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = remember_signal as *const () as usize;
                action.sa_flags = libc::SA_RESETHAND | libc::SA_RESTART;
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
        }
    });
}

/// Whether a signal was caught since [`catch_signals`].
pub(crate) fn signal_caught() -> bool {
    CAUGHT.load(Ordering::SeqCst)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_survives_the_wire() {
        let report = Report { clock: Duration::new(123_456, 987_654_321), entered: true };
        assert_eq!(Report::decode(&report.encode()), report);
    }
}
