//! The cluster at hand: its site, and what a run asks of it.

use harp_core::{Allocation, Bytes, Money, Seconds};
use harp_measure::slurm::{self, BatchRun, Candidate};
use harp_site::{MemoryOption, Placement, Scheduler, Site};
use harp_slurm::{ClusterFacts, JobRequest, is_constraint, is_plain_name};

use crate::arguments::Jobs;
use crate::failure::{Exit, Failure};
use crate::sweep::Knowledge;

/// A Slurm cluster that answers, and how jobs are to be submitted to it.
pub struct Cluster {
    /// Its limits and prices.
    pub site: Site,
    /// The partition of jobs that name none.
    default_partition: Option<String>,
    partition: Option<String>,
    account: Option<String>,
    extra: Vec<String>,
    /// Tasks of an array at most.
    pub most_tasks: usize,
}

/// What a run asks for, and where that is admitted.
pub struct Asked {
    /// The request, without a time.
    pub request: JobRequest,
    /// Where it goes.
    pub placement: Placement,
    /// The longest time a job may ask for there.
    pub longest: Option<Seconds>,
}

impl Cluster {
    /// Asks the controller; `preferred` is the site an experiment names.
    pub fn connect(jobs: &Jobs, preferred: Option<&str>) -> Result<Cluster, Failure> {
        let facts = ClusterFacts::parse(&slurm::describe_cluster()?);
        let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
        let discovered =
            Site::discover(&facts, &today).map_err(|error| Failure::bad_input(error.to_string()))?;
        let named = match jobs.site.as_deref().or(preferred) {
            Some(name) => Some(crate::commands::find_site(name)?),
            None => None,
        };
        // A machine without a scheduler cannot be where jobs go, whatever the experiment says.
        let mut site = named.filter(|site| site.scheduler == Scheduler::Slurm).unwrap_or(discovered);
        let default = facts.partitions.iter().find(|partition| partition.default);
        if let (None, Some(default)) = (site.default_partition(), default) {
            site.partitions
                .iter_mut()
                .for_each(|partition| partition.default = partition.name == default.name);
        }
        if let Some(name) = &jobs.partition
            && !facts.partitions.iter().any(|partition| partition.name == *name)
        {
            let known: Vec<&str> = facts.partitions.iter().map(|partition| partition.name.as_str()).collect();
            return Err(Failure::bad_input(format!("this cluster has no partition `{name}`"))
                .hint(format!("it has {}", known.join(", "))));
        }
        if let Some(account) = jobs.account.as_ref().filter(|account| !is_plain_name(account)) {
            return Err(Failure::bad_input(format!("`{account}` cannot name an account")));
        }
        Ok(Cluster {
            site,
            default_partition: default.map(|partition| partition.name.clone()),
            partition: jobs.partition.clone(),
            account: jobs.account.clone(),
            extra: jobs.sbatch.clone(),
            // the largest index is one less than this; without a word from Slurm its default is 1001
            most_tasks: facts.settings.max_array_size.unwrap_or(1001).saturating_sub(1).max(1) as usize,
        })
    }

    /// What an allocation asks for; a failure where no place admits it.
    pub fn ask(&self, allocation: &Allocation, time: Option<Seconds>) -> Result<Asked, Failure> {
        let cores = allocation.cores.or(allocation.threads);
        let filled = Allocation { cores: cores.or(Some(1)), ..allocation.clone() };
        let admission = self.site.admit(&filled, time);
        let placement = self.choose(&admission.placements);
        let Some(placement) = placement else {
            let of_the_partition = admission.refusals.iter().filter(|refusal| {
                self.partition.is_none() || refusal.partition.is_none() || refusal.partition == self.partition
            });
            // The place that comes nearest says most.
            let refusal = of_the_partition.max_by_key(|refusal| refusal.reason.available());
            let why = refusal.map_or_else(
                || match (&self.partition, &allocation.node_type) {
                    (Some(partition), Some(kind)) => {
                        format!("partition {partition} has no nodes of type {kind}")
                    }
                    _ => "no partition admits it".to_owned(),
                },
                |refusal| match &refusal.partition {
                    Some(partition) => format!("partition {partition}: {}", refusal.reason),
                    None => refusal.reason.to_string(),
                },
            );
            return Err(Failure::bad_input(format!("{} does not admit {allocation}: {why}", self.site.name))
                .exit(Exit::NoPlanFits)
                .hint("change [allocation] or the time-outs in the experiment file, or choose another --partition"));
        };
        Ok(self.request(allocation, &filled, placement))
    }

