//! Lines, bars, jobs on processors and the page of a document from good, odd and hostile data.

use harp_report::{
    AxisView, BarGroup, BarsView, Canvas, Column, DocumentView, GanttBar, GanttView, LineSeries, LinesView,
    Part, Quantity, SectionView, Table, WaterfallView, bars_chart, document_page, gantt_chart, lines_chart,
    waterfall_chart,
};

mod wellformed;

const HOSTILE: &str = "</title><script>alert('&\"')</script>\u{202e}";

fn canvases() -> [Canvas; 3] {
    [Canvas::default(), Canvas::inline("a", 380.0, 300.0), Canvas::standalone(200.0, 120.0)]
}

fn lines(series: Vec<LineSeries>) -> LinesView {
    LinesView {
        title: HOSTILE.to_owned(),
        subtitle: HOSTILE.to_owned(),
        x: AxisView::logarithmic(HOSTILE, Quantity::Seconds),
        y: AxisView::linear(HOSTILE, Quantity::Percent),
        series,
    }
}

fn bars(series: usize, groups: Vec<BarGroup>) -> BarsView {
    BarsView {
        title: HOSTILE.to_owned(),
        subtitle: String::new(),
        y: AxisView::linear("jobs", Quantity::Number),
        series: (0..series).map(|index| format!("{HOSTILE} {index}")).collect(),
        groups,
    }
}

fn gantt(jobs: Vec<GanttBar>) -> GanttView {
    GanttView {
        title: HOSTILE.to_owned(),
        subtitle: String::new(),
        time_name: "time".to_owned(),
        length: 100.0,
        processors: 8,
        jobs,
    }
}

fn assert_sound(markup: &str) {
    assert_eq!(wellformed::check(markup), Ok(()), "{markup}");
    assert!(!markup.contains("<script") && !markup.contains("NaN"), "{markup}");
    assert!(markup.len() < 2_000_000, "{} bytes", markup.len());
}

#[test]
fn parts_that_add_up_are_sound_and_stand_on_each_other() {
    let view = |parts: &[(&str, f64)], limits: &[f64]| WaterfallView {
        title: HOSTILE.to_owned(),
        subtitle: String::new(),
        y: AxisView::linear("memory", Quantity::Bytes),
        parts: parts.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        total: "all".to_owned(),
        limits: limits.iter().map(|limit| (HOSTILE.to_owned(), *limit)).collect(),
    };
    for canvas in canvases() {
        assert!(waterfall_chart(&view(&[], &[]), &canvas).contains("no data to show"));
        for parts in [vec![(HOSTILE, 1e9)], vec![("a", f64::NAN), ("b", -1.0), ("c", 1e300)]] {
            assert_sound(&waterfall_chart(&view(&parts, &[f64::INFINITY, 5e9]), &canvas));
        }
    }
    let drawn = waterfall_chart(&view(&[("a", 3.0 * 1024.0), ("b", 1024.0)], &[]), &Canvas::default());
    for text in [">3.00 KiB<", ">1.00 KiB<", ">4.00 KiB<"] {
        assert!(drawn.contains(text), "{drawn}");
    }
}

#[test]
fn lines_are_sound_whatever_the_points() {
    let odd = vec![(f64::NAN, 1.0), (0.0, f64::INFINITY), (-5.0, 2.0), (1e300, -1e300)];
    let many: Vec<(f64, f64)> = (0..50_000).map(|i| (f64::from(i), f64::from(i % 100))).collect();
    let series = |points| LineSeries { name: HOSTILE.to_owned(), points };
    for canvas in canvases() {
        assert!(lines_chart(&lines(vec![]), &canvas).contains("no data to show"));
        for series in [vec![], vec![series(odd.clone()); 9], vec![series(many.clone())]] {
            assert_sound(&lines_chart(&lines(series), &canvas));
        }
        assert_keys(&canvas);
    }
}

/// A key names every line where there are several, and none where there is one.
fn assert_keys(canvas: &Canvas) {
    let named = |name: &str| LineSeries { name: name.to_owned(), points: vec![(1.0, 2.0), (3.0, 4.0)] };
    let two = lines_chart(&lines(vec![named("first"), named("second")]), canvas);
    assert!(two.contains(">first</text>") && two.contains(">second</text>"));
    assert!(!lines_chart(&lines(vec![named("first")]), canvas).contains(">first</text>"));
}

