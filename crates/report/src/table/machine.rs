//! A table for programs: CSV (RFC 4180, with a head) and JSON (an array of objects).

use serde_json::{Map, Value as Json};

use super::{Cell, Table};

impl Table {
    /// Comma-separated values with a head; numbers bare, missing cells empty.
    pub fn to_csv(&self) -> String {
        let table = self.for_programs();
        let mut out = String::new();
        let heads: Vec<String> = table.columns.iter().map(|column| quoted(&column.key)).collect();
        out.push_str(&heads.join(","));
        out.push('\n');
        for row in &table.rows {
            let cells: Vec<String> = row.iter().map(csv_cell).collect();
            out.push_str(&cells.join(","));
            out.push('\n');
        }
        out
    }

    /// One object a row, by column key, in column order of the keys' names.
    pub fn to_json(&self) -> Json {
        let table = self.for_programs();
        let object = |row: &Vec<Cell>| {
            let pairs = table.columns.iter().zip(row);
            let entries: Map<String, Json> =
                pairs.map(|(column, cell)| (column.key.clone(), json_cell(cell))).collect();
            Json::Object(entries)
        };
        Json::Array(table.rows.iter().map(object).collect())
    }
}

fn json_cell(cell: &Cell) -> Json {
    cell.value.clone().unwrap_or_else(|| Json::from(cell.text.as_str()))
}

fn csv_cell(cell: &Cell) -> String {
    match &cell.value {
        None => quoted(&cell.text),
        Some(Json::Null) => String::new(),
        Some(Json::String(text)) => quoted(text),
        Some(other) => other.to_string(),
    }
}

/// In quotes where a comma, a quote, a line break or a space at an end asks for it.
fn quoted(text: &str) -> String {
    let special = text.contains([',', '"', '\n', '\r']) || text.trim() != text;
    if special { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}
