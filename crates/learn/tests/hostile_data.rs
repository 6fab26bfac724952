//! Strange tables: an answer or a clear refusal, never a panic, a NaN or a negative time.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Noise, columns, row};
use harp_core::{Dataset, Observed, Policy, Row, Scale, Target, Value};
use harp_learn::{BuildOptions, ModelFile, build};
use proptest::prelude::*;

fn cell() -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        4 => (-3i64..8).prop_map(|number| Some(Value::Integer(number))),
        3 => (0.0..1e4f64).prop_map(|number| Some(Value::Real(number))),
        1 => prop_oneof![Just(1e300), Just(-1e300), Just(1e-300), Just(0.0)].prop_map(|n| Some(Value::Real(n))),
        2 => prop_oneof![Just("a"), Just("b"), Just(""), Just("ü=1 2")].prop_map(|text| Some(Value::from(text))),
        1 => any::<bool>().prop_map(|truth| Some(Value::Boolean(truth))),
        1 => Just(None),
    ]
}

fn observed() -> impl Strategy<Value = Observed> {
    prop_oneof![
        6 => (1e-3..1e3f64).prop_map(Observed::Exact),
        2 => Just(Observed::Exact(5.0)),
        1 => prop_oneof![Just(0.0), Just(-4.0), Just(1e-300), Just(1e99), Just(1e300)].prop_map(Observed::Exact),
        1 => (1e-3..1e3f64).prop_map(Observed::AtLeast),
    ]
}

fn table() -> impl Strategy<Value = Dataset> {
    (0usize..5, 0usize..26).prop_flat_map(|(width, height)| {
        let scale = prop_oneof![4 => Just(Scale::Sd), 2 => Just(Scale::Fs), 1 => Just(Scale::Test)];
        let row = (prop::collection::vec(cell(), width), observed(), scale, 0u64..20)
            .prop_map(|(cells, observed, scale, group)| Row { cells, observed, scale, group });
        let names: Vec<String> = (0..width).map(|index| format!("f{index}")).collect();
        prop::collection::vec(row, height).prop_map(move |rows| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            Dataset::new(Target::Walltime, columns(&names), rows).unwrap()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn strange_tables_never_panic(
        dataset in table(),
        policy in prop::sample::select(Policy::ALL.to_vec()),
        loss in prop::sample::select(vec!["symmetric", "pinball=0.9", "asymmetric"]),
        components: bool,
    ) {
        let loss = loss.parse().unwrap();
        let options = BuildOptions { policy, loss, principal_components: components, ..BuildOptions::default() };
        let Ok(model) = build(&dataset, &options) else { return Ok(()) };
        for scores in model.candidates.iter().filter_map(|candidate| candidate.scores.as_ref()) {
            prop_assert!(scores.mse.is_finite() && scores.mape.is_finite());
        }
        for row in &dataset.rows {
            let case = dataset.columns.iter().zip(&row.cells)
                .filter_map(|(column, cell)| cell.clone().map(|value| (column.name.clone(), value))).collect();
            let Ok(prediction) = model.predict(&case) else { continue };
            prop_assert!(prediction.estimate > 0.0 && prediction.estimate.is_finite());
            prop_assert!(prediction.request > 0.0 && prediction.request.is_finite());
            let (low, high) = prediction.distribution.interval(0.9);
            prop_assert!(low <= prediction.estimate && prediction.estimate <= high);
            prop_assert!(prediction.request >= prediction.estimate);
            let (low, high) = prediction.distribution.interval(0.5);
            prop_assert!(low <= prediction.estimate && prediction.estimate <= high);
        }
        let file = ModelFile::new("strange", "test", vec![model]);
        prop_assert_eq!(&ModelFile::from_text(&file.to_text().unwrap()).unwrap(), &file);
    }
}

/// Columns that differ in few runs are the same in some parts: what can be fitted there may have too
/// many terms for the whole. Another model answers then.
#[test]
fn columns_that_seldom_differ_leave_an_answer() {
    for seed in 0..20 {
        let mut random = Noise::new(seed);
        let mut rows = Vec::new();
        for group in 0..20u64 {
            let size = 1 << (group % 9);
            let twin = if group == seed % 20 { 3 * size } else { 2 * size };
            let other = 1 + (group as i64 / 9) * 3;
            let seconds = (size * other) as f64 * (0.1 * random.normal()).exp();
            let cells = [size, twin, other].map(Value::Integer).to_vec();
            rows.push(row(cells, seconds, if size < 64 { Scale::Sd } else { Scale::Fs }, group));
        }
        let dataset = Dataset::new(Target::Walltime, columns(&["size", "twin", "other"]), rows).unwrap();
        let model = build(&dataset, &BuildOptions { policy: Policy::Cost, ..BuildOptions::default() });
        let model = model.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let evaluation = model.evaluate(&dataset, |row| row.scale == Scale::Fs).unwrap();
        assert!(evaluation.reserved_ratio.is_some_and(|ratio| ratio < 10.0), "{evaluation:?}");
    }
}

/// Quantiles rise however strange the numbers are, and the estimate lies between them.
#[test]
fn the_estimate_lies_inside_its_interval_on_strange_numbers() {
    let cells = |f0: Value, f1: Value, f2: i64| vec![f0, f1, Value::Integer(f2)];
    let zero = || Value::Integer(0);
    let (huge, far) = (|| Value::Real(1e300), || Value::Real(-1e300));
    let rows = vec![
        row(cells(zero(), zero(), 0), 0.001, Scale::Fs, 0),
        row(cells(zero(), zero(), 0), 0.001, Scale::Sd, 0),
        row(cells(far(), zero(), 0), 775.955_711_897_453_2, Scale::Sd, 1),
        row(cells(huge(), Value::Integer(2), 1), 807.697_295_308_664_4, Scale::Sd, 2),
        row(cells(zero(), huge(), 0), 0.001, Scale::Test, 0),
        row(cells(far(), zero(), -1), 0.001, Scale::Sd, 0),
        row(cells(Value::Integer(-1), Value::Boolean(false), 1), 991.525_936_403_107_3, Scale::Sd, 3),
        row(cells(zero(), zero(), 0), 0.001, Scale::Sd, 4),
        row(cells(zero(), zero(), 0), 5.0, Scale::Sd, 4),
    ];
    let dataset = Dataset::new(Target::Walltime, columns(&["f0", "f1", "f2"]), rows).unwrap();
    let options =
        BuildOptions { policy: Policy::Wtm, loss: "asymmetric".parse().unwrap(), ..BuildOptions::default() };
    let model = build(&dataset, &options).unwrap();
    for row in &dataset.rows {
        let case = dataset.columns.iter().zip(&row.cells);
        let case = case.filter_map(|(column, cell)| Some((column.name.clone(), cell.clone()?))).collect();
        let said = model.predict(&case).unwrap();
        let (low, high) = said.distribution.interval(0.9);
        assert!(low <= said.estimate && said.estimate <= high, "{low} {} {high}", said.estimate);
    }
}

/// Numbers beyond what can be computed with are all the same one: then nothing is left that varies.
#[test]
fn numbers_beyond_all_measure_leave_a_constant() {
    let rows = (1..9).map(|index| {
        row(vec![Value::Real(1e103 * f64::from(index))], f64::from(index), Scale::Sd, index as u64)
    });
    let dataset = Dataset::new(Target::Walltime, columns(&["n"]), rows.collect()).unwrap();
    assert!(build(&dataset, &BuildOptions::default()).is_ok());
}
