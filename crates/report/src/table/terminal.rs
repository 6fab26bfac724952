//! A table for the terminal: columns two spaces apart, one thin rule under the head. Too wide for
//! the terminal, texts wrap; still too wide, optional columns are left out and named below; and if
//! that is not enough, each row becomes a block of `name  value` lines.

use super::layout::{fit, narrowest, padding, width, wrap};
use super::{Align, Cell, Table};
use crate::style::{Style, Tone, to_ascii};
use crate::text::printable;

const GAP: &str = "  ";

impl Table {
    /// The table in at most `room` terminal cells a line, with a line break at its end.
    pub fn to_terminal(&self, room: usize, style: &Style) -> String {
        self.for_people().drawn(room, style)
    }

    fn drawn(&self, room: usize, style: &Style) -> String {
        if self.columns.is_empty() {
            return String::new();
        }
        let heads: Vec<String> = self.columns.iter().map(|column| shown(&column.title, style)).collect();
        let bodies: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(|cell| shown(&cell.text, style)).collect()).collect();
        let natural: Vec<usize> = (0..heads.len())
            .map(|index| {
                let cells = bodies.iter().map(|row| width(&row[index])).max().unwrap_or(0);
                cells.max(width(&heads[index]))
            })
            .collect();
        let least: Vec<usize> =
            (0..heads.len()).map(|index| self.least_width(index, natural[index])).collect();
        let gaps = GAP.len() * (heads.len() - 1);
        if let Some(widths) = fit(&natural, &least, room.saturating_sub(gaps)) {
            return self.in_columns(&heads, &bodies, &widths, style);
        }
        self.narrowed(room, style).unwrap_or_else(|| self.in_blocks(&heads, &bodies, room, style))
    }

    /// The table without as few of its optional columns as possible, if that makes it fit.
    fn narrowed(&self, room: usize, style: &Style) -> Option<String> {
        let optional: Vec<usize> =
            (0..self.columns.len()).rev().filter(|&index| self.columns[index].optional).collect();
        (1..=optional.len()).find_map(|count| {
            let dropped = &optional[..count];
            let table = self.clone().with_columns(|index| !dropped.contains(&index));
            if table.columns.is_empty() || table.least_total() > room {
                return None;
            }
            let names: Vec<&str> = dropped.iter().rev().map(|&index| self.columns[index].title()).collect();
            let note = format!("not shown for lack of width: {}", names.join(", "));
            let note = wrap(&shown(&note, style), room).join("\n");
            Some(table.drawn(room, style) + &style.paint(Tone::Faint, &note) + "\n")
        })
    }

    /// The least width a column may get: numbers are never broken, texts between words.
    fn least_width(&self, index: usize, natural: usize) -> usize {
        if self.columns[index].align == Align::Right {
            return natural;
        }
        let texts = self.rows.iter().map(|row| row[index].text.as_str());
        narrowest(texts.chain([self.columns[index].title.as_str()])).min(natural)
    }

    /// The least width in which the columns still stand side by side.
    fn least_total(&self) -> usize {
        let cells = |index: usize| {
            let texts = self.rows.iter().map(|row| width(&row[index].text));
            let natural = texts.chain([width(&self.columns[index].title)]).max().unwrap_or(0);
            self.least_width(index, natural)
        };
        (0..self.columns.len()).map(cells).sum::<usize>() + GAP.len() * (self.columns.len().saturating_sub(1))
    }

    fn in_columns(
        &self,
        heads: &[String],
        bodies: &[Vec<String>],
        widths: &[usize],
        style: &Style,
    ) -> String {
        let strong = vec![Tone::Strong; heads.len()];
        let mut out = self.lines(heads, &strong, widths, style);
        let total = widths.iter().sum::<usize>() + GAP.len() * (widths.len() - 1);
        out.push_str(&style.paint(Tone::Faint, &style.choose("─", "-").repeat(total)));
        out.push('\n');
        for (row, texts) in self.rows.iter().zip(bodies) {
            let tones: Vec<Tone> = row.iter().map(|cell| cell.tone).collect();
            out.push_str(&self.lines(texts, &tones, widths, style));
        }
        out
    }

    /// One row, over as many lines as its longest wrapped cell needs.
    fn lines(&self, texts: &[String], tones: &[Tone], widths: &[usize], style: &Style) -> String {
        let cells: Vec<Vec<String>> =
            texts.iter().zip(widths).map(|(text, &width)| wrap(text, width)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let mut out = String::new();
        for index in 0..height {
            let mut line = String::new();
            let mut trailing = 0;
            for (position, cell) in cells.iter().enumerate() {
                let text = cell.get(index).map_or("", String::as_str);
                let right = self.columns.get(position).is_some_and(|column| column.align == Align::Right);
                let (before, after) = padding(text, widths[position], right);
                let lead = if position == 0 { 0 } else { GAP.len() };
                if !text.is_empty() {
                    line.push_str(&" ".repeat(trailing + lead + before));
                    line.push_str(&style.paint(tones.get(position).copied().unwrap_or_default(), text));
                    trailing = after;
                } else {
                    trailing += lead + before + after;
                }
            }
            out.push_str(&line);
            out.push('\n');
        }
        out
    }

    fn in_blocks(&self, heads: &[String], bodies: &[Vec<String>], room: usize, style: &Style) -> String {
        let named = |index: usize| match heads[index].as_str() {
            "" => shown(&self.columns[index].key, style),
            head => head.to_owned(),
        };
        let heads: Vec<String> = (0..heads.len()).map(named).collect();
        let name_width = heads.iter().map(|head| width(head)).max().unwrap_or(0);
        let value_width = room.saturating_sub(name_width + GAP.len()).max(1);
        let mut out = String::new();
        for (index, (row, texts)) in self.rows.iter().zip(bodies).enumerate() {
            if index > 0 {
                out.push('\n');
            }
            let pairs = heads.iter().zip(row).zip(texts).filter(|(_, text)| !text.is_empty());
            for ((head, cell), text) in pairs {
                push_pair(&mut out, head, cell, text, (name_width, value_width), style);
            }
        }
        out
    }
}

fn push_pair(out: &mut String, head: &str, cell: &Cell, text: &str, widths: (usize, usize), style: &Style) {
    for (number, line) in wrap(text, widths.1).iter().enumerate() {
        let name = if number == 0 { head } else { "" };
        let (_, after) = padding(name, widths.0, false);
        out.push_str(&style.paint(Tone::Strong, name));
        out.push_str(&" ".repeat(after));
        out.push_str(GAP);
        out.push_str(&style.paint(cell.tone, line));
        out.push('\n');
    }
}

/// The text as the terminal may show it.
fn shown(text: &str, style: &Style) -> String {
    let text = printable(text);
    if style.unicode { text } else { to_ascii(&text) }
}
