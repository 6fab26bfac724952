//! Chores of the repository that need more than a shell line.
fn main() {}
