//! The JSON Schema of the experiment file, for editors that complete and check while one types.
//! Made from the key tables; it can say less than the checker, never more.

use serde_json::{Map, Value, json};

use crate::keys::{Key, RANGE, ROOT, Shape, Table};

/// The JSON Schema (draft 2020-12) of the experiment file.
pub fn schema() -> Value {
    let mut schema = table(&ROOT);
    if let Value::Object(map) = &mut schema {
        map.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
        map.insert("title".into(), json!("harp experiment"));
    }
    schema
}

fn table(keys: &Table) -> Value {
    let properties: Map<String, Value> =
        keys.keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    let required: Vec<&str> =
        keys.keys.iter().filter(|key| key.otherwise.is_empty()).map(|key| key.name).collect();
    let mut schema = json!({
        "type": "object",
        "description": keys.about,
        "properties": properties,
        "additionalProperties": false,
    });
    if let (Value::Object(map), false) = (&mut schema, required.is_empty()) {
        map.insert("required".into(), json!(required));
    }
    schema
}

fn property(key: &Key) -> Value {
    let mut schema = shape(key.shape);
    if let Value::Object(map) = &mut schema {
        map.insert("description".into(), json!(key.about));
        if !key.otherwise.is_empty() {
            // In words, because a default is not always a value.
            map.insert("$comment".into(), json!(format!("without it: {}", key.otherwise)));
        }
    }
    schema
}

fn shape(shape: Shape) -> Value {
    let scalar = json!({ "type": ["number", "string", "boolean"] });
    match shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Texts => one_or_several(&json!({ "type": "string" }), 0),
        Shape::Boolean => json!({ "type": "boolean" }),
        Shape::Whole(least) => json!({ "type": "integer", "minimum": least }),
        Shape::Between(low, high) => {
            json!({ "type": "number", "exclusiveMinimum": low, "exclusiveMaximum": high })
        }
        Shape::Amount => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Shape::Duration => {
            json!({ "anyOf": [{ "type": "number", "exclusiveMinimum": 0 }, { "type": "string" }] })
        }
        Shape::Choice(words) => json!({ "type": "string", "enum": words }),
        Shape::Policy => json!({ "type": "string", "pattern": "^(mae|wtm|cost|upp=0?\\.[0-4][0-9]*)$" }),
        Shape::Number => json!({ "type": "number" }),
        Shape::Values => {
            let list = json!({ "type": "array", "items": scalar.clone(), "minItems": 1 });
            json!({ "anyOf": [scalar, list, table(&RANGE)] })
        }
        Shape::Counts(least) => one_or_several(&json!({ "type": "integer", "minimum": least }), 1),
        Shape::Sizes => one_or_several(&json!({ "type": ["integer", "string"] }), 1),
        Shape::CountOrAuto => json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, { "const": "auto" }] }),
        Shape::Variables => json!({ "type": "object", "additionalProperties": scalar }),
        Shape::List(entry) => one_or_several(&json!({ "anyOf": [{ "type": "string" }, table(entry)] }), 0),
        Shape::Table(inner) => table(inner),
        Shape::Named(inner) => json!({ "type": "object", "additionalProperties": table(inner) }),
    }
}