#[test]
fn bars_reach_from_the_ground_to_their_value() {
    let group = |name: &str, values: &[f64]| BarGroup {
        name: name.to_owned(),
        values: values.iter().map(|&value| Some(value)).collect(),
    };
    let chart = bars_chart(&bars(1, vec![group("a", &[1.0]), group("b", &[2.0])]), &Canvas::default());
    assert_sound(&chart);
    let heights: Vec<f64> = chart
        .lines()
        .filter(|line| line.contains("<rect class=\"fill\""))
        .filter_map(|line| line.split("height=\"").nth(1)?.split('"').next()?.parse().ok())
        .collect();
    assert_eq!(heights.len(), 2, "{chart}");
    assert!((heights[1] - 2.0 * heights[0]).abs() < 0.3, "{heights:?}");
    for canvas in canvases() {
        let odd = vec![group(HOSTILE, &[f64::NAN, -3.0, 1e300]), BarGroup::default()];
        assert_sound(&bars_chart(&bars(3, odd), &canvas));
        assert_sound(&bars_chart(&bars(0, vec![]), &canvas));
        assert_sound(&bars_chart(&bars(1, vec![group("x", &[1.0]); 5000]), &canvas));
    }
}

#[test]
fn jobs_outside_the_window_are_not_drawn() {
    let job = |name: &str, start: f64, end: f64| GanttBar {
        name: name.to_owned(),
        start,
        end,
        processors: vec![(0, 2), (5, 1)],
    };
    let jobs = vec![job("inside", 10.0, 50.0), job("before", -20.0, -10.0), job("after", 100.0, 120.0)];
    let chart = gantt_chart(&gantt(jobs), &Canvas::default());
    assert_sound(&chart);
    assert_eq!(chart.matches("<rect class=\"solid soft\"").count(), 2, "{chart}");
    assert!(!chart.contains("before") && !chart.contains("after"));
    for canvas in canvases() {
        assert_sound(&gantt_chart(&gantt(vec![]), &canvas));
        assert_sound(&gantt_chart(&gantt(vec![job(HOSTILE, f64::NAN, 1e300); 3]), &canvas));
        assert_sound(&gantt_chart(&gantt(vec![job("x", 0.0, 9.0); 20_000]), &canvas));
    }
}

#[test]
fn names_below_bars_are_evenly_spaced() {
    let hours =
        (0..24).map(|hour| BarGroup { name: format!("h{hour:02}"), values: vec![Some(1.0)] }).collect();
    let chart = bars_chart(&bars(1, hours), &Canvas::inline("a", 380.0, 300.0));
    let named: Vec<usize> = (0..24).filter(|hour| chart.contains(&format!(">h{hour:02}</text>"))).collect();
    assert!(named.len() > 3 && named.len() < 24, "{named:?}");
    assert!(named.windows(3).all(|three| three[1] - three[0] == three[2] - three[1]), "{named:?}");
}

#[test]
fn a_window_of_time_ends_where_the_picture_ends() {
    let job = GanttBar { name: "whole".to_owned(), start: 0.0, end: 100.0, processors: vec![(0, 8)] };
    let chart = gantt_chart(&gantt(vec![job]), &Canvas::standalone(400.0, 300.0));
    // the axis ends 10 before the edge of 16
    let rectangle = chart.split("<rect class=\"solid soft\"").nth(1).unwrap().split("/>").next().unwrap();
    let number = |key: &str| {
        let text = rectangle.split(&format!(" {key}=\"")).nth(1).unwrap().split('"').next().unwrap();
        text.parse::<f64>().unwrap()
    };
    assert!((number("x") + number("width") - 374.0).abs() < 0.11, "{rectangle}");
}

#[test]
fn a_document_holds_its_parts_in_order_and_nothing_becomes_markup() {
    let table = Table::new([Column::left(HOSTILE)]).row([HOSTILE]);
    let parts = vec![
        Part::Text(format!("first {HOSTILE}")),
        Part::Statements(vec![(Some(true), format!("second {HOSTILE}")), (None, "unknown".to_owned())]),
        Part::Lines(lines(vec![])),
        Part::Bars(bars(1, vec![])),
        Part::Table("third".to_owned(), table),
    ];
    let page = document_page(&DocumentView {
        title: HOSTILE.to_owned(),
        kicker: HOSTILE.to_owned(),
        headline: HOSTILE.to_owned(),
        facts: vec![(HOSTILE.to_owned(), HOSTILE.to_owned())],
        warnings: vec![HOSTILE.to_owned()],
        sections: vec![SectionView { title: HOSTILE.to_owned(), parts }],
        made: vec![(HOSTILE.to_owned(), HOSTILE.to_owned())],
        command: HOSTILE.to_owned(),
        harp_version: HOSTILE.to_owned(),
    });
    assert_sound(&page);
    let places: Vec<Option<usize>> =
        ["first", "second", "third"].into_iter().map(|word| page.find(word)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?}");
    assert_sound(&document_page(&DocumentView::default()));
}
