//! Lists of trackable resources: `billing=17,cpu=1,gres/gpu:a100=2,gres/gpu=2,mem=1000M,node=1`.

use harp_core::Bytes;

use crate::value::size;

/// The resources harp knows of a list. What the list does not name is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tres<'a> {
    /// CPUs: hardware threads where a core has several.
    pub cpus: Option<u64>,
    /// Memory, all nodes together.
    pub memory: Option<Bytes>,
    /// Nodes.
    pub nodes: Option<u64>,
    /// GPUs of every kind, all nodes together.
    pub gpus: Option<u64>,
    /// The kind of the GPUs, where there is one.
    pub gpu_kind: Option<&'a str>,
    /// GPU memory in use.
    pub gpu_memory: Option<Bytes>,
    /// GPU utilisation in percent.
    pub gpu_utilisation: Option<f64>,
}

impl<'a> Tres<'a> {
    /// What was asked for or given (`ReqTRES`, `AllocTRES`): memory without a unit is in mebibytes,
    /// as Slurm counts it.
    pub fn parse(text: &'a str) -> Tres<'a> {
        Tres::read(text, 1 << 20)
    }

    /// What was used (`TRESUsageInTot` and its like): memory without a unit is in bytes.
    pub fn parse_usage(text: &'a str) -> Tres<'a> {
        Tres::read(text, 1)
    }

    fn read(text: &'a str, bare_memory: u64) -> Tres<'a> {
        let mut found = Tres::default();
        // GPUs are listed once as such and once more by kind: only one of the two may be counted.
        let (mut all, mut by_kind, mut kinds): (Option<u64>, u64, u32) = (None, 0, 0);
        for (name, value) in text.split(',').filter_map(|part| part.trim().split_once('=')) {
            match name {
                "cpu" => found.cpus = value.parse().ok(),
                "node" => found.nodes = value.parse().ok(),
                "mem" => {
                    let bare = value.parse::<u64>().ok().and_then(|count| count.checked_mul(bare_memory));
                    found.memory = bare.map(Bytes).or_else(|| size(value));
                }
                "gres/gpu" => all = value.parse().ok(),
                "gres/gpumem" => found.gpu_memory = size(value).filter(|memory| memory.0 > 0),
                "gres/gpuutil" => {
                    found.gpu_utilisation = value.parse().ok().filter(|share: &f64| share.is_finite())
                }
                _ => {
                    if let (Some(kind), Ok(count)) = (name.strip_prefix("gres/gpu:"), value.parse::<u64>()) {
                        by_kind = by_kind.saturating_add(count);
                        kinds += 1;
                        found.gpu_kind = (kinds == 1).then_some(kind);
                    }
                }
            }
        }
        found.gpus = all.or((kinds > 0).then_some(by_kind));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_counted_once() {
        let typed = Tres::parse("billing=17,cpu=1,gres/gpu:a100=2,gres/gpu=2,mem=1000M,node=1");
        assert_eq!(
            (typed.gpus, typed.gpu_kind, typed.cpus, typed.nodes),
            (Some(2), Some("a100"), Some(1), Some(1))
        );
        assert_eq!(typed.memory, Some(Bytes(1000 << 20)));
        assert_eq!(Tres::parse("gres/gpu:a100=2").gpus, Some(2));
        let mixed = Tres::parse("gres/gpu:a100=2,gres/gpu:v100=1");
        assert_eq!((mixed.gpus, mixed.gpu_kind), (Some(3), None));
        assert_eq!(Tres::parse("cpu=4").gpus, None);
    }

    #[test]
    fn bare_memory_is_bytes_in_usage_and_mebibytes_in_requests() {
        assert_eq!(Tres::parse_usage("cpu=00:00:00,mem=11300864").memory, Some(Bytes(11_300_864)));
        assert_eq!(Tres::parse_usage("mem=11036K").memory, Some(Bytes(11_036 << 10)));
        assert_eq!(Tres::parse("mem=500").memory, Some(Bytes(500 << 20)));
        assert_eq!(Tres::parse_usage("energy=0").memory, None);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "[a-z/:=,0-9GMK.]{0,80}") {
            let _ = (Tres::parse(&text), Tres::parse_usage(&text));
        }
    }
}
