//! Low-rank adapters (Hu et al., 2022): beside a frozen matrix of m×n two trained ones of m×r and r×n.

use crate::{ModelError, Network, Tensor};

/// The matrices adapters are put beside.
const ATTENTION: [&str; 12] = [
    "q_proj",
    "v_proj",
    "query.",
    "value.",
    "c_attn",
    "query_key_value",
    ".q.",
    ".v.",
    "k_proj",
    "key.",
    ".k.",
    "query_key_value.",
];

/// Adds adapters of that rank to the matrices whose names contain one of `targets`; without any, to
/// queries and values as the paper does. With `all`, to every matrix of every block. Gives the network
/// and how many matrices got one.
pub fn adapt(mut network: Network, rank: u64, targets: &[String]) -> Result<(Network, usize), ModelError> {
    if rank == 0 || rank > 1 << 16 {
        return Err(ModelError::new("lora", format!("= {rank} is no rank: use 8 or 16")));
    }
    let is_meant = |name: &str| {
        let inner = format!("{name}.");
        match targets {
            [] => ATTENTION[..8].iter().any(|part| inner.contains(part)),
            [all] if all == "all" => true,
            targets => targets.iter().any(|target| inner.contains(target.as_str())),
        }
    };
    let mut adapted = 0;
    for layer in network.layers.iter_mut().filter(|layer| layer.place == crate::Place::Block) {
        let mut added = Vec::new();
        for tensor in layer.tensors.iter().filter(|tensor| tensor.shape.len() == 2 && is_meant(&tensor.name))
        {
            adapted += 1;
            added.push(Tensor::new(format!("{}.lora_A", tensor.name), [rank, tensor.shape[1]]));
            added.push(Tensor::new(format!("{}.lora_B", tensor.name), [tensor.shape[0], rank]));
        }
        layer.tensors.extend(added);
    }
    if adapted == 0 {
        return Err(ModelError::new("lora_targets", "match no matrix of a block")
            .hint("name a part of a tensor's name, such as q_proj, or `all`"));
    }
    Ok((network, adapted))
}

/// Whether a tensor belongs to an adapter.
pub fn is_adapter(tensor: &Tensor) -> bool {
    tensor.name.ends_with(".lora_A") || tensor.name.ends_with(".lora_B")
}
