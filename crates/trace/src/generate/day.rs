//! The daily cycle of arrivals: more come by day than by night.

/// Half hours of a day.
const PARTS: usize = 48;
const PART: f64 = 1800.0;
/// Gamma distribution of arrivals over the day, in half hours from midnight, of a day that begins with
/// the eleventh half hour (at five) and ends with the tenth of the next.
const SHAPE: f64 = 8.1737;
const SCALE: f64 = 3.9631;
const BEGIN: usize = 11;

/// From a clock that runs alike at every hour to one that is slow where few arrive. Both show the same at
/// every midnight.
pub(super) struct Day {
    /// What the even clock shows at the beginning of each half hour, in seconds.
    even: [f64; PARTS + 1],
}

impl Day {
    pub(super) fn new() -> Self {
        let density = |x: f64| x.powf(SHAPE - 1.0) * (-x / SCALE).exp();
        // only ratios matter, so the integral over a half hour is a sum
        let weight = |x: f64| (0..10).map(|step| density(x - 0.45 + 0.1 * f64::from(step))).sum::<f64>();
        let mut weights = [0.0; PARTS];
        for place in BEGIN..BEGIN + PARTS {
            weights[(place - 1) % PARTS] = weight(place as f64);
        }
        let whole: f64 = weights.iter().sum();
        let mut even = [0.0; PARTS + 1];
        for place in 0..PARTS {
            even[place + 1] = even[place] + weights[place] / whole * PART * PARTS as f64;
        }
        Day { even }
    }

    /// The second at which the even clock shows `clock`.
    pub(super) fn second(&self, clock: f64) -> f64 {
        let whole = PART * PARTS as f64;
        let days = (clock / whole).floor();
        let rest = clock - days * whole;
        let place = self.even.partition_point(|&begin| begin <= rest).clamp(1, PARTS) - 1;
        let within = (rest - self.even[place]) / (self.even[place + 1] - self.even[place]);
        days * whole + (place as f64 + within.clamp(0.0, 1.0)) * PART
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_forward_and_midnights_agree() {
        let day = Day::new();
        let seconds: Vec<f64> = (0..4000).map(|step| day.second(f64::from(step) * 100.0)).collect();
        assert!(seconds.is_sorted_by(|a, b| a < b));
        for midnight in [0.0, 86_400.0, 864_000.0] {
            assert!((day.second(midnight) - midnight).abs() < 1e-6);
        }
        // by noon fewer have come than would have if hours were alike
        assert!(day.second(43_200.0) > 43_200.0);
    }
}
