//! A table for documents: Markdown and HTML.

use super::{Align, Table};
use crate::style::Tone;
use crate::text::{escape, printable};

impl Table {
    /// A Markdown table with aligned columns, readable as it is.
    pub fn to_markdown(&self) -> String {
        let table = self.for_people();
        if table.columns.is_empty() {
            return String::new();
        }
        let heads: Vec<String> = table.columns.iter().map(|column| markdown_cell(&column.title)).collect();
        let bodies: Vec<Vec<String>> =
            table.rows.iter().map(|row| row.iter().map(|cell| markdown_cell(&cell.text)).collect()).collect();
        let widths: Vec<usize> = (0..heads.len())
            .map(|index| {
                let cells = bodies.iter().map(|row| super::layout::width(&row[index])).max().unwrap_or(0);
                cells.max(super::layout::width(&heads[index])).max(3)
            })
            .collect();
        let line = |texts: &[String]| {
            let cells = texts.iter().zip(&widths).zip(&table.columns).map(|((text, &room), column)| {
                let (before, after) = super::layout::padding(text, room, column.align == Align::Right);
                format!("{}{text}{}", " ".repeat(before), " ".repeat(after))
            });
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let rule = table.columns.iter().zip(&widths).map(|(column, &room)| match column.align {
            Align::Left => "-".repeat(room + 2),
            Align::Right => format!("{}:", "-".repeat(room + 1)),
        });
        let mut out = line(&heads);
        out.push_str(&format!("|{}|\n", rule.collect::<Vec<_>>().join("|")));
        for row in &bodies {
            out.push_str(&line(row));
        }
        out
    }

    /// An HTML `<table>`; numbers carry class `num`, tones their own classes.
    pub fn to_html(&self) -> String {
        let table = self.for_people();
        let class = |align: Align, tone: Tone| {
            let names: Vec<&str> = [
                (align == Align::Right).then_some("num"),
                match tone {
                    Tone::Plain => None,
                    Tone::Strong => Some("strong"),
                    Tone::Faint => Some("faint"),
                    Tone::Good => Some("good"),
                    Tone::Bad => Some("bad"),
                    Tone::Warning => Some("warning"),
                    Tone::Accent => Some("accent"),
                },
            ]
            .into_iter()
            .flatten()
            .collect();
            if names.is_empty() { String::new() } else { format!(" class=\"{}\"", names.join(" ")) }
        };
        let mut out = String::from("<table>\n<thead><tr>");
        for column in &table.columns {
            let class = class(column.align, Tone::Plain);
            out.push_str(&format!("<th scope=\"col\"{class}>{}</th>", escape(&column.title)));
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in &table.rows {
            out.push_str("<tr>");
            for (column, cell) in table.columns.iter().zip(row) {
                out.push_str(&format!("<td{}>{}</td>", class(column.align, cell.tone), escape(&cell.text)));
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody>\n</table>\n");
        out
    }
}

/// Nothing in the text can end the cell or start markup.
fn markdown_cell(text: &str) -> String {
    let mut safe = String::new();
    for c in printable(text).chars() {
        match c {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' => {
                safe.push('\\');
                safe.push(c);
            }
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            c => safe.push(c),
        }
    }
    safe
}
