//! Which journal a file system can carry.

use std::path::Path;

/// Magic numbers of file systems shared between machines, from `linux/magic.h` and the vendors' headers.
const SHARED_BETWEEN_MACHINES: [i64; 9] = [
    0x6969,      // NFS
    0x0BD0_0BD0, // Lustre
    0x4750_4653, // GPFS
    0x1983_0326, // BeeGFS
    0x517B,      // SMB
    0xFF53_4D42, // CIFS
    0x00C3_6400, // CephFS
    0x6573_5546, // FUSE, behind which anything may hide
    0x5346_414F, // AFS
];

/// Whether a directory may be seen by several machines at once.
///
/// SQLite's write-ahead log shares memory between processes and so works on one machine only; home
/// directories of clusters usually are on a network file system, where a rollback journal is used.
pub(crate) fn shared_between_machines(directory: &Path) -> bool {
    let Ok(facts) = rustix::fs::statfs(directory) else { return false };
    // The type of `f_type` differs between architectures and may be sign-extended: compare 32 bits.
    #[allow(clippy::unnecessary_cast)]
    let magic = facts.f_type as i64 & 0xFFFF_FFFF;
    SHARED_BETWEEN_MACHINES.contains(&magic)
}
