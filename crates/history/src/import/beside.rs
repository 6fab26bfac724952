//! Reading accounting on one processor while another takes the jobs: together they take as long as the
//! slower of the two.

use std::io::Read;
use std::sync::mpsc;
use std::thread;

use harp_slurm::{AccountedJob, AccountingError, Reading, read_accounting};
use jiff::tz::TimeZone;

/// Jobs handed over at once: one by one, handing over would take longer than reading.
const AT_ONCE: usize = 512;

/// Portions that may wait: memory stays small however long the file is.
const WAITING: usize = 8;

/// Visits the jobs of what `sacct` printed, as [`read_accounting`] does, in the same order.
pub fn read_beside(
    name: &str,
    source: impl Read + Send,
    zone: &TimeZone,
    visit: &mut dyn FnMut(AccountedJob),
) -> Result<Reading, AccountingError> {
    thread::scope(|scope| {
        let (give, take) = mpsc::sync_channel::<Vec<AccountedJob>>(WAITING);
        let reader = scope.spawn(move || {
            let mut portion = Vec::with_capacity(AT_ONCE);
            // nobody takes any more only when the other side is gone, and then nothing matters
            let mut collect = |job| {
                portion.push(job);
                if portion.len() == AT_ONCE {
                    let _ = give.send(std::mem::replace(&mut portion, Vec::with_capacity(AT_ONCE)));
                }
            };
            let reading = read_accounting(name, source, zone, &mut collect);
            let _ = give.send(portion);
            reading
        });
        take.into_iter().flatten().for_each(visit);
        match reader.join() {
            Ok(reading) => reading,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