    /// What an allocation asks for at a place that was chosen already.
    pub fn ask_at(&self, allocation: &Allocation, placement: &Placement) -> Asked {
        self.request(allocation, allocation, placement.clone())
    }

    /// What to say of a request that goes to another partition than the usual one because of its time.
    pub fn elsewhere_for(&self, asked: &Asked, time: Seconds) -> Option<String> {
        let usual = self.site.partition(self.default_partition.as_deref()?)?;
        let limit = usual.max_time.filter(|limit| time > *limit)?;
        let other = asked.placement.partition.as_ref().filter(|other| **other != usual.name)?;
        let leads_there = usual.node_types.contains(&asked.placement.node_type);
        (self.partition.is_none() && leads_there)
            .then(|| format!("{time} is longer than {} gives ({limit}): such jobs go to {other}", usual.name))
    }

    /// The site, with only the partition that was asked for.
    pub fn site_for_jobs(&self) -> Site {
        let mut site = self.site.clone();
        if let Some(wanted) = &self.partition {
            site.partitions.retain(|partition| partition.name == *wanted);
        }
        site
    }

    fn choose(&self, placements: &[Placement]) -> Option<Placement> {
        let wanted = self.partition.as_ref();
        let mut there = placements.iter().filter(|place| {
            wanted.is_none() || place.partition.is_none() || place.partition.as_ref() == wanted
        });
        let default = self.default_partition.as_ref();
        let by_default = there.clone().find(|place| default.is_some() && place.partition.as_ref() == default);
        by_default.or_else(|| there.next()).cloned()
    }

    fn request(&self, allocation: &Allocation, filled: &Allocation, placement: Placement) -> Asked {
        let node_type = self.site.node_type(&placement.node_type);
        let partition = placement.partition.as_deref().and_then(|name| self.site.partition(name));
        let tasks = allocation.tasks.unwrap_or(1).max(1);
        let wants_gpus = allocation.gpus.is_some_and(|gpus| gpus > 0);
        let of_type = node_type.filter(|_| allocation.node_type.is_some());
        let constraints: Vec<&str> =
            [allocation.constraint.as_deref(), of_type.and_then(|node_type| node_type.constraint.as_deref())]
                .into_iter()
                .flatten()
                .collect();
        let gres = of_type.and_then(|node_type| node_type.gpus.as_ref()?.gres.clone());
        let request = JobRequest {
            partition: self.partition.clone().or_else(|| {
                partition.filter(|partition| !partition.automatic).map(|partition| partition.name.clone())
            }),
            account: self.account.clone(),
            constraint: (!constraints.is_empty()).then(|| constraints.join("&")),
            nodes: allocation.nodes,
            tasks_per_node: allocation.tasks,
            cores_per_task: filled.cores.map(|cores| cores.div_ceil(tasks)),
            memory: match self.site.memory {
                MemoryOption::Forbidden => None,
                MemoryOption::Allowed => allocation.memory,
                MemoryOption::Mandatory => {
                    allocation.memory.or_else(|| self.memory_share(filled, &placement))
                }
            },
            gpus: allocation.gpus.filter(|_| wants_gpus),
            gpu_kind: allocation.gpu_kind.clone().or(gres).filter(|_| wants_gpus),
            time: None,
            extra: self.extra.clone(),
        };
        Asked { longest: partition.and_then(|partition| partition.max_time), request, placement }
    }

    /// A run as a candidate for a job that asks for some time, or else for what its runs may take. What is
    /// not admitted was refused before.
    pub fn candidate(
        &self,
        run: BatchRun,
        limit: Option<Seconds>,
        time: Option<Seconds>,
        knowledge: &Knowledge,
    ) -> Candidate {
        let expected = knowledge.time(&run.configuration);
        let (request, longest) = match self.ask(&run.configuration.allocation, time.or(limit)) {
            Ok(asked) => (asked.request, asked.longest),
            Err(_) => (JobRequest::default(), None),
        };
        Candidate { run, request, limit, expected, longest }
    }

