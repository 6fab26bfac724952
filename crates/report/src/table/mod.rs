//! One table, many forms: terminal, Markdown, CSV, HTML and JSON.
//!
//! A [`Cell`] holds a text for people and, for numbers, the number itself: the terminal, Markdown
//! and HTML show the text, CSV and JSON the number. Tables of known views are in `tables`.

mod cases;
mod layout;
mod machine;
mod markup;
mod tables;
mod terminal;

use serde_json::Value as Json;

use crate::style::Tone;

pub use cases::{cases_table, common_features};
pub use tables::{candidates_table, host_table, plan_table, sweep_table};

/// Which side a column's texts lean to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Texts; they may be wrapped.
    Left,
    /// Numbers; they never are.
    Right,
}

/// Who sees a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Audience {
    Everyone,
    People,
    Programs,
}

/// A column's head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    title: String,
    key: String,
    align: Align,
    optional: bool,
    audience: Audience,
}

impl Column {
    /// A column of texts.
    pub fn left(title: impl Into<String>) -> Self {
        let title = title.into();
        Column {
            key: key_of(&title),
            title,
            align: Align::Left,
            optional: false,
            audience: Audience::Everyone,
        }
    }

    /// A column of numbers.
    pub fn right(title: impl Into<String>) -> Self {
        Column { align: Align::Right, ..Column::left(title) }
    }

    /// The name in CSV and JSON, where the title does not say the unit: `walltime_s`.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = key.into();
        self
    }

    /// May be left out where the terminal is too narrow; the last such column goes first.
    pub fn optional(mut self) -> Self {
        self.optional = true;
        self
    }

    /// Shown only to people: a range in words.
    pub fn for_people(mut self) -> Self {
        self.audience = Audience::People;
        self
    }

    /// Only in CSV and JSON: the ends of that range as numbers.
    pub fn for_programs(mut self) -> Self {
        self.audience = Audience::Programs;
        self
    }

    /// The head shown to people.
    pub fn title(&self) -> &str {
        &self.title
    }
}

/// `Peak memory` becomes `peak_memory`.
fn key_of(title: &str) -> String {
    let words: Vec<String> = title
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join("_")
}

/// One cell: what people read, what programs read, and its tone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    text: String,
    value: Option<Json>,
    tone: Tone,
}

impl Cell {
    /// A text; programs read the same text.
    pub fn text(text: impl Into<String>) -> Self {
        Cell { text: text.into(), value: None, tone: Tone::Plain }
    }

    /// A number shown as `text`; a number that is not finite is missing.
    pub fn number(text: impl Into<String>, value: f64) -> Self {
        if !value.is_finite() {
            return Cell::missing();
        }
        // Whole numbers without a fraction: 3, not 3.0.
        let whole = value.fract() == 0.0 && value.abs() < 9e15;
        let value = if whole { Json::from(value as i64) } else { Json::from(value) };
        Cell { text: text.into(), value: Some(value), tone: Tone::Plain }
    }

    /// Nothing known: `–` for people, nothing in CSV, `null` in JSON.
    pub fn missing() -> Self {
        Cell { text: "–".to_owned(), value: Some(Json::Null), tone: Tone::Faint }
    }

    /// A yes-or-no shown as `text`.
    pub fn truth(text: impl Into<String>, value: bool) -> Self {
        Cell { text: text.into(), value: Some(Json::from(value)), tone: Tone::Plain }
    }

    /// A text for people that programs read as another one.
    pub fn word(text: impl Into<String>, word: &str) -> Self {
        Cell { text: text.into(), value: Some(Json::from(word)), tone: Tone::Plain }
    }

    /// The same cell in a tone.
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// What people read.
    pub fn as_text(&self) -> &str {
        &self.text
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::text(text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::text(text)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Cell::number(crate::text::group_thousands(&count.to_string()), count as f64)
    }
}

/// Columns and rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// An empty table.
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Self {
        Table { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// Adds a row: cells beyond the last column are dropped, absent ones are missing.
    pub fn push<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let mut row: Vec<Cell> = cells.into_iter().map(Into::into).take(self.columns.len()).collect();
        row.resize_with(self.columns.len(), Cell::missing);
        self.rows.push(row);
    }

    /// Adds a row and gives the table back.
    #[must_use]
    pub fn row<C: Into<Cell>>(mut self, cells: impl IntoIterator<Item = C>) -> Self {
        self.push(cells);
        self
    }

    /// The heads.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The rows.
    pub fn rows(&self) -> &[Vec<Cell>] {
        &self.rows
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The first rows, and how many are left out.
    pub fn first_rows(&self, most: usize) -> (Table, usize) {
        let rows: Vec<Vec<Cell>> = self.rows.iter().take(most).cloned().collect();
        let left_out = self.rows.len() - rows.len();
        (Table { columns: self.columns.clone(), rows }, left_out)
    }

    /// The same table without columns in which every cell is missing.
    #[must_use]
    pub fn without_empty_columns(self) -> Self {
        let is_filled = |index: usize| {
            self.rows.iter().any(|row| row.get(index).is_some_and(|cell| cell.value != Some(Json::Null)))
        };
        let filled: Vec<bool> =
            (0..self.columns.len()).map(|index| self.rows.is_empty() || is_filled(index)).collect();
        let keep = |index: usize| filled.get(index).copied().unwrap_or(false);
        self.with_columns(keep)
    }

    /// The table as people see it.
    fn for_people(&self) -> Table {
        let keep = |index: usize| self.columns[index].audience != Audience::Programs;
        self.clone().with_columns(keep)
    }

    /// The table as programs read it.
    fn for_programs(&self) -> Table {
        let keep = |index: usize| self.columns[index].audience != Audience::People;
        self.clone().with_columns(keep)
    }

    /// The same table with only the columns wanted.
    fn with_columns(self, keep: impl Fn(usize) -> bool) -> Self {
        fn select<T>(items: Vec<T>, keep: impl Fn(usize) -> bool) -> Vec<T> {
            items.into_iter().enumerate().filter(|(index, _)| keep(*index)).map(|(_, item)| item).collect()
        }
        Table {
            columns: select(self.columns, &keep),
            rows: self.rows.into_iter().map(|row| select(row, &keep)).collect(),
        }
    }
}
