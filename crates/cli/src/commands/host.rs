//! `harp host`: this machine as harp sees it.

use harp_report::host_table;

use crate::failure::Failure;
use crate::terminal::Terminal;

/// Describes this machine.
pub fn host(terminal: &Terminal) -> Result<(), Failure> {
    let host = harp_measure::host();
    if terminal.json {
        terminal.print_json(&host)
    } else {
        terminal.print_table(&host_table(std::slice::from_ref(&host)))
    }
}
