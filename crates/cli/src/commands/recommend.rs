//! `harp recommend`: which allocation to ask for, why, and the job script that asks for it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use harp_advise::{AdviseError, Forecast, Job, Limits, Policy, Question, Recommendation};
use harp_core::{Allocation, Configuration, Prediction, Target, Value};
use harp_experiment::{Execute, Place, RenderError};
use harp_learn::ModelFile;
use harp_report::{Canvas, OptionView, PlanView, pareto_chart, plan_sentence, plan_table, score_sentence};
use harp_site::{Scheduler, Site};

use crate::allocations::{self, configuration};
use crate::arguments::{Choosing, Recommend};
use crate::cases;
use crate::drift;
use crate::failure::{Exit, Failure};
use crate::freshness::warn_if_stale;
use crate::machines::Machine;
use crate::plan_view::plan_view;
use crate::programs;
use crate::project::{self, Project};
use crate::score;
use crate::terminal::Terminal;
use crate::values;

/// Rows of the table on the terminal; what is marked is always among them.
const MOST_ROWS: usize = 10;

impl Choosing {
    /// What the allocation must keep to.
    pub fn limits(&self) -> Limits {
        Limits { max_time: self.max_time, max_cost: self.max_cost, max_risk: self.max_risk }
    }
}

/// Answers and, where asked, writes the script and the chart.
pub fn recommend(arguments: &Recommend, terminal: &Terminal) -> Result<(), Failure> {
    let choosing = &arguments.choosing;
    let project = Project::load(&choosing.file, terminal)?;
    let model = project::read_model(&project.model_file())?;
    warn_if_stale(&project, &project.model_file(), &model.application, terminal);
    let site_name = arguments.site.clone().or_else(|| project.experiment.learn.site.clone());
    let site = super::site::find(site_name.as_deref().unwrap_or("local"))?;
    let case = cases::features(&choosing.case)?;
    let machine = Machine::find(&project, &model, Some(&site), choosing.node_type.as_deref())?;
    let limits = choosing.limits();
    let advised = advise_on(&machine, &project, &model, &site, &case, limits, choosing.extrapolate)?;
    let script = job_script(&project, &site, &case, &advised, arguments.account.as_deref())?;
    let mut view = plan_view(&site, &case, &advised, script.clone());
    let unseen = score::unseen(&project, &model);
    view.backtest = score::of(&project, &model, &unseen);
    view.warnings.extend(machine.note());
    view.warnings.extend(super::predict::contradictions(&model));
    view.warnings.extend(drift::in_model(&project, &model, &unseen).map(|drift| drift.message));

    if let Some(file) = &arguments.script {
        let script = script.as_ref().ok_or_else(|| no_script(&project, &case))?;
        project::write_whole(file, script)?;
        make_executable(file)?;
        terminal.say(&format!("wrote {}", file.display()));
    }
    if let Some(file) = &arguments.chart {
        project::write_whole(file, &pareto_chart(&view, &Canvas::default()))?;
        terminal.say(&format!("wrote {}", file.display()));
    }
    if terminal.json {
        return terminal.print_json(&view);
    }
    tell(&view, &advised, terminal)?;
    if site.scheduler == Scheduler::Slurm && arguments.account.is_none() {
        terminal.say(
            "note: the script names no account to charge; --account NAME adds it where the site wants one",
        );
    }
    if site_name.is_none() && arguments.account.is_none() && programs::is_on_path("sinfo") {
        terminal.say(
            "hint: this is for this machine alone; `harp site discover --output cluster.toml` makes the Slurm cluster \
             at hand known, and --site ./cluster.toml asks about it",
        );
    }
    if site.scheduler != Scheduler::Slurm && arguments.account.is_some() {
        terminal.say(&format!(
            "warning: --account says nothing to {}, which has no scheduler; --site NAME or FILE names a cluster \
             (`harp site list`, `harp site discover`)",
            site.name
        ));
    }
    match script.filter(|_| arguments.script.is_none()) {
        Some(script) => {
            terminal.print(&format!("\nThe job script (--script FILE writes it):\n\n{script}"))?
        }
        None if arguments.script.is_none() => {
            let failure = no_script(&project, &case);
            terminal.say(&format!("note: {}; {}", failure.message, failure.hint.unwrap_or_default()));
        }
        None => {}
    }
    Ok(())
}

/// Why there is no script: what the program is given and the case does not say.
fn no_script(project: &Project, case: &BTreeMap<String, Value>) -> Failure {
    let missing: Vec<&str> = project
        .experiment
        .parameters
        .iter()
        .filter(|parameter| parameter.expression.is_none() && !case.contains_key(&parameter.name))
        .map(|parameter| parameter.name.as_str())
        .collect();
    let settings: Vec<String> = missing.iter().map(|name| format!("{name}=VALUE")).collect();
    Failure::bad_input(format!("there is no job script: the case does not say `{}`", missing.join("`, `")))
        .hint(format!("add {}", settings.join(" ")))
}

/// Asks `advise` about every allocation the experiment varied, on this machine.
pub fn advise(
    project: &Project,
    model: &ModelFile,
    site: &Site,
    case: &BTreeMap<String, Value>,
    limits: Limits,
    extrapolate: bool,
) -> Result<Recommendation, Failure> {
    let machine = Machine::find(project, model, Some(site), None)?;
    advise_on(&machine, project, model, site, case, limits, extrapolate)
}

