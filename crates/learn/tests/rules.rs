//! Rules that hold whatever the data: test rows are not seen, killed runs do not train, threads and
//! order do not matter, the table is whole.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Noise, case, columns, row, sweep};
use harp_core::{Dataset, Observed, Policy, Row, Scale, Target, Value};
use harp_learn::{AdjustmentKind, BuildOptions, Dropped, LearnError, Mix, ModelKind, build};

#[test]
fn test_rows_change_nothing() {
    let dataset = sweep(1, 0.05, 1);
    let mut other = dataset.clone();
    for row in other.rows.iter_mut().filter(|row| row.scale == Scale::Test) {
        row.observed = Observed::Exact(1e9);
        row.cells = vec![Some(Value::Integer(5)), Some(Value::from("odd")), None];
    }
    let without = dataset.filtered(|row| row.scale != Scale::Test);
    for policy in Policy::ALL {
        let options = BuildOptions { policy, ..BuildOptions::default() };
        let model = build(&dataset, &options).unwrap();
        assert_eq!(model, build(&other, &options).unwrap());
        assert_eq!(model, build(&without, &options).unwrap());
    }
}

#[test]
fn any_number_of_threads_gives_the_same_model() {
    let dataset = sweep(2, 0.05, 2);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let model = pool.install(|| build(&dataset, &BuildOptions::default()).unwrap());
        harp_learn::ModelFile::new("euler", "harp test", vec![model]).to_text().unwrap()
    };
    assert_eq!(with(1), with(2));
    assert_eq!(with(2), with(3));
}

#[test]
fn the_order_of_the_rows_does_not_matter() {
    let mut dataset = sweep(3, 0.05, 2);
    let killed =
        row(vec![Value::Integer(256_000), Value::from("pow"), Value::Integer(1)], 4.0, Scale::Fs, 900);
    dataset.rows.push(Row { observed: Observed::AtLeast(4.0), ..killed.clone() });
    dataset.rows.push(Row { observed: Observed::AtLeast(7.0), group: 901, ..killed });
    let mut other = dataset.clone();
    other.rows.reverse();
    other.rows.swap(3, 11);
    for policy in [Policy::Cost, Policy::Upp { per_mille: 50 }] {
        let options = BuildOptions { policy, ..BuildOptions::default() };
        assert_eq!(build(&dataset, &options).unwrap(), build(&other, &options).unwrap());
    }
}

#[test]
fn the_table_holds_every_model_mix_and_adjustment() {
    let model = build(&sweep(1, 0.05, 1), &BuildOptions::default()).unwrap();
    for kind in ModelKind::ALL {
        let mixes = if kind.in_every_mix() { Mix::ALL.to_vec() } else { vec![Mix::EVERYTHING] };
        for mix in mixes {
            let rows: Vec<_> = model.candidates.iter().filter(|c| c.model == kind && c.mix == mix).collect();
            match rows.as_slice() {
                [excluded] => assert!(excluded.excluded.is_some() && excluded.scores.is_none()),
                scored => {
                    assert_eq!(scored.len(), AdjustmentKind::ALL.len());
                    let study = scored.iter().find(|c| c.adjustment.kind == AdjustmentKind::Study).unwrap();
                    let plain = scored.iter().find(|c| c.adjustment.kind == AdjustmentKind::None).unwrap();
                    let up_mape = plain.scores.as_ref().unwrap().up_mape.unwrap_or(0.0);
                    assert!((study.adjustment.factor - (1.0 + up_mape / 100.0)).abs() < 1e-12);
                    // The same runs judge every candidate: 8 alone, 8 with all of their size, and, as they
                    // are of two sizes, 8 with all others, if it can be fitted without them.
                    let cases = if kind == ModelKind::CurvesProcess { 16 } else { 24 };
                    assert!(scored.iter().all(|c| c.scores.as_ref().unwrap().cases == cases), "{kind}");
                }
            }
        }
    }
    let floor = [ModelKind::Linear, ModelKind::Tree, ModelKind::SmallNetwork];
    assert!(floor.iter().all(|kind| model.candidates.iter().any(|c| c.model == *kind && c.scores.is_some())));
    assert!(model.explanation.contains("fitted again on all 24 scaled-down and 8 full-scale runs"));
}

