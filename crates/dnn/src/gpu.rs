//! GPUs: memory, arithmetic and bandwidth as their makers state them.

use harp_core::Bytes;
use serde::Serialize;

/// One kind of GPU. Arithmetic is dense, in units of 10¹² operations a second; bandwidths are in
/// 10⁹ bytes a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Gpu {
    /// The name with its memory: `A100-80`.
    pub name: &'static str,
    /// Memory as the driver reports it, in MiB.
    pub mebibytes: u64,
    /// 32-bit arithmetic (TF32 on tensor cores where there are any).
    pub fp32: f64,
    /// 16-bit arithmetic on tensor cores.
    pub fp16: f64,
    /// 8-bit floating point; 0 where there is none.
    pub fp8: f64,
    /// Bandwidth of its memory.
    pub bandwidth: f64,
    /// Bandwidth to the other GPUs of the node, in one direction.
    pub link: f64,
}

impl Gpu {
    /// Whether its tensor cores compute in bf16: NVIDIA's do from Ampere on, AMD's all here.
    pub fn has_bf16(&self) -> bool {
        !["P100-16", "V100-16", "V100-32", "T4-16"].contains(&self.name)
    }

    /// Its memory.
    pub fn memory(&self) -> Bytes {
        Bytes(self.mebibytes << 20)
    }
}

const fn gpu(
    name: &'static str,
    mebibytes: u64,
    fp32: f64,
    fp16: f64,
    fp8: f64,
    bandwidth: f64,
    link: f64,
) -> Gpu {
    Gpu { name, mebibytes, fp32, fp16, fp8, bandwidth, link }
}

/// The GPUs that are known, from the data sheets of NVIDIA and AMD.
pub const GPUS: [Gpu; 18] = [
    gpu("P100-16", 16_280, 10.6, 21.2, 0.0, 732.0, 80.0),
    gpu("V100-16", 16_160, 15.7, 125.0, 0.0, 900.0, 150.0),
    gpu("V100-32", 32_510, 15.7, 125.0, 0.0, 900.0, 150.0),
    gpu("T4-16", 15_360, 8.1, 65.0, 0.0, 300.0, 16.0),
    gpu("A10-24", 23_028, 62.5, 125.0, 0.0, 600.0, 32.0),
    gpu("A40-48", 46_068, 74.8, 149.7, 0.0, 696.0, 56.0),
    gpu("A100-40", 40_536, 156.0, 312.0, 0.0, 1_555.0, 300.0),
    gpu("A100-80", 81_920, 156.0, 312.0, 0.0, 2_039.0, 300.0),
    gpu("L4-24", 23_034, 60.0, 121.0, 242.0, 300.0, 32.0),
    gpu("L40S-48", 46_068, 183.0, 362.0, 733.0, 864.0, 32.0),
    gpu("RTX3090-24", 24_576, 35.6, 71.0, 0.0, 936.0, 56.0),
    gpu("RTX4090-24", 24_564, 82.6, 165.2, 330.3, 1_008.0, 32.0),
    gpu("H100-80", 81_559, 494.0, 989.0, 1_979.0, 3_350.0, 450.0),
    gpu("H200-141", 143_771, 494.0, 989.0, 1_979.0, 4_800.0, 450.0),
    gpu("GH200-96", 97_871, 494.0, 989.0, 1_979.0, 4_000.0, 450.0),
    gpu("B200-180", 183_359, 1_125.0, 2_250.0, 4_500.0, 8_000.0, 900.0),
    gpu("MI250X-64", 65_520, 47.9, 191.5, 0.0, 1_638.0, 150.0),
    gpu("MI300X-192", 196_592, 653.7, 1_307.4, 2_614.9, 5_300.0, 448.0),
];

/// All kinds a name may mean: `A100` is `A100-40` or `A100-80`, `NVIDIA A100-SXM4-80GB` only one.
pub fn kinds(name: &str) -> Vec<&'static Gpu> {
    let plain = |text: &str| {
        text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_uppercase()
    };
    let wanted = plain(name);
    if let Some(exact) = GPUS.iter().find(|gpu| plain(gpu.name) == wanted) {
        return vec![exact];
    }
    let words: Vec<String> = name.split(|c: char| !c.is_ascii_alphanumeric()).map(plain).collect();
    let family = |gpu: &Gpu| gpu.name.split('-').next().map(plain).unwrap_or_default();
    let mut found: Vec<&Gpu> =
        GPUS.iter().filter(|gpu| words.contains(&family(gpu)) || wanted == family(gpu)).collect();
    let size = |gpu: &Gpu| gpu.name.split('-').nth(1).unwrap_or_default().to_owned();
    let stated = |gpu: &&&Gpu| words.iter().any(|word| word.trim_end_matches("GB") == size(gpu));
    if let Some(one) = found.iter().find(stated).copied() {
        found = vec![one];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_as_sites_and_drivers_write_them() {
        let names = |text: &str| kinds(text).iter().map(|gpu| gpu.name).collect::<Vec<_>>();
        assert_eq!(names("A100-80"), ["A100-80"]);
        assert_eq!(names("a100"), ["A100-40", "A100-80"]);
        assert_eq!(names("NVIDIA A100-SXM4-80GB"), ["A100-80"]);
        assert_eq!(names("Tesla V100-PCIE-16GB"), ["V100-16"]);
        assert_eq!(names("H100 80GB"), ["H100-80"]);
        assert!(names("Voodoo2").is_empty());
    }
}
