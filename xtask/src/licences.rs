//! Every dependency must allow what harp's own licence promises.

use anyhow::{Result, bail};
use serde_json::Value;

use crate::metadata;

/// Licences that ask for nothing harp does not already give.
const ACCEPTED: [&str; 11] = [
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "Unicode-3.0",
    "Unlicense",
    "0BSD",
    "CC0-1.0",
];

/// Fails when a dependency has no acceptable licence.
pub fn check() -> Result<()> {
    let metadata = metadata::cargo_metadata()?;
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut refused = Vec::new();
    for package in packages {
        let name = format!("{} {}", text(&package["name"]), text(&package["version"]));
        match package["license"].as_str() {
            Some(expression) if acceptable(expression) => {}
            Some(expression) => refused.push(format!("{name}: {expression}")),
            None => refused.push(format!("{name}: no licence given")),
        }
    }
    if !refused.is_empty() {
        bail!("licences to look at:\n  {}", refused.join("\n  "));
    }
    println!("licences: {} packages, all acceptable", packages.len());
    Ok(())
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

/// Whether an SPDX expression can be met with accepted licences alone: one choice of each OR, all
/// parts of each AND. `/` is the old way of writing OR.
fn acceptable(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    let mut tokens = Vec::new();
    for word in expression.replace('(', " ( ").replace(')', " ) ").split_whitespace() {
        tokens.push(word.to_owned());
    }
    let mut position = 0;
    let met = any_of(&tokens, &mut position);
    met && position == tokens.len()
}

fn any_of(tokens: &[String], position: &mut usize) -> bool {
    let mut met = all_of(tokens, position);
    while tokens.get(*position).is_some_and(|token| token == "OR") {
        *position += 1;
        met |= all_of(tokens, position);
    }
    met
}

fn all_of(tokens: &[String], position: &mut usize) -> bool {
    let mut met = one(tokens, position);
    while tokens.get(*position).is_some_and(|token| token == "AND") {
        *position += 1;
        met &= one(tokens, position);
    }
    met
}

fn one(tokens: &[String], position: &mut usize) -> bool {
    let Some(token) = tokens.get(*position) else { return false };
    *position += 1;
    if token == "(" {
        let met = any_of(tokens, position);
        *position += 1;
        return met;
    }
    let mut name = token.clone();
    if tokens.get(*position).is_some_and(|next| next == "WITH") {
        name = format!("{name} WITH {}", tokens.get(*position + 1).cloned().unwrap_or_default());
        *position += 2;
    }
    ACCEPTED.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::acceptable;

    #[test]
    fn expressions_are_met_by_one_choice_of_each_or_and_all_of_each_and() {
        for good in [
            "MIT",
            "GPL-3.0 OR MIT",
            "MIT/Apache-2.0",
            "(MIT OR GPL-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR MIT",
        ] {
            assert!(acceptable(good), "{good}");
        }
        for bad in ["GPL-3.0", "MIT AND GPL-3.0", "", "MPL-2.0 WITH x", "(MIT"] {
            assert!(!acceptable(bad), "{bad}");
        }
    }
}
