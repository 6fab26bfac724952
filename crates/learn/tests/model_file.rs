//! Model files: exact round trips, refusals, and hostile texts.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{case, sweep};
use harp_core::{Policy, Scale, Target, Value};
use harp_learn::{BuildOptions, ModelFile, ModelFileError, ModelKind, build};
use proptest::prelude::*;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

static FILE: LazyLock<ModelFile> = LazyLock::new(|| {
    let dataset = sweep(1, 0.05, 1);
    let time = build(&dataset, &BuildOptions::default()).unwrap();
    let mut memory = dataset.filtered(|row| row.scale != Scale::Test);
    memory.target = Target::PeakMemory;
    let options = BuildOptions { policy: Policy::Cost, ..BuildOptions::default() };
    ModelFile::new("euler", "harp 0.1.0", vec![time, build(&memory, &options).unwrap()])
});

/// The outer object around a model text, with a checksum that fits.
fn sealed(model: &str) -> String {
    let digits: String = Sha256::digest(model.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    format!(r#"{{"format":"harp-model","version":1,"checksum":"sha256:{digits}","model":{model}}}"#)
}

fn payload() -> String {
    serde_json::to_string(&*FILE).unwrap()
}

#[test]
fn a_file_comes_back_bit_for_bit() {
    let text = FILE.to_text().unwrap();
    let back = ModelFile::from_text(&text).unwrap();
    assert_eq!(back, *FILE);
    assert_eq!(back.to_text().unwrap(), text);
    assert_eq!(back.features, ["n", "method", "threads"]);
    let asked =
        case(&[("n", Value::Integer(70_000)), ("method", "sum".into()), ("threads", Value::Integer(2))]);
    for model in &FILE.targets {
        let again = back.target(&model.target).unwrap();
        assert_eq!(model.predict(&asked).unwrap(), again.predict(&asked).unwrap());
    }
    assert_eq!(ModelFile::from_text(&sealed(&payload())).unwrap(), *FILE);
}

#[test]
fn indentation_is_harmless() {
    let text = FILE.to_text().unwrap().replacen("\"model\":{", "\"model\" : \n {  ", 1);
    assert_eq!(ModelFile::from_text(&text).unwrap(), *FILE);
}

#[test]
fn strangers_are_refused_with_the_reason() {
    let text = FILE.to_text().unwrap();
    let newer = text.replacen("\"version\":1", "\"version\":2", 1);
    assert_eq!(ModelFile::from_text(&newer), Err(ModelFileError::NewerVersion { version: 2, newest: 1 }));
    let other = text.replacen("harp-model", "pickle", 1);
    assert!(matches!(ModelFile::from_text(&other), Err(ModelFileError::WrongFormat { .. })));
    let changed = text.replacen("\"seed\":42", "\"seed\":43", 1);
    assert_eq!(ModelFile::from_text(&changed), Err(ModelFileError::Checksum));
    assert!(matches!(ModelFile::from_text("{"), Err(ModelFileError::Malformed { .. })));
    assert!(matches!(ModelFile::from_text("[1]"), Err(ModelFileError::Malformed { .. })));
    let deep = "[".repeat(100_000);
    assert!(matches!(ModelFile::from_text(&deep), Err(ModelFileError::Malformed { .. })));
}

/// Every kind of model as it is written, changed in one place so that it contradicts itself.
#[test]
fn contradictions_are_refused() {
    let base: serde_json::Value = serde_json::from_str(&payload()).unwrap();
    let fitted = [
        serde_json::json!({"tree": [{"column": 0, "threshold": 0.0, "low": 0, "high": 0}]}),
        serde_json::json!({"tree": []}),
        serde_json::json!({"tree": [{"column": 99, "threshold": 0.0, "low": 1, "high": 1}, {"value": 1.0}]}),
        serde_json::json!({"linear": {"intercept": 1.0, "coefficients": [1.0]}}),
        serde_json::json!({"network": {"layers": [], "mean": 0.0, "deviation": 1.0}}),
        serde_json::json!({"network": {"layers": [{"inputs": 4_000_000_000u64, "outputs": 4_000_000_000u64, "weights": [], "biases": []}], "mean": 0.0, "deviation": 1.0}}),
        serde_json::json!({"network": {"layers": [{"inputs": 3, "outputs": 1, "weights": [1e300, 1.0, 1.0], "biases": [0.0]}], "mean": 0.0, "deviation": 1.0}}),
        serde_json::json!({"power_law": {"offset": -1.0, "intercept": 0.0, "terms": []}}),
        serde_json::json!({"power_law": {"offset": 0.0, "intercept": 0.0, "terms": [{"coefficient": 1.0, "factors": [{"column": 7, "form": "plain"}]}]}}),
    ];
    for fitted in fitted {
        let mut file = base.clone();
        file["targets"][0]["pipeline"]["fitted"] = fitted.clone();
        let result = ModelFile::from_text(&sealed(&file.to_string()));
        assert!(
            matches!(result, Err(ModelFileError::Inconsistent { .. } | ModelFileError::Malformed { .. })),
            "{fitted} {result:?}"
        );
    }
    for (pointer, value) in [
        ("/targets/0/pipeline/kept", serde_json::json!([3, 2, 1])),
        ("/targets/0/pipeline/kept", serde_json::json!([0, 1, 99])),
        ("/targets/0/pipeline/bounds/smallest", serde_json::json!(-1.0)),
        ("/targets/0/pipeline/bounds/numbers", serde_json::json!([])),
        ("/targets/0/residuals/quantiles", serde_json::json!([[0.5, 1.0], [0.4, 2.0]])),
        ("/targets/0/residuals/scale", serde_json::json!(0.0)),
        ("/targets/0/winner", serde_json::json!(100_000)),
        ("/targets/0/features", serde_json::json!([])),
    ] {
        let mut file = base.clone();
        *file.pointer_mut(pointer).unwrap() = value;
        assert!(ModelFile::from_text(&sealed(&file.to_string())).is_err(), "{pointer}");
    }
}

/// Reads whatever it is given; what it accepts it can predict with.
fn survive(text: &str) {
    let Ok(file) = ModelFile::from_text(text) else { return };
    for model in &file.targets {
        for n in [-1.0, 0.0, 1.0, 1e5, 1e300] {
            let asked =
                case(&[("n", Value::Real(n)), ("method", "sum".into()), ("threads", Value::Integer(2))]);
            if let Ok(prediction) = model.predict(&asked) {
                assert!(prediction.estimate > 0.0 && prediction.estimate.is_finite());
                assert!(prediction.request > 0.0 && prediction.request.is_finite());
            }
        }
    }
}

/// Replaces one number somewhere inside by another.
fn change_number(value: &mut serde_json::Value, which: &mut usize, by: &serde_json::Value) {
    match value {
        serde_json::Value::Number(_) | serde_json::Value::Bool(_) => {
            if *which == 0 {
                *value = by.clone();
            }
            *which = which.wrapping_sub(1);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| change_number(item, which, by)),
        serde_json::Value::Object(map) => map.values_mut().for_each(|item| change_number(item, which, by)),
        serde_json::Value::Null | serde_json::Value::String(_) => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn changed_bytes_never_panic(place in 0.0..1.0f64, byte in 0u8..128, cut in any::<bool>()) {
        let mut text = payload().into_bytes();
        let place = (place * text.len() as f64) as usize;
        text[place] = byte;
        if cut {
            text.truncate(place);
        }
        survive(&sealed(&String::from_utf8_lossy(&text)));
        survive(&String::from_utf8_lossy(&text));
    }

    #[test]
    fn changed_numbers_never_panic(which in 0usize..3000, number in prop_oneof![
        any::<f64>(), Just(0.0), Just(-1.0), Just(1e308), Just(1e-320), (0u32..50).prop_map(f64::from),
    ]) {
        let mut file: serde_json::Value = serde_json::from_str(&payload()).unwrap();
        let by = if number.fract() == 0.0 && number.abs() < 1e6 {
            serde_json::json!(number as i64)
        } else {
            serde_json::json!(number)
        };
        change_number(&mut file["targets"], &mut which.clone(), &by);
        survive(&sealed(&file.to_string()));
    }
}

fn count_numbers(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Number(_) | serde_json::Value::Bool(_) => 1,
        serde_json::Value::Array(items) => items.iter().map(count_numbers).sum(),
        serde_json::Value::Object(map) => map.values().map(count_numbers).sum(),
        serde_json::Value::Null | serde_json::Value::String(_) => 0,
    }
}

/// A file of every kind of model, so that every reader meets changed numbers.
#[test]
fn every_kind_comes_back_and_survives_changes() {
    let dataset = sweep(2, 0.05, 4);
    for kind in ModelKind::ALL {
        let models = if kind == ModelKind::Ensemble { ModelKind::ALL.to_vec() } else { vec![kind] };
        let options = BuildOptions { models, ..BuildOptions::default() };
        // There are enough runs for the wide network, which takes the place of the small one.
        let model = match build(&dataset, &options) {
            Ok(model) => model,
            Err(error) => {
                assert_eq!(kind, ModelKind::SmallNetwork, "{error}");
                continue;
            }
        };
        assert_eq!(model.winner().unwrap().model, kind);
        let file = ModelFile::new("a", "b", vec![model]);
        let text = file.to_text().unwrap();
        assert_eq!(ModelFile::from_text(&text).unwrap(), file, "{kind}");
        let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let model = value["model"].take();
        let part = if kind == ModelKind::Ensemble { "members" } else { "pipeline" };
        let numbers = count_numbers(&model["targets"][0][part]);
        for which in (0..numbers).step_by(numbers.div_ceil(60)) {
            for by in [serde_json::json!(-3), serde_json::json!(1_000_000), serde_json::json!(1e308)] {
                let mut changed = model.clone();
                change_number(&mut changed["targets"][0][part], &mut which.clone(), &by);
                survive(&sealed(&changed.to_string()));
            }
        }
    }
}