fn one_or_several(one: &Value, least: u64) -> Value {
    json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": least }] })
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::samples::{FULL, SMALL};

    /// Why a value does not fit a schema; as much of the standard as the schema above uses.
    fn objections(value: &Value, schema: &Value, path: &str) -> Vec<String> {
        let mut found = Vec::new();
        if let Some(options) = schema.get("anyOf").and_then(Value::as_array) {
            let fits = options.iter().any(|option| objections(value, option, path).is_empty());
            return if fits { found } else { vec![format!("{path}: fits none of {options:?}")] };
        }
        if let Some(only) = schema.get("const") {
            return if only == value { found } else { vec![format!("{path}: not {only}")] };
        }
        let types: Vec<&str> = match &schema["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            one => one.as_str().into_iter().collect(),
        };
        let fits = types.iter().any(|kind| match *kind {
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64(),
            "number" => value.is_number(),
            "array" => value.is_array(),
            _ => value.is_object(),
        });
        if !fits {
            found.push(format!("{path}: {value} is not {types:?}"));
        }
        if let Some(words) = schema.get("enum").and_then(Value::as_array)
            && !words.contains(value)
        {
            found.push(format!("{path}: {value} is not one of {words:?}"));
        }
        let bound = |name: &str, holds: fn(f64, f64) -> bool| match (schema[name].as_f64(), value.as_f64()) {
            (Some(bound), Some(number)) => holds(number, bound),
            _ => true,
        };
        let bounded = bound("minimum", |number, bound| number >= bound)
            && bound("exclusiveMinimum", |number, bound| number > bound)
            && bound("exclusiveMaximum", |number, bound| number < bound);
        if !bounded {
            found.push(format!("{path}: {value} is out of bounds"));
        }
        if let Some(elements) = value.as_array() {
            for element in elements {
                found.extend(objections(element, &schema["items"], path));
            }
            if (elements.len() as u64) < schema["minItems"].as_u64().unwrap_or(0) {
                found.push(format!("{path}: too few"));
            }
        }
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if value.get(name).is_none() {
                found.push(format!("{path}: {name} is missing"));
            }
        }
        for (name, inner) in value.as_object().into_iter().flatten() {
            let path = format!("{path}.{name}");
            match schema["properties"].get(name).unwrap_or(&schema["additionalProperties"]) {
                Value::Bool(false) => found.push(format!("{path}: unknown")),
                schema => found.extend(objections(inner, schema, &path)),
            }
        }
        found
    }

    /// Holds that a file fits the schema.
    pub(crate) fn assert_fits(text: &str) {
        let value: Value = toml::from_str(text).unwrap();
        assert_eq!(objections(&value, &schema(), "file"), Vec::<String>::new(), "{text}");
    }

    #[test]
    fn accepted_files_fit_the_schema() {
        assert_fits(SMALL);
        assert_fits(FULL);
    }

    #[test]
    fn unknown_keys_do_not_fit() {
        let value: Value = toml::from_str(&SMALL.replace("command", "comand")).unwrap();
        let found = objections(&value, &schema(), "file");
        assert_eq!(found, ["file.program: command is missing", "file.program.comand: unknown"]);
    }

    /// The keys of a file by table, found along the key tables.
    fn keys_of(value: &Value, table: &'static Table, found: &mut BTreeSet<(&'static str, String)>) {
        for (name, inner) in value.as_object().into_iter().flatten() {
            found.insert((table.heading, name.clone()));
            match table.key(name).unwrap().shape {
                Shape::Table(table) => keys_of(inner, table, found),
                Shape::Named(table) => {
                    inner.as_object().unwrap().values().for_each(|one| keys_of(one, table, found));
                }
                Shape::List(table) => {
                    inner.as_array().unwrap().iter().for_each(|one| keys_of(one, table, found));
                }
                Shape::Values if inner.is_object() => keys_of(inner, &RANGE, found),
                _ => {}
            }
        }
    }

    #[test]
    fn every_key_of_the_tables_is_understood_by_the_reader() {
        let value: Value = toml::from_str(FULL).unwrap();
        let mut used = BTreeSet::new();
        keys_of(&value, &ROOT, &mut used);
        // At one scale any key may differ; FULL, which passes, shows some of them.
        let whole = |table: &&'static Table| !table.heading.ends_with(".<scale>]");
        let known: BTreeSet<(&str, String)> = (Table::all().into_iter().filter(whole))
            .flat_map(|table| table.keys.iter().map(|key| (table.heading, key.name.to_owned())))
            .collect();
        used.retain(|(heading, _)| !heading.ends_with(".<scale>]"));
        assert_eq!(used, known);
    }

    #[test]
    fn every_example_fits_its_key() {
        for key in Table::all().into_iter().flat_map(|table| table.keys) {
            if !key.example.is_empty() {
                let written: Value = toml::from_str(&format!("value = {}", key.example)).unwrap();
                assert_eq!(
                    objections(&written["value"], &property(key), key.name),
                    Vec::<String>::new(),
                    "{}",
                    key.name
                );
            }
        }
    }
}
