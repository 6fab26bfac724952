//! Runs so small that starting the program is most of what they take say little of how its time grows.

use harp_core::Target;

use crate::describe::quantity;
use crate::pipeline::Pipeline;
use crate::prepare::Prepared;
use crate::regress::Fitted;
use crate::{BuildOptions, ModelKind};

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
