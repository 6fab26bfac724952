//! The page of one run.

use crate::view::RunView;

/// One self-contained HTML page.
pub fn run_page(_view: &RunView) -> String {
    String::new()
}
