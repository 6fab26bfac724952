//! `harp models`: every candidate, its scores, and why the winner won.

use harp_report::{CandidatesView, candidates_table};

use crate::arguments::Models;
use crate::failure::Failure;
use crate::project;
use crate::terminal::Terminal;
use crate::views;

/// Shows the candidates of a model file.
pub fn models(arguments: &Models, terminal: &Terminal) -> Result<(), Failure> {
    let file = project::read_model(&arguments.model.model)?;
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
        let mut text = format!(
            "{} of {}, policy {}\n",
            views::target_words(&view.target),
            file.application,
            view.policy
        );
        text.push_str(&candidates_table(view).to_terminal(terminal.width, &terminal.style));
        text.push_str(&format!("\n{}\n", view.reason));
        if let Some(formula) = views::formula(model) {
            text.push_str(&format!("{formula}\n"));
        }
        for line in view.left_out() {
            text.push_str(&format!("{line}\n"));
        }
        for feature in &model.features {
            if let Some(dropped) = &feature.dropped {
                text.push_str(&format!("feature {} is not used: {dropped}\n", feature.name));
            }
        }
        terminal.print(&text)?;
    }
    Ok(())
}