/// Asks `advise` about every allocation the experiment varied.
pub fn advise_on(
    machine: &Machine,
    project: &Project,
    model: &ModelFile,
    site: &Site,
    case: &BTreeMap<String, Value>,
    limits: Limits,
    extrapolate: bool,
) -> Result<Recommendation, Failure> {
    let memory = model.target(&Target::PeakMemory);
    cases::check_names(model, Some(&project.experiment), case)?;
    values::check(model, Some(project), case)?;
    let candidates = allocations::of_case(project, case)?;
    let policy = Policy { interval: project.experiment.learn.interval, ..Policy::default() };
    let question = Question { site, candidates: &candidates, limits, policy };
    let forecast = |allocation: &Allocation| -> Result<Forecast, Failure> {
        let configuration = configuration(project, case, allocation)?;
        let walltime = walltime(machine, model, &configuration)?;
        cases::check_range(&walltime, extrapolate)?;
        let peak_memory =
            memory.map(|model| model.predict(&features(machine, &configuration))).transpose()?;
        Ok(Forecast { walltime, peak_memory })
    };
    harp_advise::recommend(&question, forecast).map_err(|error| match error {
        AdviseError::NoCandidates => Failure::bad_input(error.to_string()),
        AdviseError::NoPlanFits(nothing) => Failure::bad_input(nothing.to_string()).exit(Exit::NoPlanFits),
        AdviseError::Forecast(failure) => failure,
    })
}

/// How long a configuration takes on a machine.
pub fn walltime(
    machine: &Machine,
    model: &ModelFile,
    configuration: &Configuration,
) -> Result<Prediction, Failure> {
    let target = model.target(&Target::Walltime).ok_or_else(|| {
        Failure::bad_input("the model does not predict walltime")
            .hint("name `walltime` in `targets` under [learn] and build again")
    })?;
    Ok(machine.widened(target.predict(&features(machine, configuration))?))
}

fn features(machine: &Machine, configuration: &Configuration) -> BTreeMap<String, Value> {
    let mut features = configuration.features();
    machine.add(&mut features);
    features
}

/// The script that runs the case with the chosen plan; none where the case does not say all the program
/// has to be given, such as a file of which only the size is known.
pub fn job_script(
    project: &Project,
    site: &Site,
    case: &BTreeMap<String, Value>,
    advised: &Recommendation,
    account: Option<&str>,
) -> Result<Option<String>, Failure> {
    let plan = advised.plan().ok_or_else(|| Failure::bad_input("no plan was chosen"))?;
    let configuration = configuration(project, case, &plan.candidate)?;
    let place = Place { experiment_directory: &project.directory, run_directory: &project.directory };
    let read = |path: &Path| fs::read_to_string(path).ok();
    let rendered = match project.experiment.render(&configuration, &place, &read) {
        Ok(rendered) => rendered,
        Err(RenderError::NoValue { .. }) => return Ok(None),
        Err(error) => return Err(Failure::bad_input(error.to_string())),
    };
    let command = match rendered.execute {
        Execute::Words(words) => words,
        Execute::Shell(line) => vec!["sh".to_owned(), "-c".to_owned(), line],
    };
    let environment = rendered.environment.into_iter().collect();
    let directory = rendered.directory.display().to_string();
    let job = Job {
        name: &project.experiment.name,
        command: &command,
        environment: &environment,
        working_directory: Some(&directory),
        modules: &project.experiment.program.modules,
        mpi: project.experiment.program.mpi,
        account,
        harp_version: env!("CARGO_PKG_VERSION"),
    };
    harp_advise::script(site, plan, &job).map(Some).map_err(|error| Failure::bad_input(error.to_string()))
}

fn tell(view: &PlanView, advised: &Recommendation, terminal: &Terminal) -> Result<(), Failure> {
    let mut short = view.clone();
    let is_marked = |option: &OptionView| option.chosen || option.default || option.on_front || option.knee;
    let mut others = MOST_ROWS.saturating_sub(view.options.iter().filter(|option| is_marked(option)).count());
    short.options.retain(|option| {
        let room = others > 0;
        others -= usize::from(room && !is_marked(option));
        room || is_marked(option)
    });
    terminal.print_table(&plan_table(&short))?;
    let mut text = String::new();
    if short.options.len() < view.options.len() {
        text.push_str(&format!("{} more are in --json\n", view.options.len() - short.options.len()));
    }
    text.push_str(&format!("\n{}\n", plan_sentence(view)));
    for reason in &view.reasons {
        text.push_str(&format!("  - {reason}\n"));
    }
    if let Some(score) = &view.backtest {
        text.push_str(&format!("  - {}\n", score_sentence(score)));
    }
    // The first is among the reasons.
    for refused in advised.refused.iter().skip(1) {
        text.push_str(&format!("  - left out {}: {}\n", refused.count, refused.example));
    }
    for warning in &view.warnings {
        text.push_str(&format!("warning: {warning}\n"));
    }
    terminal.print_text(&text)
}

fn make_executable(file: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
        .map_err(|error| Failure::file("change", file, &error))
}
