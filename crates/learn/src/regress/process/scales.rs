//! The numbers a covariance is made of, and how they are laid out for the search.

/// What a process is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::regress) struct Shape {
    /// A smooth function of all features together.
    pub smooth: bool,
    /// A power law underneath.
    pub trend: bool,
    /// A curve of each feature.
    pub curves: bool,
    /// A surface of every two features, as wide along each as its curve.
    pub surfaces: bool,
    /// Whether full-scale runs have a noise of their own, found with the other scales. Otherwise they
    /// are as much less noisy as they weigh more.
    pub own_noise: bool,
}

impl Shape {
    /// A smooth function and nothing else.
    pub(in crate::regress) const SMOOTH: Shape =
        Shape { smooth: true, trend: false, curves: false, surfaces: false, own_noise: false };
}

/// What the kernel is made of, as logarithms; or something for each of these numbers.
#[derive(Debug, Clone)]
pub(super) struct Scales {
    pub lengths: Vec<f64>,
    pub amplitude: f64,
    pub noise: f64,
    pub slope: f64,
    /// Of the curves of single features.
    pub height: f64,
    pub widths: Vec<f64>,
    /// Of the surfaces of two.
    pub surface: f64,
    /// How many times the others' noise that of heavy rows is.
    pub heavy_noise: f64,
}

impl Scales {
    /// What is believed beforehand of features with unit deviation and values with this variance.
    pub(super) fn believed(width: usize, variance: f64) -> Scales {
        let deviation = 0.5 * variance.ln();
        let others = width.saturating_sub(1).max(1) as f64;
        Scales {
            lengths: vec![3.0f64.ln(); width],
            amplitude: deviation - 0.4,
            noise: deviation.min(0.0) - 2.5,
            slope: deviation - 0.7,
            height: deviation - 1.5,
            widths: vec![0.7; width],
            // Each feature is in a surface with every other one.
            surface: deviation - 1.0 - 0.5 * others.ln(),
            heavy_noise: 0.0,
        }
    }

    /// By how much each may well be off.
    pub(super) fn doubts(width: usize) -> Scales {
        Scales {
            lengths: vec![1.0; width],
            widths: vec![1.0; width],
            heavy_noise: 1.0,
            ..Scales::all(width, 1.5)
        }
    }

    /// The same number for each.
    pub(super) fn all(width: usize, number: f64) -> Scales {
        Scales {
            lengths: vec![number; width],
            amplitude: number,
            noise: number,
            slope: number,
            height: number,
            widths: vec![number; width],
            surface: number,
            heavy_noise: number,
        }
    }

    /// Those the shape has, in a row.
    pub(super) fn numbers(&self, shape: Shape) -> Vec<f64> {
        let mut numbers = Vec::new();
        if shape.smooth {
            numbers.extend(&self.lengths);
            numbers.push(self.amplitude);
        }
        numbers.push(self.noise);
        if shape.trend {
            numbers.push(self.slope);
        }
        if shape.curves {
            numbers.push(self.height);
        }
        if shape.surfaces {
            numbers.push(self.surface);
        }
        if shape.curves || shape.surfaces {
            numbers.extend(&self.widths);
        }
        if shape.own_noise {
            numbers.push(self.heavy_noise);
        }
        numbers
    }

    /// The same with those the shape has replaced by the numbers, which come as [`Scales::numbers`]
    /// gives them.
    pub(super) fn with(mut self, numbers: &[f64], shape: Shape) -> Scales {
        let mut numbers = numbers.iter().copied();
        let mut set = |scale: &mut f64, least: f64, most: f64| {
            if let Some(number) = numbers.next() {
                *scale = number.clamp(least, most);
            }
        };
        if shape.smooth {
            self.lengths.iter_mut().for_each(|length| set(length, -3.0, 6.0));
            set(&mut self.amplitude, -12.0, 12.0);
        }
        set(&mut self.noise, -12.0, 12.0);
        if shape.trend {
            set(&mut self.slope, -12.0, 12.0);
        }
        if shape.curves {
            set(&mut self.height, -12.0, 12.0);
        }
        if shape.surfaces {
            set(&mut self.surface, -12.0, 12.0);
        }
        if shape.curves || shape.surfaces {
            self.widths.iter_mut().for_each(|width| set(width, -3.0, 6.0));
        }
        if shape.own_noise {
            set(&mut self.heavy_noise, -12.0, 12.0);
        }
        self
    }
}
