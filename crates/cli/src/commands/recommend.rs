//! `harp recommend`: which allocation to ask for, why, and the job script that asks for it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use harp_advise::{AdviseError, Choices, Forecast, Job, Limits, Plan, Policy, Question, Recommendation};
use harp_core::{Allocation, Configuration, Target, Value};
use harp_experiment::{Execute, Experiment, Place};
use harp_learn::ModelFile;
use harp_report::{Canvas, Estimate, OptionView, PlanView, pareto_chart, plan_sentence, plan_table};
use harp_site::Site;

use crate::arguments::Recommend;
use crate::cases;
use crate::failure::{Exit, Failure};
use crate::project::{self, Project};
use crate::terminal::Terminal;

/// Rows of the table on the terminal; what is marked is always among them.
const MOST_ROWS: usize = 10;

/// Answers and, where asked, writes the script and the chart.
pub fn recommend(arguments: &Recommend, terminal: &Terminal) -> Result<(), Failure> {
    let project = Project::load(&arguments.file, terminal)?;
    let model = project::read_model(&project.model_file())?;
    let site_name = arguments.site.clone().or_else(|| project.experiment.learn.site.clone());
    let site = super::site::find(site_name.as_deref().unwrap_or("local"))?;
    let limits =
        Limits { max_time: arguments.max_time, max_cost: arguments.max_cost, max_risk: arguments.max_risk };
    let case = cases::features(&arguments.case)?;
    let advised = advise(&project, &model, &site, &case, limits, arguments.extrapolate)?;
    let script = job_script(&project, &site, &case, &advised, arguments.account.as_deref())?;
    let view = plan_view(&site, &case, &advised, Some(script.clone()));

    if let Some(file) = &arguments.script {
        project::write_whole(file, &script)?;
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
    terminal.print(&in_words(&view, &advised, terminal))?;
    if arguments.script.is_none() {
        terminal.print(&format!("\nThe job script (--script FILE writes it):\n\n{script}"))?;
    }
    Ok(())
}

/// Asks `advise` about every allocation the experiment varied.
pub fn advise(
    project: &Project,
    model: &ModelFile,
    site: &Site,
    case: &BTreeMap<String, Value>,
    limits: Limits,
    extrapolate: bool,
) -> Result<Recommendation, Failure> {
    let walltime = model.target(&Target::Walltime).ok_or_else(|| {
        Failure::bad_input("the model does not predict walltime")
            .hint("name `walltime` in `targets` under [learn] and build again")
    })?;
    let memory = model.target(&Target::PeakMemory);
    check_case(&project.experiment, case)?;
    let mut candidates = Vec::new();
    for allocation in choices(&project.experiment, case).allocations() {
        let configuration = configuration(project, case, &allocation)?;
        let admitted = project.experiment.admits(&configuration);
        if admitted.map_err(|diagnostic| Failure::bad_input(diagnostic.to_string()))? {
            candidates.push(allocation);
        }
    }
    let policy = Policy { interval: project.experiment.learn.interval, ..Policy::default() };
    let question = Question { site, candidates: &candidates, limits, policy };
    let forecast = |allocation: &Allocation| -> Result<Forecast, Failure> {
        let features = configuration(project, case, allocation)?.features();
        let walltime = walltime.predict(&features)?;
        cases::check_range(&walltime, extrapolate)?;
        let peak_memory = memory.map(|model| model.predict(&features)).transpose()?;
        Ok(Forecast { walltime, peak_memory })
    };
    harp_advise::recommend(&question, forecast).map_err(|error| match error {
        AdviseError::NoCandidates => Failure::bad_input(error.to_string()),
        AdviseError::NoPlanFits(nothing) => Failure::bad_input(nothing.to_string()).exit(Exit::NoPlanFits),
        AdviseError::Forecast(failure) => failure,
    })
}

/// A name that is neither a parameter nor a resource is a slip of the pen; a parameter left out
/// cannot be guessed.
fn check_case(experiment: &Experiment, case: &BTreeMap<String, Value>) -> Result<(), Failure> {
    let names: Vec<&str> = experiment.parameters.iter().map(|parameter| parameter.name.as_str()).collect();
    let resources = ["nodes", "cores", "threads", "memory", "gpus", "node_type"];
    match case.keys().find(|name| !names.contains(&name.as_str()) && !resources.contains(&name.as_str())) {
        Some(unknown) => {
            Err(Failure::bad_input(format!("`{unknown}` is not a parameter of {}", experiment.name))
                .hint(format!("it has {}", names.join(", "))))
        }
        None => Ok(()),
    }
}

/// Every value of each resource the experiment names; a resource given with the case is fixed.
fn choices(experiment: &Experiment, case: &BTreeMap<String, Value>) -> Choices {
    let mut choices = Choices::default();
    for resources in experiment.resources.values() {
        choices.nodes.extend(&resources.nodes);
        choices.cores.extend(&resources.cores);
        choices.threads.extend(&resources.threads);
        choices.memory.extend(&resources.memory);
        choices.gpus.extend(&resources.gpus);
        choices.node_types.extend(resources.node_type.iter().cloned());
    }
    // A measured memory limit is no choice: what to ask for follows from the predicted peak.
    choices.memory.clear();
    let fixed = |name: &str| case.get(name).and_then(Value::as_number).map(|number| number as u32);
    for (name, values) in [
        ("nodes", &mut choices.nodes),
        ("cores", &mut choices.cores),
        ("threads", &mut choices.threads),
        ("gpus", &mut choices.gpus),
    ] {
        if let Some(value) = fixed(name) {
            *values = [value].into();
        }
    }
    choices
}

/// The case with an allocation's resources in place of its own.
fn configuration(
    project: &Project,
    case: &BTreeMap<String, Value>,
    allocation: &Allocation,
) -> Result<Configuration, Failure> {
    let mut case = case.clone();
    case.extend(allocation.entries().into_iter().map(|(name, value)| (name.to_owned(), value)));
    cases::configuration(project, &case)
}

/// The script that runs the case with the chosen plan.
pub fn job_script(
    project: &Project,
    site: &Site,
    case: &BTreeMap<String, Value>,
    advised: &Recommendation,
    account: Option<&str>,
) -> Result<String, Failure> {
    let plan = advised.plan().ok_or_else(|| Failure::bad_input("no plan was chosen"))?;
    let configuration = configuration(project, case, &plan.candidate)?;
    let place = Place { experiment_directory: &project.directory, run_directory: &project.directory };
    let read = |path: &Path| fs::read_to_string(path).ok();
    let rendered = project
        .experiment
        .render(&configuration, &place, &read)
        .map_err(|error| Failure::bad_input(error.to_string()))?;
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
        account,
        harp_version: env!("CARGO_PKG_VERSION"),
    };
    harp_advise::script(site, plan, &job).map_err(|error| Failure::bad_input(error.to_string()))
}

