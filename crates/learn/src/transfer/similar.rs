//! How similar runs of another application are, by the features both have.

use std::collections::BTreeMap;

use harp_core::{Dataset, Row, Value};

use crate::model::case_of;

/// A row counts up to this many times as much as one that hardly counts.
const MOST_COPIES: f64 = 4.0;
/// Less similar rows do not count.
const LEAST: f64 = 0.1;

/// The features both tables have as numbers.
pub(super) fn common(target: &Dataset, source: &Dataset) -> Vec<String> {
    let is_number = |table: &Dataset, index: usize| {
        table.rows.iter().any(|row| row.cells[index].is_some())
            && table
                .rows
                .iter()
                .all(|row| row.cells[index].as_ref().is_none_or(|cell| cell.as_number().is_some()))
    };
    let numbers = |table: &Dataset| -> Vec<String> {
        let all = table.columns.iter().enumerate().filter(|(index, _)| is_number(table, *index));
        all.map(|(_, column)| column.name.clone()).collect()
    };
    let others = numbers(source);
    numbers(target).into_iter().filter(|name| others.contains(name)).collect()
}

/// The logarithms of a case's features, those that are not positive as they are.
pub(super) fn logarithms(case: &BTreeMap<String, Value>, names: &[String]) -> Vec<f64> {
    let one = |name: &String| case.get(name).and_then(Value::as_number).unwrap_or(0.0);
    names.iter().map(one).map(|value| if value > 0.0 { value.ln() } else { value }).collect()
}

/// Middle and spread of every feature over points.
pub(super) struct Scale {
    centre: Vec<f64>,
    spread: Vec<f64>,
}

impl Scale {
    pub(super) fn of(points: &[Vec<f64>]) -> Scale {
        let width = points.first().map_or(0, Vec::len);
        let count = points.len().max(1) as f64;
        let mean = |column: usize| points.iter().map(|point| point[column]).sum::<f64>() / count;
        let centre: Vec<f64> = (0..width).map(mean).collect();
        let spread = (0..width)
            .map(|column| {
                let square = points.iter().map(|point| (point[column] - centre[column]).powi(2)).sum::<f64>();
                (square / count).sqrt().max(1e-9)
            })
            .collect();
        Scale { centre, spread }
    }

    pub(super) fn standard(&self, point: &[f64]) -> Vec<f64> {
        let scaled = point.iter().zip(&self.centre).zip(&self.spread);
        scaled
            .map(|((value, centre), spread)| if *spread > 1e-8 { (value - centre) / spread } else { 0.0 })
            .collect()
    }
}

/// Mean squared distance of two points.
pub(super) fn distance(left: &[f64], right: &[f64]) -> f64 {
    let sum: f64 = left.iter().zip(right).map(|(a, b)| (a - b).powi(2)).sum();
    sum / left.len().max(1) as f64
}

/// The source's rows with the common features alone, each as often as it is similar to some row of the
/// target (those to be predicted among them: their features are known): 1/(1 + d²), d the distance to
/// the nearest in standard deviations of the logarithms. Gives the table, how many rows count, and their
/// mean similarity.
pub(super) fn weighted(target: &Dataset, source: &Dataset, names: &[String]) -> (Dataset, usize, f64) {
    let point = |table: &Dataset, row: &Row| logarithms(&case_of(&table.columns, row), names);
    let near: Vec<Vec<f64>> = target.rows.iter().map(|row| point(target, row)).collect();
    let far: Vec<Vec<f64>> = source.rows.iter().map(|row| point(source, row)).collect();
    let scale = Scale::of(&[near.clone(), far.clone()].concat());
    let near: Vec<Vec<f64>> = near.iter().map(|point| scale.standard(point)).collect();
    let mut rows = Vec::new();
    let (mut used, mut sum) = (0, 0.0);
    for (row, point) in source.rows.iter().zip(&far) {
        let point = scale.standard(point);
        let nearest = near.iter().map(|other| distance(&point, other)).fold(f64::INFINITY, f64::min);
        let similarity = 1.0 / (1.0 + nearest);
        if similarity < LEAST {
            continue;
        }
        used += 1;
        sum += similarity;
        let case = case_of(&source.columns, row);
        let kept = Row { cells: names.iter().map(|name| case.get(name).cloned()).collect(), ..row.clone() };
        let copies = (similarity * MOST_COPIES).round().max(1.0) as usize;
        rows.extend(std::iter::repeat_n(kept, copies));
    }
    let columns = names.iter().map(|name| harp_core::Column { name: name.clone() }).collect();
    (Dataset { target: source.target.clone(), columns, rows }, used, sum / used.max(1) as f64)
}