#[test]
fn policies_choose_by_their_own_rule() {
    let dataset = sweep(4, 0.1, 1);
    let with = |policy| build(&dataset, &BuildOptions { policy, ..BuildOptions::default() }).unwrap();
    let mae = with(Policy::Mae);
    let lowest =
        mae.candidates.iter().filter_map(|c| c.scores.as_ref()).map(|s| s.mae).fold(f64::MAX, f64::min);
    assert_eq!(mae.winner().unwrap().scores.as_ref().unwrap().mae, lowest);
    let wtm = with(Policy::Wtm);
    let chosen = wtm.winner().unwrap().scores.as_ref().unwrap();
    for scores in wtm.candidates.iter().filter_map(|c| c.scores.as_ref()) {
        assert!(scores.upp > chosen.upp || scores.ov_mape.unwrap_or(0.0) >= chosen.ov_mape.unwrap_or(0.0));
        assert!(scores.upp >= chosen.upp);
    }
    let cost = with(Policy::Cost);
    assert_eq!(cost.winner().unwrap().adjustment.factor, 1.0);
}

#[test]
fn killed_repetitions_of_finished_runs_do_not_train_but_warn() {
    let dataset = sweep(6, 0.03, 1);
    let plain = build(&dataset, &BuildOptions::default()).unwrap();
    let mut killed = dataset.clone();
    let cells = vec![Value::Integer(128_000), Value::from("pow"), Value::Integer(1)];
    let bound = |seconds: f64| Row {
        observed: Observed::AtLeast(seconds),
        ..row(cells.clone(), 1.0, Scale::Fs, 777)
    };
    killed.rows.push(bound(1e-6));
    let calm = build(&killed, &BuildOptions::default()).unwrap();
    assert_eq!((calm.censored_runs, calm.warnings.len()), (1, 0));
    assert_eq!(calm.candidates, plain.candidates);
    killed.rows.push(bound(1e6));
    let warned = build(&killed, &BuildOptions::default()).unwrap();
    assert_eq!(warned.censored_runs, 2);
    assert!(warned.warnings[0].starts_with("1 of 2 runs killed at a limit"), "{:?}", warned.warnings);
    let case = case(&[("n", Value::Integer(9000)), ("method", "pow".into()), ("threads", Value::Integer(2))]);
    assert_eq!(warned.predict(&case).unwrap(), plain.predict(&case).unwrap());
}

#[test]
fn too_little_is_refused_with_advice() {
    let few = sweep(1, 0.05, 3).filtered(|row| row.group <= 3);
    let error = build(&few, &BuildOptions::default()).unwrap_err();
    let LearnError::NotEnoughEvidence { configurations, runs, ref advice, .. } = error else {
        panic!("{error}")
    };
    assert_eq!((configurations, runs), (3, 9));
    assert!(advice.contains("run at least 1 more") && advice.contains("`n`"), "{advice}");
    let none = few.filtered(|_| false);
    assert!(matches!(
        build(&none, &BuildOptions::default()),
        Err(LearnError::NotEnoughEvidence { runs: 0, .. })
    ));
}

#[test]
fn dropped_features_are_named_and_not_asked_for() {
    let mut dataset = sweep(1, 0.02, 1);
    dataset.columns.extend(columns(&["site", "n_twice", "sum_of_both"]));
    for row in &mut dataset.rows {
        let number = |cell: &Option<Value>| cell.as_ref().and_then(Value::as_number).unwrap();
        let (n, threads) = (number(&row.cells[0]), number(&row.cells[2]));
        row.cells.extend([
            Some(Value::from("here")),
            Some(Value::Real(2.0 * n)),
            Some(Value::Real(n + 500.0 * threads)),
        ]);
    }
    let model = build(&dataset, &BuildOptions::default()).unwrap();
    let dropped = |name: &str| model.features.iter().find(|f| f.name == name).unwrap().dropped.clone();
    assert_eq!(dropped("site"), Some(Dropped::Constant));
    assert_eq!(dropped("n_twice"), Some(Dropped::Duplicate { of: "n".into() }));
    assert_eq!(dropped("sum_of_both"), Some(Dropped::Collinear { with: vec!["n".into(), "threads".into()] }));
    assert_eq!(dropped("n"), None);
    let mut asked =
        case(&[("n", Value::Integer(9000)), ("method", "pow".into()), ("threads", Value::Integer(2))]);
    assert!(model.predict(&asked).unwrap().out_of_range.is_empty());
    asked.insert("site".into(), "elsewhere".into());
    assert_eq!(model.predict(&asked).unwrap().out_of_range[0].feature, "site");
    asked.remove("n");
    assert_eq!(model.predict(&asked), Err(LearnError::MissingFeature { feature: "n".into() }));
    asked.insert("n".into(), "many".into());
    assert!(matches!(model.predict(&asked), Err(LearnError::NotANumber { .. })));
    asked.insert("n".into(), Value::Real(f64::NAN));
    assert!(matches!(model.predict(&asked), Err(LearnError::NotFinite { .. })));
}

