//! The Pareto front of time and price, and its knee.
//!
//! Both work on bare `(time, price)` points, so that a chart can use them too. Differences below
//! nine significant digits are rounding noise and count as equal.

use std::cmp::Ordering;

/// Indices of the points that no other point beats, by rising time and falling price.
///
/// A point beats another when it is no worse in both and better in one. Of equal points only the
/// first is kept.
pub fn pareto_front(points: &[(f64, f64)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&left, &right| {
        let ((t0, p0), (t1, p1)) = (points[left], points[right]);
        compare(t0, t1).then(compare(p0, p1)).then(left.cmp(&right))
    });
    let mut front: Vec<usize> = Vec::new();
    for index in order {
        // Sorted by time, so a point survives only by being cheaper than all faster ones.
        let cheaper = front.last().is_none_or(|&last| compare(points[index].1, points[last].1).is_lt());
        if cheaper {
            front.push(index);
        }
    }
    front
}

/// The knee: the point of the front with the smallest product of time and price; of equal products
/// the faster. `None` without points.
///
/// Where price is proportional to cores × time this is the largest ratio of efficiency to execution
/// time, the knee of Eager, Zahorjan and Lazowska, "Speedup versus efficiency in parallel systems",
/// IEEE Transactions on Computers 38(3), 1989. In words: up to here one more percent of money buys
/// at least one percent of time, beyond it less.
pub fn knee(points: &[(f64, f64)]) -> Option<usize> {
    let product = |index: usize| points[index].0 * points[index].1;
    let mut front = pareto_front(points).into_iter();
    let first = front.next()?;
    Some(front.fold(
        first,
        |best, index| {
            if compare(product(index), product(best)).is_lt() { index } else { best }
        },
    ))
}

/// Orders numbers after rounding to nine significant digits: a total order, unlike a tolerance.
pub(crate) fn compare(left: f64, right: f64) -> Ordering {
    rounded(left).total_cmp(&rounded(right))
}

fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        // Also turns -0 into 0.
        return value + 0.0;
    }
    let digits = 8 - value.abs().log10().floor() as i32;
    // Two steps, since ten to such a power may not fit for the smallest numbers.
    let (half, rest) = (digits / 2, digits - digits / 2);
    let scaled = (value * 10f64.powi(half)) * 10f64.powi(rest);
    (scaled.round() / 10f64.powi(half)) / 10f64.powi(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn obvious_front(points: &[(f64, f64)]) -> Vec<usize> {
        let beaten = |index: usize| {
            let (time, price) = points[index];
            points.iter().enumerate().any(|(other, &(t, p))| {
                (t <= time && p <= price && (t < time || p < price))
                    || (other < index && (t, p) == (time, price))
            })
        };
        (0..points.len()).filter(|&index| !beaten(index)).collect()
    }

    fn points() -> impl Strategy<Value = Vec<(f64, f64)>> {
        let value = (0u32..40).prop_map(|number| f64::from(number) * 0.25);
        prop::collection::vec((value.clone(), value), 0..40)
    }

    proptest! {
        #[test]
        fn the_front_is_the_obvious_one(points in points()) {
            let front = pareto_front(&points);
            prop_assert!(front.windows(2).all(|w| points[w[0]].0 < points[w[1]].0));
            prop_assert!(front.windows(2).all(|w| points[w[0]].1 > points[w[1]].1));
            let mut sorted = front;
            sorted.sort_unstable();
            prop_assert_eq!(sorted, obvious_front(&points));
        }

        #[test]
        fn the_knee_is_on_the_front_with_the_least_product(points in points()) {
            let found = knee(&points);
            prop_assert_eq!(found.is_some(), !points.is_empty());
            if let Some(found) = found {
                let front = pareto_front(&points);
                prop_assert!(front.contains(&found));
                let product = |index: usize| points[index].0 * points[index].1;
                prop_assert!(front.iter().all(|&index| product(found) <= product(index)));
            }
        }

        #[test]
        fn rounding_keeps_nine_digits(value in -1e300f64..1e300, exponent in -280i32..1) {
            let value = value * 10f64.powi(exponent);
            prop_assert!((rounded(value) - value).abs() <= value.abs() * 1e-8);
        }
    }

    #[test]
    fn rounding_noise_makes_no_difference() {
        assert_eq!(compare(0.1 + 0.2, 0.3), Ordering::Equal);
        assert_eq!(compare(-0.0, 0.0), Ordering::Equal);
        assert_eq!(compare(1.000_001, 1.0), Ordering::Greater);
        // Perfect scaling: the faster of two equally expensive points wins.
        assert_eq!(pareto_front(&[(100.0, 0.3), (50.0, 0.1 + 0.2)]), [1]);
    }

    #[test]
    fn the_knee_buys_time_while_it_is_cheap() {
        // Efficiency 1, 0.96, 0.83, 0.5: the price rises 4 %, 20 %, 100 %.
        let points = [(100.0, 1.0), (52.0, 1.04), (30.0, 1.2), (25.0, 2.0)];
        assert_eq!(knee(&points), Some(2));
        assert_eq!(knee(&[]), None);
    }
}