/// What is shown of a recommendation.
pub fn plan_view(
    site: &Site,
    case: &BTreeMap<String, Value>,
    advised: &Recommendation,
    script: Option<String>,
) -> PlanView {
    let fitting: Vec<(f64, f64)> =
        advised.fitting.iter().map(|&index| time_and_price(&advised.plans[index])).collect();
    let knee = harp_advise::knee(&fitting).map(|index| advised.fitting[index]);
    let mut options: Vec<OptionView> = advised
        .plans
        .iter()
        .enumerate()
        .map(|(index, plan)| OptionView {
            on_front: advised.front.contains(&index),
            knee: knee == Some(index),
            chosen: index == advised.chosen,
            problems: if advised.fitting.contains(&index) {
                Vec::new()
            } else {
                vec!["beyond the limits".to_owned()]
            },
            ..option_view(plan)
        })
        .collect();
    options.extend(default_option(advised));
    for option in &mut options {
        // Memory has a column of its own, and the only kind of node there is needs no name.
        option.allocation.memory = None;
        if site.node_types.len() == 1 {
            option.allocation.node_type = None;
        }
    }
    PlanView {
        features: case.clone(),
        site: site.name.clone(),
        money_unit: site.unit.clone(),
        coverage: advised.policy.interval,
        max_time: advised.limits.max_time,
        max_cost: advised.limits.max_cost,
        options,
        reasons: advised.reasons.clone(),
        job_script: script,
        warnings: advised.plan().map(warnings).unwrap_or_default(),
    }
}