    /// What an allocation costs for a time, in the place where jobs that ask for `asked` go; `None` where the
    /// site's profile does not say.
    pub fn price(&self, allocation: &Allocation, asked: Option<Seconds>, time: Seconds) -> Option<Money> {
        let asked = self.ask(allocation, asked).ok()?;
        let filled = Allocation {
            cores: allocation.cores.or(allocation.threads).or(Some(1)),
            memory: allocation.memory.or_else(|| self.memory_share(allocation, &asked.placement)),
            ..allocation.clone()
        };
        self.site.price(&filled, &asked.placement, time).ok()
    }

    fn memory_share(&self, allocation: &Allocation, placement: &Placement) -> Option<Bytes> {
        let cores = allocation.cores.or(allocation.threads).unwrap_or(1);
        self.site.node_type(&placement.node_type)?.memory_share(cores)
    }
}

/// Refuses names in an experiment's allocations that no option of `sbatch` may hold.
pub fn check_names(allocation: &Allocation) -> Result<(), Failure> {
    let kind = allocation.gpu_kind.as_deref().filter(|kind| !is_plain_name(kind));
    let constraint = allocation.constraint.as_deref().filter(|constraint| !is_constraint(constraint));
    match kind.or(constraint) {
        Some(bad) => Err(Failure::bad_input(format!("Slurm cannot be asked for `{}`", bad.escape_debug()))
            .hint("a GPU's kind is a word such as a100; a constraint combines features by & and |")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SITE: &str = r#"
name = "test"
unit = "SU"
scheduler = "slurm"
[charge]
rule = "core_hours"
core_hour = 1.0
[[node_type]]
name = "small"
cores = 8
memory = "32G"
[[node_type]]
name = "large"
cores = 48
memory = "192G"
[[node_type]]
name = "middle"
cores = 16
memory = "64G"
[[partition]]
name = "long"
node_types = ["middle", "small"]
max_time = "48h"
[[partition]]
name = "short"
node_types = ["small", "large", "middle"]
max_time = "2h"
"#;

    fn cluster(partition: Option<&str>) -> Cluster {
        Cluster {
            site: Site::parse("test.toml", SITE).unwrap(),
            default_partition: None,
            partition: partition.map(str::to_owned),
            account: None,
            extra: Vec::new(),
            most_tasks: 1000,
        }
    }

    fn refusal(partition: Option<&str>, allocation: Allocation, time: Option<Seconds>) -> String {
        match cluster(partition).ask(&allocation, time) {
            Ok(asked) => panic!("{:?}", asked.placement),
            Err(failure) => failure.message,
        }
    }

    #[test]
    fn a_time_that_leads_away_from_the_usual_partition_is_remarked_on() {
        let usual = Cluster { default_partition: Some("short".to_owned()), ..cluster(None) };
        let allocation = Allocation { cores: Some(1), ..Allocation::default() };
        let told = |cluster: &Cluster, hours: f64| {
            let time = Seconds(3600.0 * hours);
            let asked =
                cluster.ask(&allocation, Some(time)).unwrap_or_else(|failure| panic!("{}", failure.message));
            cluster.elsewhere_for(&asked, time)
        };
        let words = told(&usual, 3.0).unwrap();
        assert_eq!(words, "3 h 00 min is longer than short gives (2 h 00 min): such jobs go to long");
        assert_eq!(told(&usual, 2.0), None);
        assert_eq!(told(&cluster(Some("long")), 3.0), None, "it was asked for");
    }

    #[test]
    fn a_refusal_names_the_place_that_comes_nearest() {
        let cores = |cores| Allocation { cores: Some(cores), ..Allocation::default() };
        let told = refusal(None, cores(64), None);
        assert!(told.ends_with("partition short: 64 cores asked for, a node gives 48"), "{told}");
        // not the largest node that others lead to
        let told = refusal(Some("long"), cores(64), None);
        assert!(told.ends_with("partition long: 64 cores asked for, a node gives 16"), "{told}");
        let memory = Allocation { memory: Some(Bytes(256 << 30)), ..cores(1) };
        let told = refusal(None, memory, None);
        assert!(told.contains("partition short: ") && told.ends_with("a node gives 192 GiB"), "{told}");
        let told = refusal(None, cores(1), Some(Seconds(49.0 * 3600.0)));
        assert!(
            told.contains("partition long: ") && told.ends_with("the longest time is 2 d 00 h"),
            "{told}"
        );
    }
}
