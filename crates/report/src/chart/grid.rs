//! The cells a curve in a terminal is drawn on: braille dots, signs and letters.

use crate::style::{Style, Tone};

/// What stands in a cell instead of dots; later ones cover earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sign {
    Moved,
    Small,
    Large,
    AtLeast,
    Predicted,
    Hit,
    Miss,
}

impl Sign {
    pub(super) fn text(self, style: &Style) -> &'static str {
        match self {
            Sign::Moved => style.choose("·", ","),
            Sign::Small => style.choose("∘", "o"),
            Sign::Large => style.choose("●", "O"),
            Sign::AtLeast => style.choose("△", "^"),
            Sign::Predicted => style.choose("◇", "?"),
            Sign::Hit => style.choose("◆", "*"),
            Sign::Miss => style.choose("✗", "x"),
        }
    }

    pub(super) fn tone(self) -> Tone {
        match self {
            Sign::Moved | Sign::Small | Sign::Large => Tone::Accent,
            Sign::AtLeast => Tone::Warning,
            Sign::Predicted => Tone::Strong,
            Sign::Hit => Tone::Good,
            Sign::Miss => Tone::Bad,
        }
    }

    pub(super) fn meaning(self) -> &'static str {
        match self {
            Sign::Moved => "run at other values, scaled",
            Sign::Small => "scaled-down run",
            Sign::Large => "full-scale run",
            Sign::AtLeast => "at least",
            Sign::Predicted => "predicted",
            Sign::Hit => "test inside",
            Sign::Miss => "test outside",
        }
    }
}

/// Cells of two by four dots, some with a sign.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) width: usize,
    pub(super) height: usize,
    dots: Vec<u8>,
    signs: Vec<Option<Sign>>,
    pub(super) letters: Vec<Option<char>>,
}

impl Grid {
    pub(super) fn new(width: usize, height: usize) -> Self {
        let cells = width * height;
        Grid { width, height, dots: vec![0; cells], signs: vec![None; cells], letters: vec![None; cells] }
    }

    /// The cell of a dot and the dot's bit in it, as Unicode numbers braille dots.
    pub(super) fn cell(&self, (x, y): (f64, f64)) -> Option<(usize, u8)> {
        if x < -0.5 || y < -0.5 {
            return None;
        }
        let (x, y) = (x.round() as usize, y.round() as usize);
        let (column, row) = (x / 2, y / 4);
        let bit = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]][y % 4][x % 2];
        (column < self.width && row < self.height).then(|| (row * self.width + column, bit))
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64)) {
        let steps = (to.0 - from.0).abs().max((to.1 - from.1).abs()).ceil().clamp(1.0, 10_000.0);
        for step in 0..=steps as usize {
            let share = step as f64 / steps;
            let point = (from.0 + share * (to.0 - from.0), from.1 + share * (to.1 - from.1));
            if let Some((cell, bit)) = self.cell(point) {
                self.dots[cell] |= bit;
            }
        }
    }

    pub(super) fn sign(&mut self, point: Option<(f64, f64)>, sign: Sign) {
        if let Some((cell, _)) = point.and_then(|point| self.cell(point)) {
            self.signs[cell] = self.signs[cell].max(Some(sign));
        }
    }

    /// Puts a letter at a point, or as near to its left as nothing stands in the way.
    pub(super) fn label(&mut self, point: (f64, f64), letter: char) {
        let Some((cell, _)) = self.cell(point) else { return };
        let start = cell - cell % self.width;
        let is_free = |&cell: &usize| self.signs[cell].is_none() && self.letters[cell].is_none();
        if let Some(free) = (start..=cell).rev().find(is_free) {
            self.letters[free] = Some(letter);
        }
    }

    pub(super) fn row(&self, row: usize, style: &Style) -> String {
        let cells = row * self.width..(row + 1) * self.width;
        let mut out = String::new();
        for cell in cells {
            if let Some(letter) = self.letters[cell] {
                out.push_str(&style.paint(Tone::Strong, &letter.to_string()));
                continue;
            }
            match (self.signs[cell], self.dots[cell]) {
                (Some(sign), _) => out.push_str(&style.paint(sign.tone(), sign.text(style))),
                (None, 0) => out.push(' '),
                (None, bits) if style.unicode => {
                    out.push(char::from_u32(0x2800 + u32::from(bits)).unwrap_or('.'));
                }
                (None, _) => out.push('.'),
            }
        }
        out
    }

    /// Signs that are visible, in order.
    pub(super) fn used(&self) -> Vec<Sign> {
        let mut used: Vec<Sign> = self.signs.iter().flatten().copied().collect();
        used.sort_unstable();
        used.dedup();
        used
    }
}
