//! The functions of the language.

use harp_core::Value;

use crate::suggest;

/// A function that can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Min,
    Max,
    Abs,
    Sqrt,
    Log,
    Log2,
    Log10,
    Exp,
    Floor,
    Ceil,
    Round,
}

/// Names and functions.
const FUNCTIONS: [(&str, Function); 11] = [
    ("min", Function::Min),
    ("max", Function::Max),
    ("abs", Function::Abs),
    ("sqrt", Function::Sqrt),
    ("log", Function::Log),
    ("log2", Function::Log2),
    ("log10", Function::Log10),
    ("exp", Function::Exp),
    ("floor", Function::Floor),
    ("ceil", Function::Ceil),
    ("round", Function::Round),
];

impl Function {
    pub(super) fn named(name: &str) -> Option<Function> {
        FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
    }

    /// What to say about a name that is no function.
    pub(super) fn unknown(name: &str) -> String {
        let names: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
        match suggest::closest(name, names.iter().copied()) {
            Some(close) => format!("there is no function `{name}`; did you mean `{close}`?"),
            None => format!("there is no function `{name}`; there are {}", names.join(", ")),
        }
    }

    fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }

    pub(super) fn check_count(self, count: usize) -> Result<(), String> {
        let several = matches!(self, Function::Min | Function::Max);
        if count == 1 || (several && count > 1) {
            return Ok(());
        }
        let expected = if several { "at least one value" } else { "one value" };
        Err(format!("`{}` takes {expected}, not {count}", self.name()))
    }

    /// The function's value; the error says why it has none.
    pub(super) fn call(self, arguments: &[Value]) -> Result<Value, String> {
        let numbers: Vec<f64> = arguments
            .iter()
            .map(|value| match value {
                Value::Integer(_) | Value::Real(_) => value.as_number().ok_or_else(String::new),
                other => Err(format!("`{}` takes numbers, not `{other}`", self.name())),
            })
            .collect::<Result<_, _>>()?;
        let (Some(first), Some(&number)) = (arguments.first(), numbers.first()) else {
            return Err(format!("`{}` takes a value", self.name()));
        };
        let real = |value: f64| {
            if value.is_finite() {
                Ok(Value::Real(value))
            } else {
                Err(format!("`{}` has no value at {first}", self.name()))
            }
        };
        match (self, first) {
            (Function::Min, _) => {
                Ok(arguments.iter().min_by(|left, right| left.compare(right)).unwrap_or(first).clone())
            }
            (Function::Max, _) => {
                Ok(arguments.iter().max_by(|left, right| left.compare(right)).unwrap_or(first).clone())
            }
            (Function::Abs, Value::Integer(integer)) => {
                integer.checked_abs().map(Value::Integer).ok_or_else(|| "the number is too large".to_owned())
            }
            (Function::Floor | Function::Ceil | Function::Round, Value::Integer(_)) => Ok(first.clone()),
            (Function::Floor, _) => whole(number.floor()),
            (Function::Ceil, _) => whole(number.ceil()),
            (Function::Round, _) => whole(number.round()),
            (Function::Abs, _) => real(number.abs()),
            (Function::Sqrt, _) => real(number.sqrt()),
            (Function::Log, _) => real(number.ln()),
            (Function::Log2, _) => real(number.log2()),
            (Function::Log10, _) => real(number.log10()),
            (Function::Exp, _) => real(number.exp()),
        }
    }
}

/// A real number without a fraction as a whole number, if it is small enough.
pub(super) fn whole(number: f64) -> Result<Value, String> {
    // 2^63 is the first power that does not fit; as a real number it is exact.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&number) {
        Ok(Value::Integer(number as i64))
    } else {
        Err("the number is too large for a whole number".to_owned())
    }
}
