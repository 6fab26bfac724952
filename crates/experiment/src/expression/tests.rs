//! The language against values worked out by hand and against a slow, obvious evaluator.

use harp_core::Value;
use proptest::prelude::*;

use super::*;

fn value_of(text: &str) -> Result<Value, ExpressionError> {
    Expression::parse(text)?.evaluate(&|name| match name {
        "n" => Some(Value::Integer(12)),
        "x" => Some(Value::Real(0.5)),
        "method" => Some(Value::from("pow")),
        "fast" => Some(Value::Boolean(true)),
        _ => None,
    })
}

#[test]
fn arithmetic_keeps_whole_numbers_whole() {
    for (text, expected) in [
        ("1 + 2 * 3", Value::Integer(7)),
        ("(1 + 2) * 3", Value::Integer(9)),
        ("6 / 3", Value::Integer(2)),
        ("7 / 2", Value::Real(3.5)),
        ("-2 ** 2", Value::Integer(-4)),
        ("2 ** 3 ** 2", Value::Integer(512)),
        ("2 ** -1", Value::Real(0.5)),
        ("-1 % 3", Value::Integer(2)),
        ("5.5 % 2", Value::Real(1.5)),
        ("n * x", Value::Real(6.0)),
        ("1_000_000", Value::Integer(1_000_000)),
        ("floor(7 / 2)", Value::Integer(3)),
        ("min(n, 3, x)", Value::Real(0.5)),
        ("max(n, 3)", Value::Integer(12)),
        ("log2(8) + log10(100) + sqrt(16)", Value::Real(9.0)),
        ("round(2.5) - ceil(0.1) - abs(-1)", Value::Integer(1)),
        ("9223372036854775807 % -1", Value::Integer(0)),
    ] {
        assert_eq!(value_of(text), Ok(expected), "{text}");
    }
}

