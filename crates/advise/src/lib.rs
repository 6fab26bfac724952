//! From predictions to a plan: which resources to ask for, what they cost, how likely the job is to
//! be killed, why this and not another, and the script that asks for them.
//!
//! Nothing here reads a file, a clock or the environment, and nothing learns: predictions come in
//! through a closure, sites as data. The same question gets the same answer, bit for bit.

mod appraise;
mod candidate;
mod choose;
mod default;
mod front;
mod past;
mod plan;
mod quote;
mod reasons;
mod recommend;
mod refused;
mod retry;
mod script;

pub use candidate::Choices;
pub use choose::{ChoiceRule, LimitKind, Miss};
pub use default::{DefaultPlan, DefaultTime, Saving};
pub use front::{knee, pareto_front};
pub use past::{Advice, Care, Change, Need, PastEnd, PastJob, Spread, advise_on_past};
pub use plan::{Forecast, Limits, Plan, PlanMemory, PlanPrice, PlanRisk, PlanTime, Policy};
pub use quote::quote;
pub use recommend::{AdviseError, NoPlanFits, Question, Recommendation, recommend};
pub use refused::Refused;
pub use retry::{Attempt, Caps, Ended, Next, TimeGrowth, next_attempt};
pub use script::{Job, ScriptError, script};
