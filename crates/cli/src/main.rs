//! The harp command: reads arguments, calls one room, prints, exits.
fn main() {}
