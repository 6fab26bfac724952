//! Charts and pages from good, odd and hostile data: always well-formed, never unbounded, and
//! nothing in a name becomes markup.

use std::collections::BTreeMap;

use harp_core::{Allocation, Evidence, Money, Observed, Scale, Seconds, Target, Value};
use harp_report::{
    AxisView, CandidatesView, Canvas, CaseView, CurvePoint, Estimate, MeasuredPoint, PlanView, Quantity,
    RunView, ScalingSeries, ScalingView, Style, TargetView, TestPoint, accuracy_chart, candidates_chart,
    cases_table, pareto_chart, plan_table, run_page, scaling_chart, scaling_miniature, sparkline, to_json,
    verdict_sentence,
};

#[allow(dead_code)]
mod sample;
mod wellformed;

fn canvases() -> [Canvas; 3] {
    [Canvas::default(), Canvas::inline("a", 380.0, 400.0), Canvas::standalone(200.0, 120.0)]
}

/// All pictures of a run, and the page.
fn everything(run: &RunView) -> Vec<String> {
    let mut all = vec![run_page(run)];
    for canvas in canvases() {
        for target in &run.targets {
            all.extend(target.scaling.iter().map(|view| scaling_chart(view, &canvas)));
            all.push(accuracy_chart(target, &canvas));
            all.extend(target.candidates.iter().map(|view| candidates_chart(view, &canvas)));
        }
        all.extend(run.plan.iter().map(|view| pareto_chart(view, &canvas)));
    }
    all
}

fn assert_sound(run: &RunView) {
    for markup in everything(run) {
        assert_eq!(wellformed::check(&markup), Ok(()), "{markup}");
        assert!(markup.len() < 2_000_000, "{} bytes", markup.len());
    }
    assert!(to_json(run).is_ok());
}

#[test]
fn a_realistic_run_is_sound() {
    assert_sound(&sample::run());
}

#[test]
fn an_empty_run_is_sound() {
    let mut run = sample::run();
    run.targets = vec![TargetView::new(Target::Walltime, 0.9, Evidence::default(), vec![])];
    run.targets[0].scaling = vec![ScalingView { series: vec![], measured_up_to: None, ..sample::scaling() }];
    run.targets[0].candidates =
        Some(CandidatesView { candidates: vec![], ..sample::candidates(Target::CpuTime) });
    run.plan = Some(PlanView { options: vec![], job_script: None, reasons: vec![], ..sample::plan() });
    run.hosts.clear();
    run.warnings.clear();
    assert_sound(&run);
    assert!(scaling_chart(&run.targets[0].scaling[0], &Canvas::default()).contains("no data to show"));
    run.targets.clear();
    run.plan = None;
    assert_sound(&run);
    assert_eq!(verdict_sentence(&run), "Nothing was predicted.");
}

fn single(x: f64, y: f64) -> ScalingView {
    let estimate = Estimate::new(y, y, y);
    ScalingView {
        series: vec![ScalingSeries {
            name: "one".into(),
            measured: vec![MeasuredPoint { x, y: Observed::Exact(y), scale: Scale::Sd, moved: false }],
            curve: vec![CurvePoint { x, y: estimate }],
            tests: vec![TestPoint { x, predicted: estimate, actual: Some(Observed::Exact(y)) }],
        }],
        measured_up_to: Some(x),
        ..sample::scaling()
    }
}

