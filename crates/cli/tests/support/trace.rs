//! A trace small enough to be worked out by hand.

use std::fs;
use std::path::Path;

/// Number, submission, run time, size, request, user, status. On four processors:
/// 1 takes three until 100; 2 needs all four, promised at 100; 3 fits beside 1 and ends by then;
/// 4 would fit now but run beyond, so it waits for 2.
pub const TRACE: &str = "; MaxProcs: 4\n\
    1 0 0 100 3 -1 -1 3 100 -1 1 7 1 -1 -1 -1 -1 -1\n\
    2 10 90 50 4 -1 -1 4 60 -1 0 8 1 -1 -1 -1 -1 -1\n\
    3 20 0 30 1 -1 -1 1 40 -1 1 7 1 -1 -1 -1 -1 -1\n\
    4 60 90 40 1 -1 -1 1 500 -1 5 8 1 -1 -1 -1 -1 -1\n";

/// A new folder with the trace in `t.swf`.
pub fn folder(trace: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("t.swf"), trace).unwrap();
    directory
}

/// What a call that ends with this code says.
pub fn said(here: &Path, arguments: &[&str], exit: i32) -> String {
    super::stderr(&super::run(here, arguments, exit))
}
