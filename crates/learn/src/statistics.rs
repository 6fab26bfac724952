//! Small statistics used in several places: medians, deviations, Student's t.

pub(crate) use harp_core::median;

/// Robust standard deviation: 1.4826 × the median distance from the median.
pub(crate) fn robust_deviation(values: &[f64]) -> Option<f64> {
    let centre = median(&mut values.to_vec())?;
    median(&mut values.iter().map(|value| (value - centre).abs()).collect::<Vec<_>>()).map(|mad| 1.4826 * mad)
}

/// The mean; `None` of nothing.
pub(crate) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0usize, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / count as f64)
}

/// The value a Student-t variable with the given degrees of freedom stays below with probability
/// `level`, by bisection of its distribution function.
pub(crate) fn student_quantile(level: f64, freedom: f64) -> f64 {
    if (level - 0.5).abs() < 1e-12 {
        return 0.0;
    }
    if level < 0.5 {
        return -student_quantile(1.0 - level, freedom);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while student_below(high, freedom) < level && high < 1e6 {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if student_below(middle, freedom) < level {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low + high) / 2.0
}

/// P(T ≤ t): 1 − I(ν/(ν+t²); ν/2, ½)/2 for t ≥ 0 (Abramowitz and Stegun, 26.7.1), mirrored below.
pub(crate) fn student_below(t: f64, freedom: f64) -> f64 {
    let beyond = incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5) / 2.0;
    if t < 0.0 { beyond } else { 1.0 - beyond }
}

/// How likely a ratio of variances at least this large is, with these degrees of freedom above and
/// below, where both are the same in truth (Abramowitz and Stegun, 26.6.2).
pub(crate) fn variance_ratio_above(ratio: f64, above: f64, below: f64) -> f64 {
    incomplete_beta(below / (below + above * ratio.max(0.0)), below / 2.0, above / 2.0)
}

/// The regularised incomplete beta function by its continued fraction (Abramowitz and Stegun,
/// 26.5.8), evaluated with Lentz's method.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = (log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    let guard = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / guard(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..300 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / guard(1.0 + even * d);
        c = guard(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / guard(1.0 + odd * d);
        c = guard(1.0 + odd / c);
        fraction *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

/// ln Γ by Stirling's series after shifting the argument up (Abramowitz and Stegun, 6.1.41).
fn log_gamma(x: f64) -> f64 {
    let mut shift = 0.0;
    let mut x = x;
    while x < 10.0 {
        shift -= x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)));
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

/// The standard normal quantile, nearly: Tukey's
/// lambda distribution of shape 0.1349 (Ramberg and Schmeiser, Communications of the ACM 1974).
pub(crate) fn normal_quantile(level: f64) -> f64 {
    const LAMBDA: f64 = 0.1349;
    (level.powf(LAMBDA) - (1.0 - level).powf(LAMBDA)) / 0.1975
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_quantiles_match_the_tables() {
        for (level, freedom, expected) in [
            (0.95, 1.0, 6.313_751_5),
            (0.95, 3.0, 2.353_363_4),
            (0.975, 10.0, 2.228_138_9),
            (0.995, 30.0, 2.749_995_7),
            (0.05, 5.0, -2.015_048_4),
            (0.95, 1000.0, 1.646_378_8),
        ] {
            let found = student_quantile(level, freedom);
            assert!((found - expected).abs() < 1e-6, "{level} {freedom}: {found}");
        }
    }

    #[test]
    fn variance_ratios_match_the_tables() {
        // Abramowitz and Stegun, table 26.9: the 5 % and 1 % points.
        for (ratio, above, below, chance) in
            [(4.96, 1.0, 10.0, 0.05), (2.71, 5.0, 20.0, 0.05), (4.51, 3.0, 30.0, 0.01)]
        {
            let found = variance_ratio_above(ratio, above, below);
            assert!((found / chance - 1.0).abs() < 0.01, "F({above}, {below}): {found}");
        }
    }

    #[test]
    fn one_outlier_does_not_deviate() {
        assert_eq!(robust_deviation(&[1.0, 1.0, 1.0, 9.0]), Some(0.0));
    }
}
