//! Which GPUs a training fits on: those asked about, those of a site, or all that are known.

use harp_core::Bytes;
use harp_dnn::gpu::{self, GPUS};
use harp_dnn::memory::{LARGEST_BATCH, Memory, Overhead, PartName, estimate, largest_batch, smallest_gpus};
use harp_dnn::{Network, Parallel, Recompute, Training, Zero};
use harp_site::{NodeType, Site};
use serde::Serialize;

use crate::failure::Failure;

/// One kind of GPU and how a training fits on it; documented in docs/json.md.
#[derive(Debug, Clone, Serialize)]
pub struct Fit {
    /// The GPU, with the node type where it is a site's.
    pub gpu: String,
    /// Its memory; `None` where the site does not say and the name means several.
    pub memory_bytes: Option<Bytes>,
    /// Whether it fits as asked for.
    pub fits: Option<bool>,
    /// The largest micro-batch that fits.
    pub largest_batch: Option<u64>,
    /// The fewest GPUs on which it fits as asked for.
    pub smallest_gpus: Option<u64>,
    /// What is not known, or why more GPUs do not help.
    pub remark: Option<String>,
}

/// What is asked about.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    pub network: &'a Network,
    pub training: &'a Training,
    pub overhead: &'a Overhead,
    pub memory: &'a Memory,
}

impl Question<'_> {
    /// The GPUs to be compared, by what was asked for.
    pub fn answer(&self, gpu: Option<&str>, site: Option<&Site>) -> Result<Vec<Fit>, Failure> {
        if let Some(name) = gpu {
            return self.one(name);
        }
        if let Some(site) = site {
            return self.of_site(site);
        }
        GPUS.iter().map(|gpu| self.fit(gpu.name.to_owned(), gpu.memory())).collect()
    }

    fn one(&self, name: &str) -> Result<Vec<Fit>, Failure> {
        let kinds = gpu::kinds(name);
        if kinds.is_empty() {
            let Some(memory) = name.parse::<Bytes>().ok().filter(|bytes| bytes.0 >= 1 << 20) else {
                let known: Vec<&str> = GPUS.iter().map(|gpu| gpu.name).collect();
                return Err(Failure::bad_input(format!("the GPU `{name}` is not known"))
                    .hint(format!("known are {}; a size such as 24G works too", known.join(", "))));
            };
            return Ok(vec![self.fit(name.to_owned(), memory)?]);
        }
        kinds.into_iter().map(|gpu| self.fit(gpu.name.to_owned(), gpu.memory())).collect()
    }

    fn of_site(&self, site: &Site) -> Result<Vec<Fit>, Failure> {
        let mut found = Vec::new();
        for node in &site.node_types {
            let Some(gpus) = &node.gpus else { continue };
            let name = format!("{} ({} × {})", node.name, gpus.count, gpus.kind);
            let kinds = gpu::kinds(&gpus.kind);
            // What a host holds depends on how many GPUs it has.
            let parallel = Parallel { gpus_per_node: u64::from(gpus.count.max(1)), ..self.training.parallel };
            let training = Training { parallel, ..self.training.clone() };
            let memory = estimate(self.network, &training, self.overhead)?;
            let there = Question { training: &training, memory: &memory, ..*self };
            match (gpus.memory, kinds.as_slice()) {
                (Some(memory), _) => found.push(there.fit_on(node, name, memory)?),
                (None, [one]) => found.push(there.fit_on(node, name, one.memory())?),
                (None, kinds) => {
                    // The site does not say which: answered for each.
                    for kind in kinds {
                        let fit = there.fit_on(node, format!("{name} if {}", kind.name), kind.memory())?;
                        let unsure = "the site's profile does not state the memory";
                        let remark = fit.remark.map(|remark| format!("{remark}; {unsure}"));
                        found.push(Fit { remark: remark.or_else(|| Some(unsure.to_owned())), ..fit });
                    }
                    if kinds.is_empty() {
                        let remark = Some(format!("the memory of `{}` is not known", gpus.kind));
                        let nothing = Fit {
                            gpu: name,
                            memory_bytes: None,
                            fits: None,
                            largest_batch: None,
                            smallest_gpus: None,
                            remark,
                        };
                        found.push(nothing);
                    }
                }
            }
        }
        if found.is_empty() {
            return Err(Failure::bad_input(format!("the site `{}` has no GPUs", site.name)));
        }
        Ok(found)
    }

    /// As [`Question::fit`]; what leaves the GPU must fit on the node's host.
    fn fit_on(&self, node: &NodeType, gpu: String, memory: Bytes) -> Result<Fit, Failure> {
        let fit = self.fit(gpu, memory)?;
        let offloads = self.training.offload.optimizer.is_some();
        match node.memory.filter(|host| offloads && self.memory.host > *host) {
            None => Ok(fit),
            Some(host) => Ok(Fit {
                fits: Some(false),
                largest_batch: None,
                smallest_gpus: None,
                remark: Some(format!("a host has {host}, {} are needed there", self.memory.host)),
                ..fit
            }),
        }
    }

    /// What would make it smaller, by what is in the way and was not asked for yet.
    fn way_out(&self, memory: Bytes) -> String {
        let kept = self.memory.part(PartName::Activations).unwrap_or(Bytes(0));
        let states = self.memory.gpu.0.saturating_sub(kept.0);
        let (training, is_transformer) = (self.training, self.network.transformer.is_some());
        let mut ways = Vec::new();
        if states > memory.0 || kept.0 <= memory.0 / 2 {
            ways.extend((training.zero != Zero::Stage3).then_some("--zero 3"));
            ways.extend(training.offload.optimizer.is_none().then_some("--offload"));
        }
        if kept.0 > memory.0 / 2 {
            let smaller = if training.batch > 1 { "a smaller --batch" } else { "a shorter --sequence" };
            ways.extend((training.batch > 1 || is_transformer).then_some(smaller));
            ways.extend(
                (is_transformer && training.recompute != Recompute::Full).then_some("--recompute full"),
            );
            let scores = is_transformer && !training.flash && training.recompute == Recompute::None;
            ways.extend(scores.then_some("--flash"));
        }
        ways.extend(is_transformer.then_some("--tensor"));
        match ways.is_empty() {
            true => "a larger one is needed".to_owned(),
            false => format!("try {}", ways.join(", ")),
        }
    }

    fn fit(&self, gpu: String, memory: Bytes) -> Result<Fit, Failure> {
        let fits = self.memory.gpu <= memory;
        let fewest = smallest_gpus(self.network, self.training, self.overhead, memory)?;
        let remark = match (fewest, self.memory.complete) {
            (None, _) => Some(format!("more GPUs do not help: {}", self.way_out(memory))),
            (_, false) => Some("without activations".to_owned()),
            _ => None,
        };
        let largest = match self.memory.complete {
            true => largest_batch(self.network, self.training, self.overhead, memory)?,
            false => None,
        };
        // Where samples take nothing, any number fits.
        let largest = largest.filter(|batch| *batch < LARGEST_BATCH);
        Ok(Fit {
            gpu,
            memory_bytes: Some(memory),
            // Without the activations it may still not fit.
            fits: if fits && !self.memory.complete { None } else { Some(fits) },
            largest_batch: largest,
            smallest_gpus: fewest,
            remark,
        })
    }
}