#[test]
fn one_point_equal_points_and_impossible_numbers_are_sound() {
    let odd = [
        0.0,
        -1.0,
        1.0,
        1e-300,
        1e300,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    for x in odd {
        for y in odd {
            let view = single(x, y);
            let mut twice = view.clone();
            twice.series.push(view.series[0].clone());
            let mut mixed = sample::scaling();
            mixed.series.extend(view.series.clone());
            for view in [view, twice, mixed] {
                for canvas in canvases() {
                    wellformed::check(&scaling_chart(&view, &canvas)).unwrap();
                }
                for style in [Style::plain(), Style::ascii(), Style::coloured()] {
                    let drawn = scaling_miniature(&view, 60, 12, &style);
                    assert!(style.colour || drawn.lines().all(|line| line.chars().count() <= 60), "{drawn}");
                    assert!(drawn.lines().count() <= 12 + 4, "{drawn}");
                }
            }
            let case = |value: f64| {
                let features = BTreeMap::from([("x".to_owned(), Value::Real(value))]);
                CaseView::from_parts(features, Estimate::new(x, y, x), y, Some(Observed::Exact(value)))
            };
            let target = TargetView::new(
                Target::PeakMemory,
                0.9,
                Evidence::default(),
                vec![case(x), case(y), case(1.0)],
            );
            wellformed::check(&accuracy_chart(&target, &Canvas::default())).unwrap();
            cases_table(&target).to_terminal(40, &Style::plain());
            let mut plan = sample::plan();
            plan.options[0].walltime = Estimate::new(x, y, x);
            plan.options[0].price = Money(y);
            plan.max_time = Some(Seconds(x));
            plan.max_cost = Some(Money(y));
            wellformed::check(&pareto_chart(&plan, &Canvas::default())).unwrap();
            plan_table(&plan).to_terminal(40, &Style::plain());
        }
    }
}

#[test]
fn thousands_of_points_keep_the_picture_small() {
    let mut run = sample::run();
    let many = |index: u32| 1.0 + f64::from(index % 9973);
    let series = &mut run.targets[0].scaling[0].series[0];
    series.measured = (0..50_000)
        .map(|i| MeasuredPoint {
            x: many(i),
            y: Observed::Exact(many(i * 7 + 1)),
            scale: Scale::Sd,
            moved: false,
        })
        .collect();
    series.curve =
        (1..50_000).map(|i| CurvePoint { x: f64::from(i), y: Estimate::new(1.0, 0.5, 2.0) }).collect();
    series.tests = (0..20_000)
        .map(|i| TestPoint { x: many(i), predicted: Estimate::new(many(i * 3), 1.0, 1e4), actual: None })
        .collect();
    let case = run.targets[0].cases[0].clone();
    run.targets[0].cases = (0..20_000)
        .map(|i| {
            let estimate = Estimate::new(many(i), 1.0, 1e4);
            CaseView::from_parts(case.features.clone(), estimate, 1.0, Some(Observed::Exact(many(i * 11))))
        })
        .collect();
    if let Some(plan) = &mut run.plan {
        let option = plan.options[0].clone();
        plan.options = (0..20_000)
            .map(|i| {
                let mut option = option.clone();
                option.allocation = Allocation { cores: Some(i), ..Allocation::default() };
                option.walltime = Estimate::new(many(i), 1.0, 1e4);
                option.price = Money(many(i * 13));
                option.on_front = i % 2 == 0;
                option
            })
            .collect();
    }
    for markup in everything(&run) {
        wellformed::check(&markup).unwrap();
        assert!(markup.len() < 6_000_000, "{} bytes", markup.len());
    }
    for svg in [
        scaling_chart(&run.targets[0].scaling[0], &Canvas::default()),
        accuracy_chart(&run.targets[0], &Canvas::default()),
        pareto_chart(run.plan.as_ref().unwrap(), &Canvas::default()),
    ] {
        assert!(svg.len() < 1_500_000, "{} bytes", svg.len());
    }
}

const HOSTILE: &str =
    "</title></style></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'`]]>\u{1b}[31m\u{0}";

#[test]
fn nothing_in_a_name_becomes_markup() {
    let mut run = sample::run();
    run.application = HOSTILE.to_owned();
    run.warnings = vec![HOSTILE.to_owned()];
    run.hosts[0].name = HOSTILE.to_owned();
    run.hosts[0].processor = Some(HOSTILE.to_owned());
    run.provenance.experiment = HOSTILE.to_owned();
    run.provenance.command = HOSTILE.to_owned();
    run.provenance.harp_version = HOSTILE.to_owned();
    run.provenance.details = vec![(HOSTILE.to_owned(), HOSTILE.to_owned())];
    for target in &mut run.targets {
        target.target = Target::Metric(HOSTILE.to_owned());
        for case in &mut target.cases {
            case.features.insert(HOSTILE.to_owned(), Value::from(HOSTILE));
        }
        for view in &mut target.scaling {
            view.title = HOSTILE.to_owned();
            view.subtitle = HOSTILE.to_owned();
            view.x = AxisView::logarithmic(HOSTILE, Quantity::Money(HOSTILE.to_owned()));
            view.y.name = HOSTILE.to_owned();
            view.series.iter_mut().for_each(|series| series.name = HOSTILE.to_owned());
        }
        if let Some(view) = &mut target.candidates {
            view.policy = HOSTILE.to_owned();
            view.reason = HOSTILE.to_owned();
            for candidate in &mut view.candidates {
                candidate.regressor = HOSTILE.to_owned();
                candidate.mix = HOSTILE.to_owned();
                candidate.note = Some(HOSTILE.to_owned());
            }
        }
    }
    let plan = run.plan.as_mut().unwrap();
    plan.site = HOSTILE.to_owned();
    plan.money_unit = HOSTILE.to_owned();
    plan.features.insert(HOSTILE.to_owned(), Value::from(HOSTILE));
    plan.reasons = vec![HOSTILE.to_owned()];
    plan.warnings = vec![HOSTILE.to_owned()];
    plan.job_script = Some(HOSTILE.to_owned());
    for option in &mut plan.options {
        option.allocation.node_type = Some(HOSTILE.to_owned());
        option.problems = vec![HOSTILE.to_owned()];
    }
    for markup in everything(&run) {
        wellformed::check(&markup).unwrap();
        for bad in ["<script", "<img", "\u{1b}", "\u{0}"] {
            assert!(!markup.contains(bad), "{bad:?} got through");
        }
    }
    for style in [Style::plain(), Style::ascii()] {
        for text in [
            cases_table(&run.targets[0]).to_terminal(100, &style),
            plan_table(run.plan.as_ref().unwrap()).to_terminal(100, &style),
            scaling_miniature(&run.targets[0].scaling[0], 80, 16, &style),
        ] {
            assert!(!text.contains('\u{1b}') && !text.contains('\u{0}'));
        }
    }
}

#[test]
fn a_page_needs_nothing_from_outside() {
    let page = run_page(&sample::run());
    for outside in ["http://", "https://", "<link", "<script", "url(http", "@import", "src="] {
        let found = page.replace("http://www.w3.org/2000/svg", "").contains(outside);
        assert!(!found, "{outside}");
    }
}

#[test]
fn sparklines_rise_with_their_values() {
    assert_eq!(sparkline(&[1.0, 2.0, 3.0, f64::NAN, 8.0], &Style::plain()), "▁▂▃ █");
    assert_eq!(sparkline(&[1.0, 1.0], &Style::plain()), "▅▅");
    assert_eq!(sparkline(&[], &Style::plain()), "");
    assert!(sparkline(&[1.0, 5.0], &Style::ascii()).is_ascii());
}
