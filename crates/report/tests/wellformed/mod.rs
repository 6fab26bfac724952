//! A checker for what this room writes: tags nest, attributes are quoted, ids are unique.

use std::collections::BTreeSet;

/// HTML elements that have no end tag.
const VOID: [&str; 2] = ["meta", "br"];

/// Says what is wrong with a piece of SVG or HTML, if anything is.
pub fn check(markup: &str) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    let mut ids = BTreeSet::new();
    let mut rest = markup;
    while let Some(start) = rest.find('<') {
        if rest[..start].contains('>') && open.last().is_none_or(|tag| tag != "style") {
            return Err(format!("a bare > in {:?}", &rest[..start]));
        }
        let end = rest[start..].find('>').ok_or("a tag without an end")? + start;
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if tag.starts_with('!') {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            let last = open.pop().ok_or_else(|| format!("</{name}> closes nothing"))?;
            if last != name {
                return Err(format!("</{name}> closes <{last}>"));
            }
            continue;
        }
        let body = tag.strip_suffix('/').unwrap_or(tag);
        let (name, attributes) = body.split_once(' ').unwrap_or((body, ""));
        if !name.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Err(format!("<{name}> is no name"));
        }
        for (key, value) in attribute_pairs(attributes)? {
            if key.starts_with("on") || value.contains("javascript:") {
                return Err(format!("{key} could run code"));
            }
            if key == "id" && !ids.insert(value.clone()) {
                return Err(format!("the id {value} is there twice"));
            }
            if ["src", "href"].contains(&key.as_str()) {
                return Err(format!("{key} needs something outside"));
            }
            if ["NaN", "inf"].iter().any(|bad| value.contains(bad)) && key != "aria-labelledby" {
                return Err(format!("{key}={value}"));
            }
        }
        if !tag.ends_with('/') && !VOID.contains(&name) {
            open.push(name.to_owned());
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("never closed: {open:?}")) }
}

fn attribute_pairs(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut pairs = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (key, after) = rest.split_once("=\"").ok_or_else(|| format!("unquoted attribute in {text:?}"))?;
        let (value, next) = after.split_once('"').ok_or_else(|| format!("open quote in {text:?}"))?;
        pairs.push((key.trim().to_owned(), value.to_owned()));
        rest = next.trim_start();
    }
    Ok(pairs)
}
