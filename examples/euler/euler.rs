//! Euler's number to many decimal digits, worked out in one of two ways.
//!
//! `euler METHOD N [DIGITS]` with METHOD
//! - `factorial`: the sum of the first N terms of 1/0! + 1/1! + 1/2! + …; time grows as N · DIGITS
//! - `pow`: (1 + 1/N) to the power of N by N multiplications; time grows as N · DIGITS²
//!
//! Every step is carried out at full precision even when it no longer changes the result, so that
//! the time depends on the arguments alone. Build it with `rustc -O euler.rs`.

use std::process::ExitCode;
use std::time::Instant;

/// Nine decimal digits a limb.
const BASE: u64 = 1_000_000_000;

/// A number from 0 to just below `BASE`: one limb before the decimal point, the others after it.
type Fixed = Vec<u64>;

fn one(digits: usize) -> Fixed {
    let mut number = vec![0; digits.div_ceil(9) + 3];
    number[0] = 1;
    number
}

fn divide(number: &mut Fixed, divisor: u64) {
    let mut remainder = 0;
    for limb in number.iter_mut() {
        let value = remainder * BASE + *limb;
        *limb = value / divisor;
        remainder = value % divisor;
    }
}

fn add(number: &mut Fixed, other: &Fixed) {
    let mut carry = 0;
    for (limb, more) in number.iter_mut().zip(other).rev() {
        let sum = *limb + more + carry;
        *limb = sum % BASE;
        carry = sum / BASE;
    }
}

/// The product, as it is done by hand: a row for each limb, the last limb first. Digits beyond the
/// precision are cut off.
fn multiply(left: &Fixed, right: &Fixed) -> Fixed {
    let mut product = vec![0; left.len()];
    for (row, &factor) in left.iter().enumerate().rev() {
        let mut carry = 0;
        for (limb, &other) in product[row..].iter_mut().zip(right).rev() {
            let value = *limb + factor * other + carry;
            *limb = value % BASE;
            carry = value / BASE;
        }
        if row > 0 {
            product[row - 1] = carry;
        }
    }
    product
}

fn by_factorials(terms: u64, digits: usize) -> Fixed {
    let mut sum = one(digits);
    let mut term = one(digits);
    for k in 1..terms {
        divide(&mut term, k);
        add(&mut sum, &term);
    }
    sum
}

fn by_powers(n: u64, digits: usize) -> Fixed {
    let mut base = one(digits);
    divide(&mut base, n);
    base[0] += 1;
    let mut power = one(digits);
    for _ in 0..n {
        power = multiply(&power, &base);
    }
    power
}

/// Runs the program with its arguments, without the program's name.
pub fn run(arguments: &[String]) -> ExitCode {
    const USAGE: &str = "usage: euler factorial|pow N [DIGITS]   (0 < N < 4294967296)";
    let number = |index: usize| arguments.get(index).map(|text| text.parse::<u32>());
    let (Some(method), Some(Ok(n @ 1..)), digits) =
        (arguments.first(), number(1), number(2).unwrap_or(Ok(50)))
    else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let Ok(digits) = digits else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let start = Instant::now();
    let value = match method.as_str() {
        "factorial" => by_factorials(n.into(), digits as usize),
        "pow" => by_powers(n.into(), digits as usize),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    let decimals: String = value[1..].iter().map(|limb| format!("{limb:09}")).collect();
    println!("e = {}.{}…", value[0], &decimals[..(digits as usize).min(60)]);
    println!("seconds = {:.6}", start.elapsed().as_secs_f64());
    ExitCode::SUCCESS
}

#[allow(dead_code)] // unused where this file is part of a larger program
fn main() -> ExitCode {
    run(&std::env::args().skip(1).collect::<Vec<_>>())
}
