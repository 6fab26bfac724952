//! Text for `sh`: values put into a line so that the shell takes each as the text it is.

use crate::Template;
use crate::template::Piece;

/// Where in a shell line a placeholder stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoting {
    None,
    Single,
    Double,
}

/// Quotes a text unless every character of it is harmless.
pub(crate) fn quote(text: &str) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "_-./=+:,@%".contains(c);
    if !text.is_empty() && text.chars().all(harmless) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Fills a shell line; each value stays one word and nothing in it is run, inside quotes or outside.
pub(crate) fn fill(template: &Template, value: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut line = String::new();
    let mut quoting = Quoting::None;
    for piece in template.pieces() {
        match piece {
            Piece::Literal(text) => {
                quoting = quoting_after(text, quoting);
                line.push_str(text);
            }
            Piece::Placeholder { name, .. } => {
                let text = value(name).ok_or_else(|| name.clone())?;
                line.push_str(&match quoting {
                    Quoting::None => quote(&text),
                    Quoting::Single => text.replace('\'', r"'\''"),
                    Quoting::Double => escape_double(&text),
                });
            }
        }
    }
    Ok(line)
}

fn quoting_after(text: &str, mut quoting: Quoting) -> Quoting {
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        quoting = match (quoting, character) {
            (Quoting::None | Quoting::Double, '\\') => {
                characters.next();
                quoting
            }
            (Quoting::None, '\'') => Quoting::Single,
            (Quoting::None, '"') => Quoting::Double,
            (Quoting::Single, '\'') | (Quoting::Double, '"') => Quoting::None,
            _ => quoting,
        };
    }
    quoting
}

fn escape_double(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if "\\\"$`".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stay_one_word_wherever_they_stand() {
        let nasty = |_: &str| Some("a b'$(x)".to_owned());
        let filled = |text: &str| fill(&Template::parse(text).unwrap(), &nasty).unwrap();
        assert_eq!(filled("run {v}"), r"run 'a b'\''$(x)'");
        assert_eq!(filled("run '{v}'"), r"run 'a b'\''$(x)'");
        assert_eq!(filled(r#"run "{v}""#), r#"run "a b'\$(x)""#);
        assert_eq!(filled(r#"echo \" {v}"#), r#"echo \" 'a b'\''$(x)'"#);
        assert_eq!(quote("plain-1.5e3"), "plain-1.5e3");
        assert_eq!(quote(""), "''");
    }
}
