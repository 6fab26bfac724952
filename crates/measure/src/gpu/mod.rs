//! GPU memory and utilisation of a run, where there are NVIDIA GPUs.
//!
//! The vendor's library is loaded once, when the driver is there, and never otherwise. A statically
//! linked program cannot safely load a library, so there the vendor's command answers instead.

#[cfg(not(target_feature = "crt-static"))]
mod library;
mod watch;
// Both are compiled for tests, so that neither rots.
#[cfg(any(test, target_feature = "crt-static"))]
mod command;

use std::path::Path;
use std::sync::OnceLock;

use harp_core::Gpu;

use crate::procfs::ProcessId;

pub(crate) use watch::GpuWatch;

/// One GPU at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct GpuState {
    /// Share of the last moments in which it computed, 0 to 1.
    pub utilisation: Option<f64>,
    /// Memory in bytes by process.
    pub processes: Vec<(ProcessId, u64)>,
}

/// Something that can ask the GPUs.
pub(crate) trait GpuProbe: Send + Sync {
    /// What there is.
    fn describe(&self) -> Vec<Gpu>;
    /// How they are now, in the same order.
    fn states(&self) -> Vec<GpuState>;
}

/// The way to ask the GPUs of this machine, if it has any.
pub(crate) fn probe() -> Option<&'static dyn GpuProbe> {
    static FOUND: OnceLock<Option<Box<dyn GpuProbe>>> = OnceLock::new();
    FOUND
        .get_or_init(|| {
            if !Path::new("/proc/driver/nvidia/version").exists() && !Path::new("/dev/nvidiactl").exists() {
                return None;
            }
            #[cfg(target_feature = "crt-static")]
            let probe = command::VendorCommand::find().map(|found| Box::new(found) as Box<dyn GpuProbe>);
            #[cfg(not(target_feature = "crt-static"))]
            let probe = library::VendorLibrary::load().map(|found| Box::new(found) as Box<dyn GpuProbe>);
            probe
        })
        .as_deref()
}
