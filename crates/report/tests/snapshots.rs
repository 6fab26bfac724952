//! Whole outputs as they were last looked at and found good.

use harp_report::{
    Canvas, Cell, Column, Style, Table, Tone, accuracy_chart, candidates_table, cases_table, plan_sentence,
    plan_table, scaling_miniature, target_sentence, to_json, verdict_sentence,
};

#[allow(dead_code)]
mod sample;

fn tricky_table() -> Table {
    Table::new([
        Column::left("Case, \"quoted\""),
        Column::right("Time").key("time_seconds"),
        Column::left("Remark"),
    ])
    .row([Cell::text("n=1, m=2"), Cell::number("3.21 s", 3.21), Cell::text("a|b <c> \"d\"").tone(Tone::Good)])
    .row([Cell::text("Zürich 日本"), Cell::missing(), Cell::text("two words that need a second line")])
    .row([Cell::text("*x*"), Cell::number("1,000 s", 1000.0)])
}

#[test]
fn one_table_in_every_form() {
    let table = tricky_table();
    insta::assert_snapshot!("table_terminal", table.to_terminal(80, &Style::plain()));
    insta::assert_snapshot!("table_terminal_wrapped", table.to_terminal(44, &Style::plain()));
    insta::assert_snapshot!("table_terminal_blocks", table.to_terminal(24, &Style::ascii()));
    insta::assert_snapshot!(
        "table_terminal_coloured",
        table.to_terminal(80, &Style::coloured()).replace('\u{1b}', "ESC")
    );
    insta::assert_snapshot!("table_markdown", table.to_markdown());
    insta::assert_snapshot!("table_csv", table.to_csv());
    insta::assert_snapshot!("table_html", table.to_html());
    insta::assert_snapshot!("table_json", to_json(&table.to_json()).unwrap());
}

#[test]
fn a_request_that_was_too_small_is_seen_to_be() {
    let mut target = sample::run().targets.swap_remove(0);
    let case = target.cases.iter_mut().find(|case| case.killed == Some(true)).unwrap();
    (case.request, case.actual) = (34.12, Some(harp_core::Observed::Exact(34.14)));
    let text = cases_table(&target).to_terminal(120, &Style::plain());
    assert!(text.contains("34.12 s") && text.contains("34.14 s"), "{text}");
}

#[test]
fn test_runs_that_did_not_finish_are_no_hits() {
    let mut target = sample::run().targets.swap_remove(0);
    for (index, case) in target.cases.iter_mut().enumerate() {
        let known = index < 2;
        case.verdict = if known { harp_report::Verdict::Hit } else { harp_report::Verdict::Unknown };
        case.killed = known.then_some(false);
    }
    let (more, said) = (target.cases.len() - 2, target_sentence(&target));
    assert!(said.starts_with("Hit: the 2 test runs that finished had"), "{said}");
    assert!(said.contains(&format!("of {more} more test runs the walltime is not known")), "{said}");
    assert!(more > 0 && said.contains("2 jobs would have finished") && !said.contains("every"), "{said}");
}

#[test]
fn tables_of_a_run() {
    let run = sample::run();
    let plan = run.plan.as_ref().unwrap();
    insta::assert_snapshot!("cases", cases_table(&run.targets[0]).to_terminal(100, &Style::plain()));
    insta::assert_snapshot!("cases_csv", cases_table(&run.targets[0]).to_csv());
    let candidates = run.targets[0].candidates.as_ref().unwrap();
    insta::assert_snapshot!("candidates", candidates_table(candidates).to_terminal(100, &Style::plain()));
    insta::assert_snapshot!(
        "candidates_narrow",
        candidates_table(candidates).to_terminal(70, &Style::plain())
    );
    insta::assert_snapshot!("plan", plan_table(plan).to_terminal(100, &Style::plain()));
    insta::assert_snapshot!(
        "sentences",
        [verdict_sentence(&run), target_sentence(&run.targets[1]), plan_sentence(plan)].join("\n")
    );
}

#[test]
fn the_curve_in_a_terminal() {
    let view = sample::scaling();
    insta::assert_snapshot!("miniature", scaling_miniature(&view, 80, 18, &Style::plain()));
    insta::assert_snapshot!("miniature_ascii", scaling_miniature(&view, 60, 14, &Style::ascii()));
}

#[test]
fn a_chart() {
    let run = sample::run();
    insta::assert_snapshot!(
        "accuracy_chart",
        accuracy_chart(&run.targets[1], &Canvas::inline("accuracy", 720.0, 460.0))
    );
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let run = sample::run();
    let tables = [
        cases_table(&run.targets[0]),
        plan_table(run.plan.as_ref().unwrap()),
        candidates_table(run.targets[0].candidates.as_ref().unwrap()),
        tricky_table(),
    ];
    for width in 30..160 {
        for table in &tables {
            for line in table.to_terminal(width, &Style::ascii()).lines() {
                assert!(line.len() <= width, "{} > {width}: {line}", line.len());
            }
        }
    }
}
