//! Control groups: the kernel's own account of the memory of a set of processes.
//!
//! [`locate`] finds where groups can be made, in version 2 or version 1 of the interface; a
//! [`Group`] is one made for one run and removed after it. Nothing outside the groups made here is
//! ever changed.

mod group;
mod locate;

pub(crate) use group::Group;

/// Which interface a group has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// One controller a hierarchy, `memory.max_usage_in_bytes`.
    One,
    /// One hierarchy for all, `memory.peak`.
    Two,
}