#[test]
fn outliers_are_named_and_full_scale_runs_stay() {
    let mut dataset = sweep(1, 0.02, 1);
    if let Observed::Exact(target) = &mut dataset.rows[7].observed {
        *target *= 40.0;
    }
    let fs = dataset.rows.iter().position(|row| row.scale == Scale::Fs).unwrap();
    if let Observed::Exact(target) = &mut dataset.rows[fs].observed {
        *target *= 40.0;
    }
    let model = build(&dataset, &BuildOptions::default()).unwrap();
    assert_eq!(model.evidence.full_scale_runs, 8);
    assert_eq!(model.evidence.scaled_down_runs, 23, "{:?}", model.warnings);
    assert!(model.warnings[0].contains("a run of n=2000 method=sum threads=2"), "{:?}", model.warnings);
    let kept = build(&dataset, &BuildOptions { remove_outliers: false, ..BuildOptions::default() }).unwrap();
    assert_eq!(kept.evidence.scaled_down_runs, 24);
}

#[test]
fn clean_runs_of_another_shape_than_a_power_law_are_not_left_out() {
    for seed in 0..6 {
        let mut random = Noise::new(seed);
        let mut one_of = |values: &[f64]| values[(random.uniform() * values.len() as f64) as usize];
        let mut sum_of_two = |group: u64, a: &[f64], scale: Scale| {
            let x = [one_of(a), one_of(&[1.0, 2.0, 4.0, 8.0]), one_of(&[10.0, 100.0, 1000.0])];
            let dumps = one_of(&[1.0, 5.0, 25.0]);
            let seconds = 1e-5 * x[0].powf(1.5) * x[1] + 1e-4 * x[2] * dumps;
            row([x[0], x[1], x[2], dumps].map(Value::Real).to_vec(), seconds, scale, group)
        };
        let small = [100.0, 200.0, 400.0, 800.0];
        let mut rows: Vec<_> = (0..80).map(|group| sum_of_two(group, &small, Scale::Sd)).collect();
        rows.extend((80..86).map(|group| sum_of_two(group, &[3200.0, 6400.0], Scale::Fs)));
        let dataset = Dataset::new(Target::Walltime, columns(&["a", "b", "c", "d"]), rows).unwrap();
        let model = build(&dataset, &BuildOptions::default()).unwrap();
        let left_out = model.warnings.iter().find(|warning| warning.contains("left out"));
        assert_eq!(left_out, None, "seed {seed}");
    }
}

/// One full-scale run of which the size is not known, or not believable, does no more harm than if it was not there.
#[test]
fn runs_of_which_a_number_is_not_known_are_left_out() {
    let whole = sweep(1, 0.03, 2);
    let place = whole.rows.iter().position(|row| row.scale == Scale::Fs).unwrap();
    let without = {
        let mut dataset = whole.clone();
        dataset.rows.remove(place);
        build(&dataset, &BuildOptions::default()).unwrap()
    };
    let name = &whole.columns[0].name;
    for (cell, words) in [(None, "empty"), (Some(Value::Real(-5.0)), "negative, and positive in all others")]
    {
        let mut dataset = whole.clone();
        dataset.rows[place].cells[0] = cell;
        let model = build(&dataset, &BuildOptions::default()).unwrap();
        let expected = format!("left out 1 run: `{name}` is {words}");
        assert!(model.warnings.contains(&expected), "{:?}", model.warnings);
        let said = |model: &harp_learn::TargetModel| {
            let evaluation = model.evaluate(&whole, |row| row.scale == Scale::Sd).unwrap();
            evaluation.cases.iter().map(|case| case.prediction.clone()).collect::<Vec<_>>()
        };
        assert_eq!(said(&model), said(&without));
        if words == "empty" {
            let nothing = case(&[("method", Value::from("pow")), ("threads", Value::Integer(1))]);
            assert!(model.predict(&nothing).is_ok() && without.predict(&nothing).is_err());
        }
    }
}