#[test]
fn logic_and_comparisons() {
    for (text, expected) in [
        ("n % 4 == 0", true),
        ("n % 5 == 0 or fast", true),
        ("not n == 12", false),
        ("!fast || n != 12", false),
        ("method == 'pow' && n >= 1.5", true),
        (r#"method < "zzz""#, true),
        ("fast == true and 1 < 2", true),
        ("n == 12 or 1 / 0 == 0", true),
    ] {
        assert_eq!(value_of(text), Ok(Value::Boolean(expected)), "{text}");
    }
}

#[test]
fn mistakes_have_a_place_and_a_reason() {
    for (text, offset, message) in [
        ("n = 1", 2, "`=` does not compare; write `==`"),
        ("n ^ 2", 2, "`^` is not an operator; a power is written `**`"),
        ("n +", 3, "the expression ends too early"),
        ("(n", 0, "`(` is never closed"),
        ("n)", 1, "`)` closes nothing"),
        ("n m", 2, "an operator such as `+` or `and` is missing here"),
        ("1 < n < 3", 6, "comparisons cannot be chained; write `a < b and b < c`"),
        ("sqr(4)", 0, "there is no function `sqr`; did you mean `sqrt`?"),
        ("sqrt(1, 2)", 0, "`sqrt` takes one value, not 2"),
        ("n + m", 4, "`m` has no value"),
        ("n / 0", 2, "division by zero"),
        ("1 % 0.0", 2, "division by zero"),
        ("9223372036854775807 + 1", 20, "the result is too large for a whole number"),
        ("n ** 400", 2, "the result is too large for a whole number"),
        ("sqrt(-1)", 0, "`sqrt` has no value at -1"),
        ("n and fast", 0, "`and` takes true or false, not `12`; compare it with something"),
        ("method * 2", 7, "`*` cannot join `pow` and `2`"),
        ("'abc", 0, "the text that ' opens is never closed"),
        ("3n", 0, "a number is followed by something that does not belong to it"),
    ] {
        let error = value_of(text).unwrap_err();
        assert_eq!((error.offset, error.message.as_str()), (offset, message), "{text}");
    }
}

#[test]
fn sorts_are_known_before_values() {
    let sort = |text: &str| {
        Expression::parse(text).unwrap().sort(&|name| match name {
            "n" => Some(Sort::Number),
            "method" => Some(Sort::Text),
            _ => None,
        })
    };
    assert_eq!(sort("n * n"), Ok(Sort::Number));
    assert_eq!(sort("n > 3 and method == 'a'"), Ok(Sort::Truth));
    assert_eq!(sort("n == method").unwrap_err().message, "`==` compares a number with a text");
    assert_eq!(sort("not n").unwrap_err().message, "`not` takes true or false, and this is a number");
}

#[test]
fn no_text_exhausts_the_stack() {
    for text in ["(".repeat(100_000), "-".repeat(100_000), "not ".repeat(10_000), "1+".repeat(100_000)] {
        assert!(Expression::parse(&text).is_err());
    }
    assert!(Expression::parse(&("2**".repeat(200) + "1")).is_err());
    assert!(Expression::parse(&("1+".repeat(200) + "1")).is_ok());
}

/// A tree of whole numbers, as the test sees it.
#[derive(Debug, Clone)]
enum Tree {
    Number(i64),
    Negate(Box<Tree>),
    Join(char, Box<Tree>, Box<Tree>),
}

impl Tree {
    fn tightness(&self) -> u8 {
        match self {
            Tree::Join('+' | '-', ..) => 1,
            Tree::Join(..) => 2,
            Tree::Negate(_) => 3,
            Tree::Number(_) => 4,
        }
    }

    /// Written with no more parentheses than needed.
    fn write(&self) -> String {
        let enclosed = |tree: &Tree, least: u8| {
            if tree.tightness() < least { format!("({})", tree.write()) } else { tree.write() }
        };
        match self {
            Tree::Number(number) => number.to_string(),
            Tree::Negate(inner) => format!("-{}", enclosed(inner, 3)),
            Tree::Join(operator, left, right) => {
                let level = self.tightness();
                format!("{} {operator} {}", enclosed(left, level), enclosed(right, level + 1))
            }
        }
    }

    /// Worked out in numbers wide enough for anything these trees hold.
    fn value(&self) -> Option<i128> {
        match self {
            Tree::Number(number) => Some(i128::from(*number)),
            Tree::Negate(inner) => Some(-inner.value()?),
            Tree::Join(operator, left, right) => {
                let (left, right) = (left.value()?, right.value()?);
                match operator {
                    '+' => Some(left + right),
                    '-' => Some(left - right),
                    '*' => Some(left * right),
                    _ if right == 0 => None,
                    _ => Some(left - right * (left as f64 / right as f64).floor() as i128),
                }
            }
        }
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    (0i64..20).prop_map(Tree::Number).prop_recursive(4, 24, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|tree| Tree::Negate(Box::new(tree))),
            (proptest::sample::select(vec!['+', '-', '*', '%']), inner.clone(), inner)
                .prop_map(|(operator, left, right)| Tree::Join(operator, Box::new(left), Box::new(right))),
        ]
    })
}

proptest! {
    #[test]
    fn whole_arithmetic_agrees_with_the_obvious_evaluator(tree in trees()) {
        let found = value_of(&tree.write());
        match tree.value() {
            Some(expected) => prop_assert_eq!(found, Ok(Value::Integer(expected as i64)), "{}", tree.write()),
            None => prop_assert!(found.is_err()),
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        let _ = value_of(&text);
    }

    #[test]
    fn any_row_of_tokens_is_read_or_refused(
        tokens in proptest::collection::vec(
            proptest::sample::select(vec![
                "n", "x", "method", "fast", "9223372036854775807", "0", "1.5e300", "'a'", "(", ")", ",",
                "+", "-", "*", "/", "%", "**", "==", "<", "and", "or", "not", "!", "min", "exp", "floor",
            ]),
            0..12,
        )
    ) {
        if let Ok(value) = value_of(&tokens.join(" ")) {
            prop_assert!(value.as_number().is_none_or(f64::is_finite));
        }
    }
}
