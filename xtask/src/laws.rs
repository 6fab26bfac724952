//! Programs whose time is known: how predictions of runs of twice to eight times the size did, with none, two and six
//! of them known. Settings of the learners and claims about intervals are checked on these; they are made up, but
//! nobody measured them too well or too badly.

use anyhow::{Context, Result};
use harp_core::{Column, Dataset, Observed, Policy, Row, Scale, Target, Value};
use harp_learn::BuildOptions;
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;

use crate::figures::Figures;

/// Draws of each law: other runs, another noise.
const DRAWS: u64 = 4;
/// Large runs that are known.
#[derive(Clone, Copy)]
struct Known {
    runs: usize,
    /// Whether all are of one size, half of the largest that is predicted.
    one_size: bool,
    name: &'static str,
}

const KNOWN: [Known; 4] = [
    Known { runs: 0, one_size: false, name: "0" },
    Known { runs: 2, one_size: false, name: "2" },
    Known { runs: 6, one_size: false, name: "6" },
    Known { runs: 6, one_size: true, name: "6 alike" },
];
const ONE_SIZE: f64 = 4.0;
/// How many are predicted.
const PREDICTED: usize = 36;
/// How many small runs there are, and how noisy all are: one of each, drawn.
const SMALL: [usize; 3] = [24, 40, 70];
const NOISE: [f64; 3] = [0.01, 0.03, 0.06];
/// Large runs are so many times as large in the first parameter, and now and then in the second.
const LARGER: [f64; 5] = [2.0, 3.0, 4.0, 6.0, 8.0];
const MORE: [f64; 2] = [1.0, 2.0];

/// A program: the values of its parameters in small runs, the size first, and the seconds it takes.
struct Law {
    name: &'static str,
    parameters: &'static [(&'static str, &'static [f64])],
    seconds: fn(&[f64]) -> f64,
}

const N: &[f64] = &[1000.0, 2000.0, 4000.0, 8000.0];
const CORES: &[f64] = &[1.0, 2.0, 4.0];

/// A parameter of this name is a word, not a number.
const WORD: &str = "kind";

