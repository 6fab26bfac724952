//! Runs so small that starting the program is most of what they take say little of how its time grows.

use harp_core::Target;

use crate::describe::quantity;
use crate::pipeline::Pipeline;
use crate::prepare::{Prepared, Role};
use crate::regress::Fitted;
use crate::validate::Character;
use crate::{BuildOptions, ModelKind};

/// Says so where what the runs differ by does not show in what they take.
pub(crate) fn flat_warning(target: &Target, prepared: &Prepared, character: &Character) -> Option<String> {
    let takes_time = matches!(target, Target::Walltime | Target::CpuTime);
    let numbers = prepared.roles.iter().any(|role| role.role == Role::Number);
    (character.flat && takes_time && numbers).then(|| {
        let noise = 100.0 * character.prior.unwrap_or(character.noise);
        format!(
            "what the runs differ by does not show in their times, which scatter by {noise:.1} %: a constant is \
             predicted, and if larger runs take longer, these are too small to tell"
        )
    })
}

/// Fewest runs that tell a constant from a law.
const FEWEST: usize = 12;

/// Says so where most runs are like that and none was made at full scale, which would show the rest.
pub(crate) fn start_up_warning(target: &Target, prepared: &Prepared, full_scale: usize) -> Option<String> {
    let runs = prepared.targets.len();
    if full_scale > 0 || runs < FEWEST || !matches!(target, Target::Walltime | Target::CpuTime) {
        return None;
    }
    let law = Pipeline::fit(ModelKind::PowerLaw, prepared, &BuildOptions::default(), 0).ok()?;
    let Fitted::PowerLaw(law) = law.fitted else { return None };
    let mostly = prepared.targets.iter().filter(|&&took| law.offset > took / 2.0).count();
    (2 * mostly > runs).then(|| {
        format!(
            "start-up, about {} whatever the size, is more than half of {mostly} of {runs} runs: larger ones would \
             tell more of how the time grows",
            quantity(target, law.offset)
        )
    })
}
