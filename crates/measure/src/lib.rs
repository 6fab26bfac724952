//! Runs configurations on this machine and measures what they use