const LAWS: [Law; 20] = [
    Law {
        name: "a part that does not scale",
        parameters: &[("n", N), ("cores", CORES)],
        seconds: |x| 0.3 + 1e-4 * x[0] + 4e-4 * x[0] / x[1],
    },
    Law {
        name: "a hidden cube",
        parameters: &[("n", &[200.0, 400.0, 800.0, 1200.0, 1600.0]), ("cores", CORES)],
        seconds: |x| 0.01 * x[0] + 2e-9 * x[0].powi(3) / x[1],
    },
    Law {
        name: "odd exponents",
        parameters: &[("n", N), ("cores", CORES)],
        seconds: |x| 0.2 + 5e-4 * x[0] + 2e-8 * x[0].powf(2.5) / x[1].powf(0.8),
    },
    Law {
        name: "messages",
        parameters: &[("n", N), ("cores", &[1.0, 2.0, 4.0, 8.0, 16.0])],
        seconds: |x| 0.1 + 1e-3 * x[0] / x[1] + 0.05 * (x[1] + 1.0).log2() + 1e-3 * x[1],
    },
    Law {
        name: "sorting",
        parameters: &[("n", &[1e4, 3e4, 1e5, 3e5]), ("threads", CORES), (WORD, &[0.0, 1.0, 2.0])],
        seconds: |x| 0.2 + 1e-6 * x[0] * x[0].ln() * (1.0 + 0.3 * x[2]),
    },
    Law {
        name: "dumps now and then",
        parameters: &[
            ("n", &[100.0, 200.0, 400.0, 800.0]),
            ("steps", &[10.0, 20.0, 40.0]),
            ("cores", CORES),
            ("dumps", &[0.0, 1.0, 2.0, 4.0]),
        ],
        seconds: |x| 0.5 + 2e-4 * x[0] * x[1] / x[2] + 3e-4 * x[0] * x[3],
    },
    Law {
        name: "a fixed time a dump",
        parameters: &[("n", N), ("dumps", &[0.0, 1.0, 3.0, 5.0])],
        seconds: |x| 0.2 + 1e-7 * x[0] * x[0] + 0.8 * x[1],
    },
    Law {
        name: "files",
        parameters: &[("n", &[1e3, 4e3, 1.6e4, 6.4e4]), ("files", &[0.0, 1.0, 2.0, 4.0, 8.0])],
        seconds: |x| 0.3 + 2e-5 * x[0] + 5e-3 * x[1] * x[0].sqrt(),
    },
    Law {
        name: "a share of hits",
        parameters: &[("n", N), ("cores", CORES), ("share", &[0.0, 0.25, 0.5, 0.75, 1.0])],
        seconds: |x| 0.5 + 1e-3 * x[0] / x[1] + 8e-4 * x[0] * x[2],
    },
    Law {
        name: "the same in percent",
        parameters: &[("n", N), ("cores", CORES), ("percent", &[0.0, 25.0, 50.0, 75.0, 100.0])],
        seconds: |x| 0.5 + 1e-3 * x[0] / x[1] + 8e-6 * x[0] * x[2],
    },
    Law {
        name: "with and without GPUs",
        parameters: &[("n", N), ("gpus", &[0.0, 1.0, 2.0, 4.0])],
        seconds: |x| 0.4 + 2e-3 * x[0] / (1.0 + 30.0 * x[1]),
    },
    Law {
        name: "a solver",
        parameters: &[
            ("n", &[400.0, 900.0, 1600.0, 3600.0]),
            ("order", &[1.0, 2.0, 3.0]),
            (WORD, &[0.0, 1.0]),
        ],
        seconds: |x| (1e-6 * x[0].powf(1.5) * x[1] * x[1] + 0.1 * x[1]) * (1.0 + 1.2 * x[2]),
    },
    Law {
        name: "one power law",
        parameters: &[("n", N), ("k", &[2.0, 4.0, 8.0]), ("cores", CORES)],
        seconds: |x| 3e-7 * x[0].powf(1.7) * x[1].powf(0.6) / x[2].powf(0.85),
    },
    Law {
        name: "a long start",
        parameters: &[("n", &[1000.0, 1500.0, 2000.0, 3000.0, 4000.0, 5000.0]), ("x", CORES)],
        seconds: |x| 5.0 + 1e-7 * x[0] * x[0],
    },
    Law { name: "mostly start", parameters: &[("n", N), ("x", CORES)], seconds: |x| 0.5 + 1e-5 * x[0] },
    Law {
        name: "growth below the noise",
        parameters: &[("n", &[1e3, 2e3, 5e3, 1e4, 2e4]), ("x", CORES)],
        seconds: |x| 0.12 + 6e-7 * x[0],
    },
    Law { name: "the same whatever the size", parameters: &[("n", N), ("cores", CORES)], seconds: |_| 2.0 },
    Law {
        name: "a cache that small runs fit into",
        parameters: &[("n", &[4e3, 8e3, 1.6e4, 3.2e4]), ("sweeps", &[10.0, 20.0, 40.0, 80.0])],
        seconds: |x| (if x[0] < 5e4 { 1e-6 } else { 1.6e-6 }) * x[0] * x[1],
    },
    Law {
        name: "a cache, smoothly left",
        parameters: &[("n", N), ("cores", CORES)],
        seconds: |x| 0.1 + 1e-3 * x[0] / x[1] * (1.0 + 1.5 / (1.0 + (1.2e4 / x[0]).powi(2))),
    },
    Law {
        name: "work that is not balanced",
        parameters: &[("n", N), ("cores", &[1.0, 2.0, 3.0, 4.0, 6.0, 8.0])],
        seconds: |x| 0.2 + 2e-3 * (x[0] / 1000.0 / x[1]).ceil() * 1000.0,
    },
];

