//! `harp run`: generate, build, predict the test cases, and compare with what really happened.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use harp_advise::Limits;
use harp_core::{Configuration, Scale, Target, Value};
use harp_history::Recorded;
use harp_learn::ModelFile;
use harp_report::{
    Canvas, PlanView, Provenance, RunView, accuracy_chart, candidates_chart, cases_table, common_features,
    pareto_chart, run_page, scaling_chart, scaling_miniature, target_sentence, verdict_sentence,
};

use crate::arguments::Run;
use crate::commands::generate::Session;
use crate::commands::{build, generate, recommend, site};
use crate::drift;
use crate::failure::{Exit, Failure};
use crate::machines::{Machine, Machines};
use crate::on_slurm::OnSlurm;
use crate::plan_view::plan_view;
use crate::project::{self, Project};
use crate::score;
use crate::terminal::Terminal;
use crate::views;

/// Does it all, tells the result and says where the page is.
pub fn run(arguments: &Run, terminal: &Terminal) -> Result<ExitCode, Failure> {
    let Story { page, some_failed } = story(arguments, terminal)?;
    terminal.say(&format!("\nwrote {}", page.display()));
    Ok(generate::exit_code(some_failed && !arguments.allow_failed))
}

/// What came of it.
pub struct Story {
    /// The page that was written.
    pub page: PathBuf,
    /// Whether some runs failed.
    pub some_failed: bool,
}

/// Does it all and tells the result as a table or JSON.
pub fn story(arguments: &Run, terminal: &Terminal) -> Result<Story, Failure> {
    let project = Project::load(&arguments.experiment.file, terminal)?;
    if !project.experiment.scales().contains(&Scale::Test) {
        terminal.say("note: the experiment has no `test` values; there will be nothing to compare with");
    }

    // The model is built before the test cases run, so that it cannot have seen them.
    let learn_from: Vec<Scale> =
        project.experiment.scales().into_iter().filter(|scale| *scale != Scale::Test).collect();
    let on_slurm = OnSlurm::if_asked(&arguments.slurm, &project, terminal)?;
    let mut session = Session::open(&project, on_slurm, terminal)?;
    let learned_from = session.run(&learn_from, arguments.retry_failed)?;
    learned_from.tell_failures(terminal);
    let mut some_failed = learned_from.has_failed();
    let recorded = build::recorded_runs(&project)?;
    let mut model = build::build_model(&project, &recorded, &arguments.settings, terminal)?;
    let taught = build::learnable(&recorded);
    let drift = model.targets.iter().find_map(|target| drift::in_runs(&project, target, &taught));
    build::keep(&mut model, drift.as_ref());
    build::write_model(&model, &project.model_file())?;
    for target in &model.targets {
        let winner = target.winner().map(ToString::to_string).unwrap_or_default();
        terminal.say(&format!("{}: {winner}", target.target));
        if let Some(formula) = views::formula(target) {
            terminal.say(&format!("  {}", views::in_short(&formula)));
        }
    }
    if project.experiment.scales().contains(&Scale::Test) {
        let tested = session.run(&[Scale::Test], arguments.retry_failed)?;
        tested.tell_failures(terminal);
        some_failed |= tested.has_failed();
    }
    drop(session);

    let mut view = run_view(&project, &model, arguments)?;
    drift::tell(drift.as_ref(), terminal);
    view.warnings.extend(drift.map(|drift| drift.message));
    let page = arguments.html.clone().unwrap_or_else(|| project.page_file());
    project::write_whole(&page, &run_page(&view))?;
    if let Some(folder) = &arguments.charts {
        write_charts(&view, folder)?;
        terminal.say(&format!("wrote charts into {}", folder.display()));
    }
    if terminal.json {
        terminal.print_json(&view)?
    } else {
        tell(&view, terminal)?
    }
    Ok(Story { page, some_failed })
}

