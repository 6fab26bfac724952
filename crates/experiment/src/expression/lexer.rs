//! From characters to tokens, each with its place.

use harp_core::Value;

use super::{ExpressionError, Operator};

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Constant(Value),
    Name(String),
    Operator(Operator),
    /// `not`, which binds loosely.
    Not,
    /// `!`, which binds tightly.
    Exclamation,
    Open,
    Close,
    Comma,
}

/// The tokens of a text with their byte offsets.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut offset = 0;
    while let Some(first) = text[offset..].chars().next() {
        let rest = &text[offset..];
        if first.is_whitespace() {
            offset += first.len_utf8();
            continue;
        }
        let (length, token) = if first.is_ascii_digit() || first == '.' {
            number(rest).map_err(|message| ExpressionError::new(offset, message))?
        } else if first.is_ascii_alphabetic() || first == '_' {
            word(rest)
        } else if first == '"' || first == '\'' {
            let end = rest[1..].find(first).ok_or_else(|| {
                ExpressionError::new(offset, format!("the text that {first} opens is never closed"))
            })?;
            (end + 2, Token::Constant(Value::Text(rest[1..=end].to_owned())))
        } else {
            symbol(rest).map_err(|message| ExpressionError::new(offset, message))?
        };
        tokens.push((offset, token));
        offset += length;
    }
    Ok(tokens)
}

fn number(rest: &str) -> Result<(usize, Token), String> {
    let digits = |from: usize| {
        rest[from..].find(|c: char| !c.is_ascii_digit() && c != '_').map_or(rest.len(), |end| from + end)
    };
    let mut end = digits(0);
    let mut real = false;
    if rest[end..].starts_with('.') {
        real = true;
        end = digits(end + 1);
    }
    if rest[end..].starts_with(['e', 'E']) {
        let sign = usize::from(rest[end + 1..].starts_with(['+', '-']));
        let after = digits(end + 1 + sign);
        if after > end + 1 + sign {
            real = true;
            end = after;
        }
    }
    if rest[end..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.') {
        return Err("a number is followed by something that does not belong to it".to_owned());
    }
    let digits = rest[..end].replace('_', "");
    let value = if real {
        digits.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Real)
    } else {
        digits.parse().ok().map(Value::Integer)
    };
    match value {
        Some(value) => Ok((end, Token::Constant(value))),
        None => Err(format!("`{}` is not a number that can be represented", &rest[..end])),
    }
}

fn word(rest: &str) -> (usize, Token) {
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let token = match &rest[..end] {
        "and" => Token::Operator(Operator::And),
        "or" => Token::Operator(Operator::Or),
        "not" => Token::Not,
        "true" => Token::Constant(Value::Boolean(true)),
        "false" => Token::Constant(Value::Boolean(false)),
        name => Token::Name(name.to_owned()),
    };
    (end, token)
}

fn symbol(rest: &str) -> Result<(usize, Token), String> {
    let operators: [(&str, Operator); 14] = [
        ("**", Operator::Power),
        ("==", Operator::Equal),
        ("!=", Operator::Unequal),
        ("<=", Operator::LessOrEqual),
        (">=", Operator::GreaterOrEqual),
        ("&&", Operator::And),
        ("||", Operator::Or),
        ("<", Operator::Less),
        (">", Operator::Greater),
        ("+", Operator::Add),
        ("-", Operator::Subtract),
        ("*", Operator::Multiply),
        ("/", Operator::Divide),
        ("%", Operator::Remainder),
    ];
    if let Some((symbol, operator)) = operators.into_iter().find(|(symbol, _)| rest.starts_with(symbol)) {
        return Ok((symbol.len(), Token::Operator(operator)));
    }
    match rest.chars().next() {
        Some('(') => Ok((1, Token::Open)),
        Some(')') => Ok((1, Token::Close)),
        Some(',') => Ok((1, Token::Comma)),
        Some('!') => Ok((1, Token::Exclamation)),
        Some('=') => Err("`=` does not compare; write `==`".to_owned()),
        Some('^') => Err("`^` is not an operator; a power is written `**`".to_owned()),
        Some('&') => Err("`&` is not an operator; write `and`".to_owned()),
        Some('|') => Err("`|` is not an operator; write `or`".to_owned()),
        Some('{') => Err("names stand without braces here; write `n`, not `{n}`".to_owned()),
        other => Err(format!("`{}` means nothing here", other.map(String::from).unwrap_or_default())),
    }
}
