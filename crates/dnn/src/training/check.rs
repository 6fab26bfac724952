//! Settings that contradict each other or cannot be meant are refused by name.

use crate::{ModelError, Network};

use super::{Freeze, OffloadTarget, Training, Zero};

/// More samples or tokens than this at once are a slip of the finger.
pub const LARGEST_BATCH: u64 = 1 << 30;
const MOST_GPUS: u64 = 1 << 24;

impl Training {
    /// The tokens of a sample: as asked for, or what the network was made for.
    pub fn sequence_of(&self, network: &Network) -> Result<u64, ModelError> {
        let Some(transformer) = &network.transformer else { return Ok(1) };
        self.sequence.or(transformer.longest).ok_or_else(|| {
            ModelError::new("sequence", "is not stated by the network").hint("add --sequence 2048")
        })
    }

    /// Refuses what cannot be.
    pub fn check(&self, network: &Network) -> Result<(), ModelError> {
        within("batch", self.batch, LARGEST_BATCH)?;
        within("accumulate", self.accumulate, LARGEST_BATCH)?;
        within("gpus", self.parallel.gpus, MOST_GPUS)?;
        within("gpus_per_node", self.parallel.gpus_per_node, 1024)?;
        within("tensor", self.parallel.tensor, 1 << 16)?;
        within("pipeline", self.parallel.pipeline, 1 << 16)?;
        within("chunks", self.parallel.chunks, 1 << 16)?;
        if let Some(sequence) = self.sequence {
            within("sequence", sequence, LARGEST_BATCH)?;
        }
        self.check_split(network)?;
        self.check_freeze(network)?;
        if self.offload.parameters.is_some() && self.zero != Zero::Stage3 {
            return Err(ModelError::new("offload", "of parameters needs ZeRO 3").hint("add --zero 3"));
        }
        if self.offload.optimizer.is_some() && self.zero < Zero::Stage2 {
            return Err(
                ModelError::new("offload", "of the optimizer is known for ZeRO 2 and 3").hint("add --zero 2")
            );
        }
        let to_disk = [self.offload.optimizer, self.offload.parameters].contains(&Some(OffloadTarget::Nvme));
        if to_disk && self.zero != Zero::Stage3 {
            return Err(ModelError::new("offload", "to a disk needs ZeRO 3").hint("add --zero 3"));
        }
        if self.offload.parameters.is_some() && self.offload.optimizer.is_none() {
            let reason = "of parameters without the optimizer is not what DeepSpeed does";
            return Err(ModelError::new("offload", reason).hint("offload all"));
        }
        Ok(())
    }

    fn check_freeze(&self, network: &Network) -> Result<(), ModelError> {
        let layers = &network.layers;
        if let Freeze::Named(part) = &self.freeze
            && layers.iter().all(|layer| !layer.name.contains(part.as_str()))
        {
            let names: Vec<&str> = layers.iter().take(4).map(|layer| layer.name.as_str()).collect();
            let reason = format!("`{part}` is in the name of no layer");
            return Err(ModelError::new("freeze", reason).hint(format!("layers are {}, …", names.join(", "))));
        }
        if self.freeze.first_learning(network) == layers.len() {
            let reason = format!("leaves nothing to learn: there are {} layers", layers.len());
            return Err(ModelError::new("freeze", reason));
        }
        Ok(())
    }

    fn check_split(&self, network: &Network) -> Result<(), ModelError> {
        let parallel = &self.parallel;
        let split = parallel.tensor.saturating_mul(parallel.pipeline);
        if !parallel.gpus.is_multiple_of(split) {
            let reason = format!(
                "= {} is not a multiple of tensor {} × pipeline {}",
                parallel.gpus, parallel.tensor, parallel.pipeline
            );
            return Err(ModelError::new("gpus", reason));
        }
        match &network.transformer {
            None if split > 1 => {
                let reason = "above 1 is known for transformers only";
                let field = if parallel.tensor > 1 { "tensor" } else { "pipeline" };
                Err(ModelError::new(field, reason))
            }
            Some(transformer) if !transformer.heads.is_multiple_of(parallel.tensor) => {
                let reason = format!(
                    "= {} does not divide the {} attention heads",
                    parallel.tensor, transformer.heads
                );
                Err(ModelError::new("tensor", reason))
            }
            Some(transformer) if parallel.pipeline > transformer.layers => {
                let reason =
                    format!("= {} is more than the {} blocks", parallel.pipeline, transformer.layers);
                Err(ModelError::new("pipeline", reason))
            }
            _ => Ok(()),
        }
    }
}

fn within(field: &str, value: u64, most: u64) -> Result<(), ModelError> {
    if value == 0 || value > most {
        let reason = format!("= {value} cannot be meant: it lies between 1 and {most}");
        return Err(ModelError::new(field, reason));
    }
    Ok(())
}
