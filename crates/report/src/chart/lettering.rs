//! How wide texts are, where they break, and where labels go so that they cover nothing.

/// Height of a line of ordinary text.
pub(super) const LINE: f64 = 15.0;

/// The width of a text in user units, estimated from letter shapes: no font is read. Rather too wide
/// than too narrow.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let ems: f64 = text
        .chars()
        .map(|c| match c {
            'i' | 'j' | 'l' | '\'' | '|' | '.' | ',' | ':' | ';' | '!' => 0.27,
            'f' | 't' | 'r' | 'I' | ' ' | '(' | ')' | '[' | ']' | '-' | '/' => 0.35,
            'm' | 'w' | 'M' | 'W' | '%' | '@' | '→' | '—' => 0.9,
            c if c.is_ascii_uppercase() => 0.7,
            c if c.is_ascii() || c == '–' || c == '…' || c == 'µ' => 0.58,
            c if (c as u32) < 0x2e80 => 0.65,
            _ => 1.0,
        })
        .sum();
    ems * size
}

/// A text in lines of at most a width, broken between words; at most `most` lines, the last one cut.
pub(super) fn wrapped(text: &str, size: f64, width: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(line, size) + text_width(word, size) + 0.35 * size <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            last.push('…');
        }
    }
    lines.into_iter().map(|line| cut(&line, size, width)).collect()
}

/// A text cut to a width, `…` at its end if anything is missing.
pub(super) fn cut(text: &str, size: f64, width: f64) -> String {
    let mut length = text.chars().count();
    let mut short = text.to_owned();
    while length > 1 && text_width(&short, size) > width {
        length -= 1;
        short = crate::text::shorten(text, length);
    }
    short
}

/// Heights near those wished for, at least `gap` apart and inside `[top, bottom]` as far as they fit.
pub(super) fn spread(wished: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wished.len()).collect();
    order.sort_by(|&a, &b| wished[a].total_cmp(&wished[b]));
    let mut placed = wished.to_vec();
    let mut above = f64::NEG_INFINITY;
    for &index in &order {
        placed[index] = placed[index].max(above + gap).max(top);
        above = placed[index];
    }
    let mut below = f64::INFINITY;
    for &index in order.iter().rev() {
        placed[index] = placed[index].min(below - gap).min(bottom);
        below = placed[index];
    }
    placed
}

/// A rectangle that something already covers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    /// A square around a point.
    pub(super) fn around((x, y): (f64, f64), reach: f64) -> Self {
        Area { left: x - reach, top: y - reach, right: x + reach, bottom: y + reach }
    }

    /// A thin strip along a level or upright line.
    pub(super) fn between((x0, y0): (f64, f64), (x1, y1): (f64, f64)) -> Self {
        Area {
            left: x0.min(x1) - 2.0,
            top: y0.min(y1) - 2.0,
            right: x0.max(x1) + 2.0,
            bottom: y0.max(y1) + 2.0,
        }
    }

    fn overlaps(&self, other: &Area) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    fn inside(&self, outer: &Area) -> bool {
        self.left >= outer.left
            && self.right <= outer.right
            && self.top >= outer.top
            && self.bottom <= outer.bottom
    }
}

/// What is covered so far, and where labels may be.
#[derive(Debug)]
pub(super) struct Labels {
    bounds: Area,
    taken: Vec<Area>,
    lines: Vec<Area>,
}

impl Labels {
    /// Labels stay inside the bounds, off what is taken and, if they can, off the lines.
    pub(super) fn new(bounds: Area, taken: Vec<Area>, lines: Vec<Area>) -> Self {
        Labels { bounds, taken, lines }
    }

    /// Lets labels that found no place lie on lines.
    pub(super) fn ignore_lines(&mut self) {
        self.lines.clear();
    }

    /// Where a label for a point can start (left end of its base line) without covering anything;
    /// the point's sign reaches so far, and the label is at most `farthest` away from it.
    pub(super) fn place(
        &mut self,
        (x, y): (f64, f64),
        (reach, farthest): (f64, f64),
        text: &str,
        size: f64,
    ) -> Option<(f64, f64)> {
        let (width, height) = (text_width(text, size), size * 1.1);
        let offsets = [4.0, 12.0, 20.0, 30.0].into_iter().filter(|&gap| gap <= farthest).flat_map(|gap| {
            let gap = gap + reach;
            [
                (gap, -height / 2.0),
                (gap * 0.7, -height - gap * 0.5),
                (gap * 0.7, gap * 0.5),
                (-width - gap, -height / 2.0),
                (-width - gap * 0.7, -height - gap * 0.5),
                (-width - gap * 0.7, gap * 0.5),
                (-width / 2.0, -height - gap),
                (-width / 2.0, gap),
            ]
        });
        for (right, down) in offsets {
            let area =
                Area { left: x + right, top: y + down, right: x + right + width, bottom: y + down + height };
            if area.inside(&self.bounds)
                && !self.taken.iter().chain(&self.lines).any(|other| other.overlaps(&area))
            {
                self.taken.push(area);
                return Some((area.left, area.bottom - height * 0.22));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_spread_and_kept_inside() {
        let placed = spread(&[10.0, 11.0, 12.0], 14.0, 0.0, 100.0);
        assert!(placed.windows(2).all(|pair| pair[1] - pair[0] >= 14.0 - 1e-9));
        assert_eq!(spread(&[95.0, 99.0], 14.0, 0.0, 100.0), [86.0, 100.0]);
        assert!(spread(&[], 14.0, 0.0, 1.0).is_empty());
    }

    #[test]
    fn long_texts_are_wrapped_and_cut() {
        let lines = wrapped("one two three four five six seven", 12.0, 60.0, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| text_width(line, 12.0) <= 66.0));
        assert!(cut(&"x".repeat(500), 12.0, 50.0).chars().count() < 12);
    }

    #[test]
    fn labels_avoid_each_other_or_are_left_out() {
        let bounds = Area { left: 0.0, top: 0.0, right: 200.0, bottom: 40.0 };
        let mut labels = Labels::new(bounds, vec![Area::around((100.0, 20.0), 5.0)], vec![]);
        let first = labels.place((100.0, 20.0), (5.0, 30.0), "hello", 12.0).unwrap();
        let second = labels.place((100.0, 20.0), (5.0, 30.0), "hello", 12.0).unwrap();
        assert_ne!(first, second);
        assert!((0..50).filter_map(|_| labels.place((100.0, 20.0), (5.0, 30.0), "hello", 12.0)).count() < 50);
    }
}
