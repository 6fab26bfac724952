//! Judging candidates on runs they have not seen: which runs, by which models, with what result.

mod character;
mod fold;
mod inside;
mod judge;
mod levels;
mod residual;
mod smooth;

pub(crate) use character::Character;
pub(crate) use fold::{Judgement, Plan, balanced};
pub(crate) use judge::{Judged, Outcome, Verdict, fullest, judge, seed_of};
pub(crate) use levels::small_only_warning;
pub(crate) use residual::{Residuals, Upwards, configurations};