/// Each column is empty in few runs, but all of them together in nearly all; or in all full-scale runs.
#[test]
fn runs_with_empty_cells_are_kept_where_they_are_many() {
    let whole = sweep(1, 0.03, 2);
    let mut dataset = whole.clone();
    dataset.columns.extend(columns(&["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]));
    for (index, row) in dataset.rows.iter_mut().enumerate() {
        row.cells
            .extend((0..12).map(|column| (index % 12 != column).then_some(Value::Integer(column as i64))));
    }
    let model = build(&dataset, &BuildOptions::default()).unwrap();
    assert!(model.evidence.scaled_down_runs >= 40, "{:?} {:?}", model.evidence, model.warnings);

    let mut dataset = whole;
    dataset.columns.extend(columns(&["nodes"]));
    for row in &mut dataset.rows {
        row.cells.push((row.scale != Scale::Fs).then_some(Value::Integer(1)));
    }
    let mut large = 0;
    dataset.rows.retain(|row| {
        large += usize::from(row.scale == Scale::Fs);
        row.scale != Scale::Fs || large <= 4
    });
    let model = build(&dataset, &BuildOptions::default()).unwrap();
    assert_eq!(model.evidence.full_scale_runs, 4, "{:?}", model.warnings);
}

/// Half of the runs are slow for a reason nobody knows: no law and no witness speaks for either half.
#[test]
fn runs_of_two_kinds_are_learned_from() {
    for factor in [20.0, 100.0, 1000.0] {
        let mut rows = Vec::new();
        for (i, n) in [100, 200, 400, 800, 1600, 3200, 6400, 12800].into_iter().enumerate() {
            for (j, threads) in [1, 2, 4, 8].into_iter().enumerate() {
                let slow = if (i + j) % 2 == 0 { factor } else { 1.0 };
                let seconds = 1e-3 * f64::from(n) / f64::from(threads) * slow;
                let cells = [n, threads].map(|number: i32| Value::Integer(number.into())).to_vec();
                rows.push(row(cells, seconds, Scale::Sd, rows.len() as u64));
            }
        }
        rows.push(row([150, 3].map(Value::Integer).to_vec(), 0.05, Scale::Sd, 90));
        rows.push(row([300, 3].map(Value::Integer).to_vec(), 0.1, Scale::Sd, 91));
        let dataset = Dataset::new(Target::Walltime, columns(&["n", "threads"]), rows).unwrap();
        build(&dataset, &BuildOptions::default()).unwrap();
    }
}

#[test]
fn components_are_optional_and_work() {
    let options = BuildOptions { principal_components: true, ..BuildOptions::default() };
    let dataset = sweep(1, 0.02, 1);
    let model = build(&dataset, &options).unwrap();
    assert_ne!(model, build(&dataset, &BuildOptions::default()).unwrap());
    assert!(model.evaluate(&dataset, |row| row.scale == Scale::Test).unwrap().estimate.unwrap().mape < 30.0);
}

#[test]
fn only_full_scale_runs_are_enough() {
    let mut dataset = sweep(1, 0.02, 1);
    dataset.rows.iter_mut().for_each(|row| row.scale = Scale::Fs);
    let model = build(&dataset, &BuildOptions::default()).unwrap();
    assert!(model.candidates.iter().filter(|c| c.mix == Mix::ALL[0]).all(|c| c.scores.is_none()));
    assert!(model.winner().unwrap().scores.as_ref().unwrap().mape < 30.0);
    assert!(model.explanation.ends_with("fitted again on all 44 full-scale runs."), "{}", model.explanation);
}

#[test]
fn wide_tables_and_few_rows_give_an_answer() {
    let names: Vec<String> = (0..200).map(|index| format!("f{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut random = Noise::new(5);
    let rows = (0..30)
        .map(|group| {
            let cells: Vec<Value> = (0..200).map(|_| Value::Real(1.0 + 9.0 * random.uniform())).collect();
            let target = 3.0 * cells[0].as_number().unwrap();
            row(cells, target, if group < 24 { Scale::Sd } else { Scale::Fs }, group)
        })
        .collect();
    let dataset = Dataset::new(Target::Walltime, columns(&names), rows).unwrap();
    let model = build(&dataset, &BuildOptions::default()).unwrap();
    let prediction =
        model.predict(&names.iter().map(|name| ((*name).to_owned(), Value::Real(5.0))).collect()).unwrap();
    assert!(prediction.estimate > 0.0 && prediction.estimate.is_finite());
}

/// A repetition slowed down by something else neither teaches nor is forgotten, at either scale.
#[test]
fn disturbed_repetitions_are_named_and_their_twins_stay() {
    let mut dataset = sweep(1, 0.02, 2);
    let calm = build(&dataset, &BuildOptions::default()).unwrap();
    let fs = dataset.rows.iter().position(|row| row.scale == Scale::Fs).unwrap();
    for row in [7, fs] {
        if let Observed::Exact(target) = &mut dataset.rows[row].observed {
            *target *= 1.5;
        }
    }
    let model = build(&dataset, &BuildOptions::default()).unwrap();
    assert_eq!((model.evidence.scaled_down_runs, model.evidence.full_scale_runs), (47, 15));
    assert!(model.warnings[0].starts_with("2 runs took up to 1.5"), "{:?}", model.warnings);
    let asked =
        case(&[("n", Value::Integer(100_000)), ("method", "pow".into()), ("threads", Value::Integer(1))]);
    let (before, after) = (calm.predict(&asked).unwrap(), model.predict(&asked).unwrap());
    assert!((after.estimate / before.estimate - 1.0).abs() < 0.05, "{} {}", before.estimate, after.estimate);
    assert!(after.distribution.quantile(0.99) > 1.1 * before.distribution.quantile(0.99));
    dataset.target = Target::PeakMemory;
    assert_eq!(build(&dataset, &BuildOptions::default()).unwrap().evidence.full_scale_runs, 16);
}

/// A target that does not depend on anything has no law but its middle.
#[test]
fn a_flat_target_is_a_constant() {
    let mut dataset = sweep(1, 0.02, 2);
    let mut random = Noise::new(3);
    for row in &mut dataset.rows {
        row.observed = Observed::Exact(2e6 * (1.0 + 0.05 * (random.uniform() - 0.5)));
    }
    dataset.target = Target::PeakMemory;
    let model = build(&dataset, &BuildOptions::default()).unwrap();
    assert_eq!(model.winner().unwrap().model, ModelKind::Constant);
    assert!(model.formula.is_some_and(|formula| formula.starts_with("T ≈ ")));
}

/// Models that level off beyond the largest run may win inside the measured range; beyond it others
/// speak.
#[test]
fn predictions_go_on_growing_beyond_the_largest_run() {
    for seed in 0..8 {
        let model = build(&sweep(seed, 0.3, 1), &BuildOptions::default()).unwrap();
        let predict = |n: i64| {
            let asked =
                case(&[("n", Value::Integer(n)), ("method", "pow".into()), ("threads", Value::Integer(1))]);
            model.predict(&asked).unwrap().estimate
        };
        let times: Vec<f64> = [128_000, 256_000, 512_000, 1_024_000].map(predict).to_vec();
        assert!(
            times.windows(2).all(|pair| pair[1] > 1.3 * pair[0]),
            "{seed} {times:?} {}",
            model.explanation
        );
    }
}

/// However the few runs were judged, without one at full scale a little more is asked for.
#[test]
fn without_full_scale_runs_the_request_is_larger_for_the_same_cost() {
    let dataset = sweep(3, 0.1, 1).filtered(|row| row.scale == Scale::Sd);
    let options = BuildOptions { policy: Policy::Cost, ..BuildOptions::default() };
    let model = build(&dataset, &options).unwrap();
    assert_eq!(model.evidence.full_scale_runs, 0);
    let mut seen = model.clone();
    seen.evidence.full_scale_runs = 1;
    let cells = dataset.columns.iter().zip(&dataset.rows[0].cells);
    let wanted = cells.map(|(column, cell)| (column.name.clone(), cell.clone().unwrap())).collect();
    let request = |model: &harp_learn::TargetModel| model.predict(&wanted).unwrap().request;
    assert!(request(&model) > request(&seen), "{} {}", request(&model), request(&seen));
}
