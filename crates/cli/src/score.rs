//! How past predictions of an application did, for the advice that rests on the next ones.

use harp_core::{Scale, Target, Timestamp};
use harp_history::Recorded;
use harp_learn::{Backtest, ModelFile};
use harp_report::{JudgedOn, ScoreView};

use crate::machines::Machines;
use crate::project::Project;

/// The runs of an experiment its model has not learned from. What cannot be read is not worth stopping for.
pub fn unseen(project: &Project, model: &ModelFile) -> Vec<Recorded> {
    // Without a moment only test cases are known not to have been learned from.
    let until = model.learned.as_ref().map_or(Timestamp(i64::MAX), |learned| learned.until);
    let history = project.read_history().ok().flatten();
    history.and_then(|history| history.unseen(&model.application, until).ok()).unwrap_or_default()
}

/// How the model's predictions of run time did: on runs it had not seen, if there are any, else on those
/// held back while it was chosen.
pub fn of(project: &Project, model: &ModelFile, unseen: &[Recorded]) -> Option<ScoreView> {
    let walltime = model.target(&Target::Walltime)?;
    let machines = Machines::known_to(project, model);
    let runs = unseen.iter().map(|recorded| &recorded.run);
    let (mut table, _) = harp_history::dataset_with(runs, &Target::Walltime, &|run| machines.further(run));
    table.rows.iter_mut().for_each(|row| row.scale = Scale::Test);
    // Runs with other features than the model knows cannot be judged.
    if let Ok(judged) = Backtest::of(walltime, &table, 0.0) {
        let too_small = judged.request.upp / 100.0 * judged.scores.cases as f64;
        return Some(ScoreView {
            judged_on: JudgedOn::Unseen,
            cases: judged.scores.cases,
            mape: judged.scores.mape,
            mape_interval: Some(judged.intervals.mape),
            coverage_90: Some(judged.coverage_90),
            too_small: Some(too_small.round() as usize),
        });
    }
    let scores = walltime.winner()?.scores.as_ref()?;
    Some(ScoreView {
        judged_on: JudgedOn::HeldBack,
        cases: scores.cases,
        mape: scores.mape,
        mape_interval: None,
        coverage_90: None,
        too_small: None,
    })
}
