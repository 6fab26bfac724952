//! Run-time prediction on a published log. The log is not part of the project; `HARP_TRACES` names the
//! folder that holds it, and without it this test says so and passes.

// helpers of tests may unwrap as tests do
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::Path;

use harp_trace::predict::{PredictOptions, evaluate};

#[test]
fn elapsed_time_helps_on_mira() {
    let folder = std::env::var_os("HARP_TRACES").unwrap_or_default();
    let path = Path::new(&folder).join("Mira.swf.gz");
    if !path.exists() {
        eprintln!("skipped: set HARP_TRACES to a folder that holds Mira.swf.gz");
        return;
    }
    let trace = harp_trace::read_path(&path, &Default::default()).unwrap();
    let result = evaluate(&trace.jobs, &PredictOptions { at: vec![0.5], ..PredictOptions::default() });
    let method = |name: &str| result.at[0].methods.iter().find(|method| method.name == name).unwrap().clone();
    let boosted = method("boosted-elapsed");
    assert!(boosted.accuracy.unwrap() >= 0.863, "{boosted:?}");
    assert!(boosted.underestimation_rate.unwrap() <= 0.57, "{boosted:?}");
    assert!(method("last2-elapsed").accuracy.unwrap() >= 0.842);
    assert!(method("boosted").accuracy > method("last2").accuracy);
}
