//! Losses that fear being too low make predictions that are rarely too low, in every kind of model
//! that knows them.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Noise, columns, row};
use harp_core::{Dataset, Loss, Policy, Scale, Target, Value};
use harp_learn::{BuildOptions, ModelKind, build};

/// Times of a program that is affine in n, with 30 % of noise; judged on sizes between those learned.
fn noisy() -> Dataset {
    let mut random = Noise::new(7);
    let mut rows = Vec::new();
    for index in 0..400u64 {
        let n = 100 + (index as i64 * 37) % 900;
        let seconds = (5.0 + 0.05 * n as f64) * (0.3 * random.normal()).exp();
        let scale = match index % 4 {
            0 => Scale::Test,
            1 => Scale::Fs,
            _ => Scale::Sd,
        };
        rows.push(row(vec![Value::Integer(n), Value::Integer(1 + index as i64 % 3)], seconds, scale, index));
    }
    Dataset::new(Target::Walltime, columns(&["n", "kind"]), rows).unwrap()
}

/// Percentage of the validation runs that the model itself said too little of.
fn under(kind: ModelKind, loss: &str) -> f64 {
    let options = BuildOptions {
        policy: Policy::Mae,
        loss: loss.parse::<Loss>().unwrap(),
        models: vec![kind],
        ..BuildOptions::default()
    };
    let model = build(&noisy(), &options).unwrap();
    let plain = |candidate: &&harp_learn::Candidate| candidate.adjustment.factor == 1.0;
    let scored = model.candidates.iter().filter(plain).filter(|candidate| candidate.model == kind);
    scored.filter_map(|candidate| candidate.scores.as_ref()).map(|scores| scores.upp).fold(0.0, f64::max)
}

#[test]
fn every_kind_that_knows_losses_follows_them() {
    for kind in [ModelKind::Linear, ModelKind::Network, ModelKind::Boosting] {
        let [symmetric, asymmetric, weighted, quantile] =
            ["symmetric", "asymmetric", "asymmetric=9", "pinball=0.9"].map(|loss| under(kind, loss));
        println!("{kind}: {symmetric} {asymmetric} {weighted} {quantile}");
        assert!((30.0..70.0).contains(&symmetric), "{kind} {symmetric}");
        assert!(
            asymmetric < symmetric && weighted < asymmetric,
            "{kind} {symmetric} {asymmetric} {weighted}"
        );
        assert!((3.0..25.0).contains(&quantile), "{kind} {quantile}");
    }
}

#[test]
fn a_loss_that_reaches_no_model_chosen_is_said() {
    let warnings = |kind, loss: &str| {
        let options =
            BuildOptions { loss: loss.parse().unwrap(), models: vec![kind], ..BuildOptions::default() };
        build(&noisy(), &options).unwrap().warnings.join("\n")
    };
    let said = warnings(ModelKind::PowerLaw, "pinball=0.9");
    assert!(said.contains("the loss pinball=0.9 reaches none of the models chosen (power law)"), "{said}");
    for (kind, loss) in [(ModelKind::PowerLaw, "symmetric"), (ModelKind::Linear, "pinball=0.9")] {
        assert!(!warnings(kind, loss).contains("reaches none"), "{kind} {loss}");
    }
}

#[test]
fn what_a_model_costs_when_killed_jobs_run_again_is_told() {
    let model = build(&noisy(), &BuildOptions { policy: Policy::Cost, ..BuildOptions::default() }).unwrap();
    for candidate in model.candidates.iter().filter(|candidate| candidate.scores.is_some()) {
        let told = candidate.reexecution.unwrap();
        assert!(told.attempts >= 1.0 && told.cost >= 1.0 && told.reward <= 100.0, "{candidate} {told:?}");
    }
    // Raised predictions are killed less often.
    let raised = |factor: bool| {
        let of = |candidate: &&harp_learn::Candidate| (candidate.adjustment.factor > 1.0) == factor;
        let linear = model.candidates.iter().filter(|candidate| candidate.model == ModelKind::Linear);
        linear
            .filter(of)
            .filter_map(|candidate| candidate.reexecution)
            .map(|told| told.attempts)
            .fold(9.0, f64::min)
    };
    assert!(raised(true) < raised(false));
}
