//! Asks the GPUs through `nvidia-smi`, the vendor's command.

use std::process::Command;

use harp_core::{Bytes, Gpu};

use super::{GpuProbe, GpuState};
use crate::procfs::ProcessId;

const COMMAND: &str = "nvidia-smi";
const DEVICES: &str = "--query-gpu=uuid,name,memory.total,utilization.gpu";
const PROCESSES: &str = "--query-compute-apps=gpu_uuid,pid,used_gpu_memory";
const FORMAT: &str = "--format=csv,noheader,nounits";
/// The command counts memory in these.
const MEBIBYTE: u64 = 1 << 20;

pub(super) struct VendorCommand;

/// One line of the answer about devices.
#[derive(Debug, PartialEq)]
struct DeviceLine {
    identifier: String,
    gpu: Gpu,
    utilisation: Option<f64>,
}

impl VendorCommand {
    #[cfg_attr(test, allow(dead_code))]
    pub(super) fn find() -> Option<Self> {
        (!devices(&ask(DEVICES)?).is_empty()).then_some(Self)
    }
}

impl GpuProbe for VendorCommand {
    fn describe(&self) -> Vec<Gpu> {
        devices(&ask(DEVICES).unwrap_or_default()).into_iter().map(|device| device.gpu).collect()
    }

    fn states(&self) -> Vec<GpuState> {
        states(&ask(DEVICES).unwrap_or_default(), &ask(PROCESSES).unwrap_or_default())
    }
}

fn ask(query: &str) -> Option<String> {
    let output = Command::new(COMMAND).args([query, FORMAT]).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn devices(text: &str) -> Vec<DeviceLine> {
    let parse = |line: &str| {
        let fields: Vec<&str> = line.split(", ").map(str::trim).collect();
        let [identifier, name, memory, utilisation] = fields[..] else { return None };
        Some(DeviceLine {
            identifier: identifier.to_owned(),
            gpu: Gpu { name: name.to_owned(), memory: Bytes(memory.parse::<u64>().ok()? * MEBIBYTE) },
            // `[N/A]` where the device does not say, as when it is divided into instances.
            utilisation: utilisation.parse::<f64>().ok().map(|percent| percent / 100.0),
        })
    };
    text.lines().filter_map(parse).collect()
}

fn states(device_text: &str, process_text: &str) -> Vec<GpuState> {
    let processes: Vec<(&str, ProcessId, u64)> = process_text
        .lines()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split(", ").map(str::trim).collect();
            let [device, process, memory] = fields[..] else { return None };
            Some((device, process.parse().ok()?, memory.parse::<u64>().ok()? * MEBIBYTE))
        })
        .collect();
    devices(device_text)
        .into_iter()
        .map(|device| {
            let on_it = processes.iter().filter(|(name, ..)| *name == device.identifier);
            GpuState {
                utilisation: device.utilisation,
                processes: on_it.map(|(_, process, memory)| (*process, *memory)).collect(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "\
GPU-5a1c2b3d-0000-1111-2222-333344445555, NVIDIA A100-SXM4-80GB, 81920, 97
GPU-6b2d3c4e-0000-1111-2222-333344445555, NVIDIA A100-SXM4-80GB, 81920, [N/A]
";
    const APPLICATIONS: &str = "\
GPU-5a1c2b3d-0000-1111-2222-333344445555, 4242, 1024
GPU-6b2d3c4e-0000-1111-2222-333344445555, 4242, 512
GPU-5a1c2b3d-0000-1111-2222-333344445555, 999, [N/A]
";

    #[test]
    fn devices_and_their_processes_are_read() {
        let gpus: Vec<Gpu> = devices(TWO).into_iter().map(|device| device.gpu).collect();
        assert_eq!(gpus[0], Gpu { name: "NVIDIA A100-SXM4-80GB".into(), memory: Bytes(80 << 30) });
        let states = states(TWO, APPLICATIONS);
        assert_eq!(states[0], GpuState { utilisation: Some(0.97), processes: vec![(4242, 1 << 30)] });
        assert_eq!(states[1], GpuState { utilisation: None, processes: vec![(4242, 512 << 20)] });
    }

    #[test]
    fn an_error_message_is_no_device() {
        assert!(devices("NVIDIA-SMI has failed because it couldn't communicate with the driver.").is_empty());
        assert!(states("", "No running processes found\n").is_empty());
    }

    #[test]
    fn a_missing_command_is_no_error() {
        assert!(ask("--no-such-query").is_none());
        assert!(VendorCommand.describe().is_empty() || VendorCommand.states().len() <= 64);
    }
}