/// Prints how predictions did, of each law or of all together.
pub fn evaluate(each: bool) -> Result<()> {
    println!("{:34} {:>7} {:>9} {}", "law", "known", "policy", Figures::HEADER);
    for known in KNOWN {
        for policy in [Policy::Cost, Policy::default()] {
            let mut all = Vec::new();
            for law in &LAWS {
                let mut figures = Vec::new();
                for draw in 0..DRAWS {
                    let dataset = law.sweep(known, draw)?;
                    let options = BuildOptions { policy, ..BuildOptions::default() };
                    let model = harp_learn::build(&dataset, &options)?;
                    let evaluation = model.evaluate(&dataset, |row| row.scale == Scale::Test)?;
                    figures.push(Figures::of(&evaluation).context("no test rows")?);
                }
                if each {
                    let mean = Figures::geometric(&figures);
                    println!(
                        "{:34} {:>7} {:>9} {}",
                        law.name,
                        known.name,
                        policy.to_string(),
                        mean.columns()
                    );
                }
                all.append(&mut figures);
            }
            let mean = Figures::geometric(&all);
            println!(
                "{:34} {:>7} {:>9} {}",
                "all, geometric mean",
                known.name,
                policy.to_string(),
                mean.columns()
            );
        }
    }
    Ok(())
}

impl Law {
    /// Small runs, so many large ones that are known, and those to be predicted, which are the same whatever is known.
    fn sweep(&self, known: Known, draw: u64) -> Result<Dataset> {
        let mut random = Pcg64::seed_from_u64(draw);
        let noise = *choose(&NOISE, &mut random);
        let mut small = vec![Vec::new()];
        for (_, values) in self.parameters {
            let longer = |row: &Vec<f64>| {
                let row = row.clone();
                values.iter().map(move |value| row.iter().copied().chain([*value]).collect())
            };
            small = small.iter().flat_map(longer).collect();
        }
        for place in (1..small.len()).rev() {
            small.swap(place, (random.next_u64() % (place as u64 + 1)) as usize);
        }
        small.truncate(*choose(&SMALL, &mut random));
        let largest = self.parameters[0].1.iter().copied().fold(0.0, f64::max);
        let numbers = self.parameters.iter().filter(|(name, _)| *name != WORD).count();
        let mut large = || {
            let mut row: Vec<f64> =
                self.parameters.iter().map(|(_, values)| *choose(values, &mut random)).collect();
            row[0] = largest * choose(&LARGER, &mut random);
            if numbers > 1 {
                row[1] *= choose(&MORE, &mut random);
            }
            row
        };
        let most = KNOWN.into_iter().map(|known| known.runs).max().unwrap_or(0);
        let mut different: Vec<Vec<f64>> = Vec::new();
        for _ in 0..most + PREDICTED {
            let row = large();
            if !different.contains(&row) {
                different.push(row);
            }
        }
        let alike = if known.one_size { known.runs } else { 0 };
        different.iter_mut().take(alike).for_each(|row| row[0] = ONE_SIZE * largest);
        let scale = |index: usize| match index {
            _ if index < known.runs => Some(Scale::Fs),
            _ if index < most => None,
            _ => Some(Scale::Test),
        };
        let scaled_down = small.into_iter().map(|row| (row, Some(Scale::Sd)));
        let large = different.into_iter().enumerate().map(|(index, row)| (row, scale(index)));
        let rows = scaled_down.chain(large).enumerate().filter_map(|(index, (row, scale))| {
            // Twelve uniform numbers make a normal one; drawn for rows that are not used, too, so that the others
            // are the same whatever is known.
            let normal =
                (0..12).map(|_| f64::from(random.next_u32()) / f64::from(u32::MAX)).sum::<f64>() - 6.0;
            let cell = |(&value, (name, _)): (&f64, &(&str, &[f64]))| {
                Some(if *name == WORD { Value::Text(format!("kind {value}")) } else { Value::Real(value) })
            };
            Some(Row {
                cells: row.iter().zip(self.parameters).map(cell).collect(),
                observed: Observed::Exact((self.seconds)(&row) * (noise * normal).exp()),
                scale: scale?,
                group: index as u64,
            })
        });
        let columns = self.parameters.iter().map(|(name, _)| Column { name: (*name).to_owned() }).collect();
        Ok(Dataset::new(Target::Walltime, columns, rows.collect())?)
    }
}

fn choose<'a, T>(of: &'a [T], random: &mut Pcg64) -> &'a T {
    &of[(random.next_u64() % of.len() as u64) as usize]
}