fn run_view(project: &Project, model: &ModelFile, arguments: &Run) -> Result<RunView, Failure> {
    let recorded = build::recorded_runs(project)?;
    let coverage = project.experiment.learn.interval;
    let mut targets = Vec::new();
    let mut warnings = Vec::new();
    // A model that knows several machines is asked about this one, as far as it was measured.
    let machine = Machine::find(project, model, None, None).unwrap_or_default();
    let machines = Machines::telling(project, &recorded);
    let mut unfinished = views::unfinished_tests(&recorded);
    unfinished.iter_mut().for_each(|case| machine.add(case));
    for target in &model.targets {
        let runs = recorded.iter().map(|recorded| &recorded.run);
        let (table, _) = harp_history::dataset_with(runs, &target.target, &|run| machines.further(run));
        targets.push(views::target_view(target, &table, &unfinished, coverage)?);
        warnings.extend(target.warnings.iter().map(|warning| format!("{}: {warning}", target.target)));
    }
    let plan = plan_of_largest(project, model, &recorded).transpose();
    let plan = match plan {
        Some(Ok(plan)) => Some(plan),
        Some(Err(failure)) if failure.exit == Exit::BadInput => return Err(failure),
        Some(Err(failure)) => {
            warnings.push(failure.message);
            None
        }
        None => None,
    };
    let mut hosts: Vec<harp_core::Host> = Vec::new();
    for recorded in &recorded {
        if !hosts.contains(&recorded.host) {
            hosts.push(recorded.host.clone());
        }
    }
    let file = project.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(RunView {
        application: model.application.clone(),
        sweep: views::sweep_view(&recorded),
        targets,
        plan,
        hosts,
        warnings,
        provenance: Provenance {
            harp_version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: arguments.settings.seed.unwrap_or(project.experiment.schedule.seed),
            made: jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string(),
            command: format!("harp run {file}"),
            experiment: file,
            details: model
                .targets
                .iter()
                .map(|target| (target.target.to_string(), target.explanation.clone()))
                .collect(),
        },
    })
}

/// A recommendation for the test case that is predicted to take longest, at the experiment's site.
fn plan_of_largest(
    project: &Project,
    model: &ModelFile,
    recorded: &[Recorded],
) -> Result<Option<PlanView>, Failure> {
    let Some(walltime) = model.target(&Target::Walltime) else { return Ok(None) };
    let machine = Machine::find(project, model, None, None)?;
    let predicted = |configuration: &Configuration| {
        let mut features = configuration.features();
        machine.add(&mut features);
        Some(walltime.predict(&features).ok()?.estimate)
    };
    let tests =
        recorded.iter().map(|recorded| &recorded.run.configuration).filter(|one| one.scale == Scale::Test);
    let largest = tests
        .filter_map(|configuration| Some((predicted(configuration)?, configuration)))
        .max_by(|left, right| left.0.total_cmp(&right.0));
    let Some((_, largest)) = largest else { return Ok(None) };
    let is_given = |name: &str| project.experiment.parameters.iter().any(|parameter| parameter.name == name);
    let case: BTreeMap<String, Value> = largest
        .parameters
        .iter()
        .filter(|(name, _)| is_given(name))
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    let site = site::find(project.experiment.learn.site.as_deref().unwrap_or("local"))?;
    let advised = recommend::advise(project, model, &site, &case, Limits::default(), true)?;
    let script = recommend::job_script(project, &site, &case, &advised, None)?;
    let mut view = plan_view(&site, &case, &advised, script);
    view.backtest = score::of(project, model, &score::unseen(project, model));
    Ok(Some(view))
}

/// Every chart of the page as a file of its own.
fn write_charts(view: &RunView, folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))?;
    let canvas = Canvas::default();
    let write =
        |name: String, chart: String| project::write_whole(&folder.join(format!("{name}.svg")), &chart);
    for target in &view.targets {
        for scaling in &target.scaling {
            write(format!("{}-by-{}", target.target, scaling.x.name), scaling_chart(scaling, &canvas))?;
        }
        write(format!("{}-accuracy", target.target), accuracy_chart(target, &canvas))?;
        if let Some(candidates) = &target.candidates {
            write(format!("{}-models", target.target), candidates_chart(candidates, &canvas))?;
        }
    }
    match &view.plan {
        Some(plan) => write("time-and-price".to_owned(), pareto_chart(plan, &canvas)),
        None => Ok(()),
    }
}

fn tell(view: &RunView, terminal: &Terminal) -> Result<(), Failure> {
    let style = &terminal.style;
    for target in &view.targets {
        let mut head =
            format!("\n{}, predicted from the other runs alone\n", views::target_words(&target.target));
        let common = common_features(target);
        if !common.is_empty() {
            head.push_str(&format!("{common}\n"));
        }
        terminal.print_text(&head)?;
        terminal.print_table(&cases_table(target))?;
        if let Some(scaling) = target.scaling.first().filter(|_| target.target == Target::Walltime) {
            terminal
                .print(&format!("\n{}", scaling_miniature(scaling, terminal.width.min(76), 14, style)))?;
        }
        terminal.print_text(&target_sentence(target))?;
    }
    if let Some(candidates) = view.targets.first().and_then(|target| target.candidates.as_ref()) {
        let compared = candidates.candidates.iter().filter(|candidate| candidate.scores.is_some()).count();
        terminal.say(&format!("({compared} candidate models were compared; `harp models` shows them)"));
    }
    // The verdict adds what is saved; where nothing is known of that, it has been said.
    let verdict = verdict_sentence(view);
    match view.targets.first() {
        Some(first) if target_sentence(first) == verdict => Ok(()),
        _ => terminal.print_text(&format!("\n{verdict}")),
    }
}
