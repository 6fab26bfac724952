//! Asks the GPUs through NVML, the vendor's library, loaded at run time.

use harp_core::{Bytes, Gpu};
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::{Device, Nvml};

use super::{GpuProbe, GpuState};
use crate::procfs::ProcessId;

pub(super) struct VendorLibrary(Nvml);

impl VendorLibrary {
    pub(super) fn load() -> Option<Self> {
        Nvml::init().ok().map(Self)
    }

    fn devices(&self) -> impl Iterator<Item = Device<'_>> {
        let count = self.0.device_count().unwrap_or(0);
        (0..count).filter_map(|index| self.0.device_by_index(index).ok())
    }
}

impl GpuProbe for VendorLibrary {
    fn describe(&self) -> Vec<Gpu> {
        let describe = |device: Device<'_>| {
            Some(Gpu { name: device.name().ok()?, memory: Bytes(device.memory_info().ok()?.total) })
        };
        self.devices().filter_map(describe).collect()
    }

    fn states(&self) -> Vec<GpuState> {
        let state = |device: Device<'_>| {
            let processes = device.running_compute_processes().unwrap_or_default().into_iter();
            let processes = processes.filter_map(|process| {
                let UsedGpuMemory::Used(bytes) = process.used_gpu_memory else { return None };
                Some((ProcessId::try_from(process.pid).ok()?, bytes))
            });
            GpuState {
                utilisation: device.utilization_rates().ok().map(|rates| f64::from(rates.gpu) / 100.0),
                processes: processes.collect(),
            }
        };
        self.devices().map(state).collect()
    }
}
