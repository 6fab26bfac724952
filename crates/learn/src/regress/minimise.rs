//! Minimising a smooth function of many numbers: limited-memory BFGS (Nocedal, Mathematics of
//! Computation 1980) with a backtracking line search. Deterministic, and bounded in its work.

/// Pairs of steps and gradient changes remembered.
const MEMORY: usize = 8;
/// Sufficient decrease (Armijo) and the share a step shrinks by.
const DECREASE: f64 = 1e-4;
const SHRINK: f64 = 0.5;

/// The place and the value of the lowest point found from `start` in at most `steps` steps.
/// `function` gives the value and writes the gradient.
pub(super) fn minimise(
    start: Vec<f64>,
    steps: usize,
    mut function: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> (Vec<f64>, f64) {
    let size = start.len();
    let mut place = start;
    let mut gradient = vec![0.0; size];
    let mut value = function(&place, &mut gradient);
    let mut memory: Vec<(Vec<f64>, Vec<f64>, f64)> = Vec::new();
    let mut calm = 0;
    for _ in 0..steps {
        if !value.is_finite() || gradient.iter().all(|g| g.abs() < 1e-9) {
            break;
        }
        let mut direction = descent(&gradient, &memory);
        let mut slope = dot(&direction, &gradient);
        if slope >= 0.0 {
            memory.clear();
            direction = gradient.iter().map(|g| -g).collect();
            slope = dot(&direction, &gradient);
        }
        let longest = direction.iter().fold(0.0f64, |longest, d| longest.max(d.abs()));
        // The first step knows no curvature; none may leap.
        let mut length =
            if memory.is_empty() { 0.1 / longest.max(0.1) } else { (2.0 / longest.max(1e-300)).min(1.0) };
        let mut next_gradient = vec![0.0; size];
        let mut accepted = None;
        for _ in 0..25 {
            let next: Vec<f64> = place.iter().zip(&direction).map(|(x, d)| x + length * d).collect();
            let next_value = function(&next, &mut next_gradient);
            if next_value.is_finite() && next_value <= value + DECREASE * length * slope {
                accepted = Some((next, next_value));
                break;
            }
            length *= SHRINK;
        }
        let Some((next, next_value)) = accepted else { break };
        let step: Vec<f64> = next.iter().zip(&place).map(|(n, x)| n - x).collect();
        let change: Vec<f64> = next_gradient.iter().zip(&gradient).map(|(n, g)| n - g).collect();
        let curvature = dot(&step, &change);
        if curvature > 1e-12 {
            memory.push((step, change, 1.0 / curvature));
            if memory.len() > MEMORY {
                memory.remove(0);
            }
        }
        calm = if value - next_value < 1e-7 * value.abs().max(1e-3) { calm + 1 } else { 0 };
        (place, value, gradient) = (next, next_value, next_gradient);
        if calm >= 3 {
            break;
        }
    }
    (place, value)
}

/// The quasi-Newton direction by the two loops.
fn descent(gradient: &[f64], memory: &[(Vec<f64>, Vec<f64>, f64)]) -> Vec<f64> {
    let mut direction: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut along = Vec::with_capacity(memory.len());
    for (step, change, inverse) in memory.iter().rev() {
        let share = inverse * dot(step, &direction);
        direction.iter_mut().zip(change).for_each(|(d, c)| *d -= share * c);
        along.push(share);
    }
    if let Some((_, change, inverse)) = memory.last() {
        let scale = 1.0 / (inverse * dot(change, change));
        direction.iter_mut().for_each(|d| *d *= scale);
    }
    for ((step, change, inverse), share) in memory.iter().zip(along.into_iter().rev()) {
        let correction = share - inverse * dot(change, &direction);
        direction.iter_mut().zip(step).for_each(|(d, s)| *d += correction * s);
    }
    direction
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(l, r)| l * r).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rosenbrock's valley, whose lowest point is at (1, 1).
    #[test]
    fn the_valley_is_followed_to_its_end() {
        let (place, value) = minimise(vec![-1.2, 1.0], 500, |x, gradient| {
            let (a, b) = (1.0 - x[0], x[1] - x[0] * x[0]);
            gradient[0] = -2.0 * a - 400.0 * x[0] * b;
            gradient[1] = 200.0 * b;
            a * a + 100.0 * b * b
        });
        assert!(value < 1e-6 && (place[0] - 1.0).abs() < 1e-2, "{place:?} {value}");
    }
}