fn time_and_price(plan: &Plan) -> (f64, f64) {
    (plan.time.expected.0, plan.price.with_reexecution.0)
}

fn option_view(plan: &Plan) -> OptionView {
    let memory = plan.memory.as_ref();
    OptionView {
        allocation: plan.allocation.clone(),
        walltime: Estimate::new(plan.time.expected.0, plan.time.low.0, plan.time.high.0),
        memory: memory.and_then(|memory| {
            Some(Estimate::new(memory.expected?.as_f64(), memory.low?.as_f64(), memory.high?.as_f64()))
        }),
        request_time: plan.time.request,
        request_memory: memory.and_then(|memory| memory.request),
        price: plan.price.expected_use,
        price_ceiling: Some(plan.price.request),
        risk: plan.risk.killed,
        problems: Vec::new(),
        on_front: false,
        knee: false,
        chosen: false,
        default: false,
        extrapolates: plan.extrapolates(),
    }
}

/// The full node for the longest time, as far as its price is known.
fn default_option(advised: &Recommendation) -> Option<OptionView> {
    let default = &advised.default;
    let (time, price) =
        match (default.request, default.price_of_request, default.expected, default.price_of_use) {
            (Some(time), Some(price), _, _) | (_, _, Some(time), Some(price)) => (time, price),
            _ => return None,
        };
    let walltime = default.expected.unwrap_or(time).0;
    Some(OptionView {
        allocation: default.allocation.clone(),
        walltime: Estimate::new(walltime, walltime, walltime),
        memory: None,
        request_time: time,
        request_memory: None,
        price,
        price_ceiling: default.price_of_request,
        risk: 0.0,
        problems: Vec::new(),
        on_front: false,
        knee: false,
        chosen: false,
        default: true,
        extrapolates: false,
    })
}

fn warnings(plan: &Plan) -> Vec<String> {
    let outside = plan
        .out_of_range
        .iter()
        .map(|outside| format!("{}: this is an extrapolation", cases::describe(outside)));
    outside.chain(plan.notes.iter().cloned()).collect()
}

fn in_words(view: &PlanView, advised: &Recommendation, terminal: &Terminal) -> String {
    let mut short = view.clone();
    let is_marked = |option: &OptionView| option.chosen || option.default || option.on_front || option.knee;
    let mut others = MOST_ROWS.saturating_sub(view.options.iter().filter(|option| is_marked(option)).count());
    short.options.retain(|option| {
        let room = others > 0;
        others -= usize::from(room && !is_marked(option));
        room || is_marked(option)
    });
    let mut text = plan_table(&short).to_terminal(terminal.width, &terminal.style);
    if short.options.len() < view.options.len() {
        text.push_str(&format!("{} more are in --json\n", view.options.len() - short.options.len()));
    }
    text.push_str(&format!("\n{}\n", plan_sentence(view)));
    for reason in &view.reasons {
        text.push_str(&format!("  - {reason}\n"));
    }
    for refused in &advised.refused {
        text.push_str(&format!("  - left out {}: {}\n", refused.count, refused.example));
    }
    for warning in &view.warnings {
        text.push_str(&format!("warning: {warning}\n"));
    }
    text
}

fn make_executable(file: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755))
        .map_err(|error| Failure::file("change", file, &error))
}
