//! The largest batch and the smallest count of GPUs that fit.

use harp_core::Bytes;

use crate::training::LARGEST_BATCH;
use crate::{ModelError, Network, Parallel, Training};

use super::{Overhead, estimate};

/// Data-parallel copies above this are not looked for.
const MOST_COPIES: u64 = 1 << 14;

/// The largest micro-batch that fits into `memory`; `None` where not even one sample does.
pub fn largest_batch(
    network: &Network,
    training: &Training,
    overhead: &Overhead,
    memory: Bytes,
) -> Result<Option<u64>, ModelError> {
    let fits = |batch: u64| -> Result<bool, ModelError> {
        Ok(estimate(network, &Training { batch, ..training.clone() }, overhead)?.gpu <= memory)
    };
    last_true(LARGEST_BATCH, fits)
}

/// The smallest count of GPUs, a multiple of tensor × pipeline, on which it fits into `memory`; `None`
/// where more GPUs do not help.
pub fn smallest_gpus(
    network: &Network,
    training: &Training,
    overhead: &Overhead,
    memory: Bytes,
) -> Result<Option<u64>, ModelError> {
    let each = training.parallel.tensor * training.parallel.pipeline;
    let too_large = |copies: u64| -> Result<bool, ModelError> {
        let parallel = Parallel { gpus: copies * each, ..training.parallel };
        Ok(estimate(network, &Training { parallel, ..training.clone() }, overhead)?.gpu > memory)
    };
    // One copy may need less than two: two exchange gradients, one does not.
    if !too_large(1)? {
        return Ok(Some(each));
    }
    let last = last_true(MOST_COPIES, too_large)?.unwrap_or(0);
    Ok((last < MOST_COPIES).then(|| (last + 1) * each))
}

/// The last of 1 to `most` for which something holds that, once it stops, never holds again.
fn last_true(most: u64, holds: impl Fn(u64) -> Result<bool, ModelError>) -> Result<Option<u64>, ModelError> {
    if !holds(1)? {
        return Ok(None);
    }
    let (mut low, mut high) = (1, most + 1);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle)? {
            low = middle;
        } else {
            high = middle;
        }
    }
    Ok(Some(low))
}
