//! Finds the directory in which this process may make control groups that account for memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{Access, access};

use super::Version;

/// A directory in which groups can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Location {
    /// The directory.
    pub directory: PathBuf,
    /// Its interface.
    pub version: Version,
}

/// Where groups can be made, found once.
pub(super) fn location() -> Option<&'static Location> {
    static FOUND: OnceLock<Option<Location>> = OnceLock::new();
    FOUND
        .get_or_init(|| {
            let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
            let own = fs::read_to_string("/proc/self/cgroup").ok()?;
            find(&mounts, &own, Path::new("/"))
        })
        .as_ref()
}

/// `mounts` and `own` as in /proc/self; `base` stands before every path.
fn find(mounts: &str, own: &str, base: &Path) -> Option<Location> {
    let two = own_directory(mounts, own, Version::Two).and_then(|(mount, directory)| {
        let (mount, directory) = (rebase(base, &mount), rebase(base, &directory));
        usable_version_two(&mount, &directory)
    });
    two.or_else(|| {
        let (_, directory) = own_directory(mounts, own, Version::One)?;
        let directory = rebase(base, &directory);
        let usable = directory.join("memory.max_usage_in_bytes").exists()
            && access(&directory, Access::WRITE_OK | Access::EXEC_OK).is_ok();
        usable.then_some(Location { directory, version: Version::One })
    })
}

fn rebase(base: &Path, path: &Path) -> PathBuf {
    base.join(path.strip_prefix("/").unwrap_or(path))
}

/// Version 2 accounts for memory in a group only if its parent hands the controller down, and a
/// group with processes of its own cannot. So a group is made in our own one if that hands memory
/// down (the top one may), else beside it if there is no limit there that we would escape.
fn usable_version_two(mount: &Path, own: &Path) -> Option<Location> {
    let usable = |directory: &Path| {
        fs::read_to_string(directory.join("cgroup.subtree_control"))
            .is_ok_and(|controllers| controllers.split_whitespace().any(|one| one == "memory"))
            && access(directory, Access::WRITE_OK | Access::EXEC_OK).is_ok()
            && access(directory.join("cgroup.procs"), Access::WRITE_OK).is_ok()
    };
    let found = |directory: &Path| Location { directory: directory.to_owned(), version: Version::Two };
    if usable(own) {
        return Some(found(own));
    }
    let unlimited = fs::read_to_string(own.join("memory.max")).is_ok_and(|limit| limit.trim() == "max");
    let beside = own.parent().filter(|parent| parent.starts_with(mount))?;
    (unlimited && usable(beside)).then(|| found(beside))
}

/// Where the hierarchy is mounted, and this process's own directory in it.
fn own_directory(mounts: &str, own: &str, version: Version) -> Option<(PathBuf, PathBuf)> {
    let path = own.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (hierarchy, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let wanted = match version {
            Version::One => controllers.split(',').any(|one| one == "memory"),
            Version::Two => hierarchy == "0" && controllers.is_empty(),
        };
        wanted.then_some(path)
    })?;
    mounts.lines().find_map(|line| {
        // `36 35 98:0 /root /mount/point options - type source superoptions`
        let (before, after) = line.split_once(" - ")?;
        let before: Vec<&str> = before.split(' ').collect();
        let after: Vec<&str> = after.split(' ').collect();
        let wanted = match version {
            Version::One => {
                after.first() == Some(&"cgroup") && after.get(2)?.split(',').any(|one| one == "memory")
            }
            Version::Two => after.first() == Some(&"cgroup2"),
        };
        if !wanted {
            return None;
        }
        let (root, mount) = (before.get(3)?, Path::new(before.get(4)?));
        let relative = Path::new(path).strip_prefix(root).ok()?;
        Some((mount.to_owned(), mount.join(relative)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
30 25 0:26 / /sys/fs/cgroup ro - tmpfs tmpfs ro
31 30 0:27 / /sys/fs/cgroup/unified rw shared:9 - cgroup2 cgroup2 rw
32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
33 30 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
";
    const UNIFIED: &str = "29 23 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn a_hybrid_machine_gives_version_one() {
        let base = tempfile::tempdir().unwrap();
        let own = base.path().join("sys/fs/cgroup/memory/jobs/17");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("memory.max_usage_in_bytes"), "0").unwrap();
        let found = find(HYBRID, "5:cpu,cpuacct:/\n4:memory:/jobs/17\n0::/\n", base.path());
        assert_eq!(found, Some(Location { directory: own, version: Version::One }));
        assert_eq!(find(HYBRID, "5:cpu,cpuacct:/\n0::/\n", base.path()), None);
    }

    #[test]
    fn version_two_is_used_where_memory_is_handed_down_and_no_limit_escaped() {
        let base = tempfile::tempdir().unwrap();
        let slice = base.path().join("sys/fs/cgroup/user.slice");
        let own = slice.join("session.scope");
        fs::create_dir_all(&own).unwrap();
        for directory in [&slice, &own] {
            fs::write(directory.join("cgroup.procs"), "").unwrap();
        }
        fs::write(slice.join("cgroup.subtree_control"), "cpu memory pids\n").unwrap();
        fs::write(own.join("cgroup.subtree_control"), "\n").unwrap();
        fs::write(own.join("memory.max"), "max\n").unwrap();
        let look = || find(UNIFIED, "0::/user.slice/session.scope\n", base.path());
        assert_eq!(look(), Some(Location { directory: slice, version: Version::Two }));
        fs::write(own.join("memory.max"), "1073741824\n").unwrap();
        assert_eq!(look(), None, "beside our own group we would escape its limit");
        fs::write(own.join("cgroup.subtree_control"), "memory\n").unwrap();
        assert_eq!(look(), Some(Location { directory: own, version: Version::Two }));
    }

    #[test]
    fn a_path_outside_the_mounted_part_is_not_used() {
        let mounts = "33 30 0:29 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
        assert_eq!(own_directory(mounts, "4:memory:/docker/other\n", Version::One), None);
        let (_, directory) = own_directory(mounts, "4:memory:/docker/abc/in\n", Version::One).unwrap();
        assert_eq!(directory, Path::new("/sys/fs/cgroup/memory/in"));
    }
}
