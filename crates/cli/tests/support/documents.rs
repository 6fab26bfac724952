//! What docs/json.md promises.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

/// The key paths of each command, from the tables of the document.
pub fn documented() -> BTreeMap<String, Vec<String>> {
    let text = fs::read_to_string(super::repository().join("docs/json.md")).unwrap();
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut command = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## harp ") {
            command = name.to_owned();
        } else if let Some(rest) = line.strip_prefix("| `") {
            found.entry(command.clone()).or_default().push(rest.split('`').next().unwrap().to_owned());
        }
    }
    found
}

/// Whether a value has a path such as `cases[].features`; `[]` is any element.
pub fn has(value: &Value, path: &str) -> bool {
    if path.is_empty() {
        return true;
    }
    if let Some(rest) = path.strip_prefix("[]") {
        let rest = rest.strip_prefix('.').unwrap_or(rest);
        return value.as_array().is_some_and(|elements| elements.iter().any(|element| has(element, rest)));
    }
    let end = path.find(['.', '[']).unwrap_or(path.len());
    let (name, rest) = path.split_at(end);
    value.get(name).is_some_and(|inner| has(inner, rest.strip_prefix('.').unwrap_or(rest)))
}

/// Fails the test when an answer lacks something that docs/json.md promises.
pub fn promised(answer: &Value, command: &str) {
    for path in &documented()[command] {
        assert!(has(answer, path), "harp {command} --json has no `{path}`:\n{answer:#}");
    }
}
