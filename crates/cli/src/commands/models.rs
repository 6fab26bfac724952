//! `harp models`: every candidate, its scores, and why the winner won.

use harp_report::{CandidatesView, candidates_table};

use crate::arguments::Models;
use crate::failure::Failure;
use crate::project;
use crate::terminal::Terminal;
use crate::views;

/// Shows the candidates of a model file.
pub fn models(arguments: &Models, terminal: &Terminal) -> Result<(), Failure> {
    let experiment = &arguments.experiment.file;
    // A model file given in the place of the experiment can only be meant as one.
    let is_model = experiment.extension().is_some_and(|extension| extension == "json");
    let default = || if is_model { experiment.clone() } else { project::model_of(experiment) };
    let file = project::read_model(&arguments.model.model.clone().unwrap_or_else(default))?;
    let wanted = |target: &str| arguments.target.as_ref().is_none_or(|wanted| wanted == target);
    let views: Vec<(CandidatesView, &harp_learn::TargetModel)> = file
        .targets
        .iter()
        .filter(|model| wanted(&model.target.to_string()))
        .map(|model| (views::candidates_view(model), model))
        .collect();
    if views.is_empty() {
        let known: Vec<String> = file.targets.iter().map(|model| model.target.to_string()).collect();
        return Err(Failure::bad_input(format!(
            "the model has no target `{}`",
            arguments.target.as_deref().unwrap_or_default()
        ))
        .hint(format!("it has {}", known.join(", "))));
    }
    if terminal.json {
        return terminal.print_json(&views.iter().map(|(view, _)| view).collect::<Vec<_>>());
    }
    for (view, model) in &views {
        terminal.print_text(&format!(
            "{} of {}, policy {}",
            views::target_words(&view.target),
            file.application,
            view.policy
        ))?;
        terminal.print_table(&candidates_table(view))?;
        let mut text = format!("\n{}\n", view.reason);
        if arguments.explain {
            text.push_str(&explanations(view));
        } else if let Some(formula) = views::formula(model) {
            text.push_str(&format!("{}\n", views::in_short(&formula)));
        }
        for line in view.left_out() {
            text.push_str(&format!("{line}\n"));
        }
        for feature in &model.features {
            if let Some(dropped) = &feature.dropped {
                text.push_str(&format!("feature {} is not used: {dropped}\n", feature.name));
            }
        }
        terminal.print_text(&text)?;
    }
    Ok(())
}

/// What each kind of model goes by, the winner's words among them.
fn explanations(view: &CandidatesView) -> String {
    match view.explanations().as_slice() {
        [] => "The model file holds no explanations: `harp build` writes one that does.\n".to_owned(),
        lines => format!("\nLearned from all runs, each says\n{}\n\n", lines.join("\n")),
    }
}
