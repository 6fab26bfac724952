//! Reads text a program left in pieces of whole lines, so that output of any size takes little
//! memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Output up to this size is one piece; a pattern that spans lines is found in it wherever it is.
pub(super) const PIECE: usize = 4 << 20;

/// The pieces of a text.
pub(super) struct Pieces<R> {
    source: R,
    size: usize,
    /// What was read after the last whole line.
    rest: Vec<u8>,
    ended: bool,
}

impl Pieces<File> {
    /// The pieces of a file.
    pub(super) fn of_file(path: &Path, size: usize) -> io::Result<Self> {
        Ok(Self::new(File::open(path)?, size))
    }
}

impl<R: Read> Pieces<R> {
    fn new(source: R, size: usize) -> Self {
        Self { source, size, rest: Vec::new(), ended: false }
    }

    /// The next piece: whole lines of about the size, or the one line that is longer cut there.
    pub(super) fn next_piece(&mut self) -> io::Result<Option<String>> {
        if self.ended {
            return Ok(None);
        }
        let mut bytes = std::mem::take(&mut self.rest);
        let wanted = (self.size - bytes.len().min(self.size)) as u64;
        let read = self.source.by_ref().take(wanted).read_to_end(&mut bytes)?;
        if (read as u64) < wanted {
            self.ended = true;
        } else if let Some(last) = bytes.iter().rposition(|&byte| byte == b'\n') {
            self.rest = bytes.split_off(last + 1);
        }
        Ok((!bytes.is_empty()).then(|| text(bytes)))
    }
}

/// Bytes as text; what is not UTF-8 is replaced.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, size: usize) -> Vec<String> {
        let mut pieces = Pieces::new(text.as_bytes(), size);
        std::iter::from_fn(|| pieces.next_piece().unwrap()).collect()
    }

    #[test]
    fn pieces_are_whole_lines() {
        assert_eq!(pieces("one\ntwo\nthree\nfour", 9), ["one\ntwo\n", "three\n", "four"]);
        assert_eq!(pieces("short", 100), ["short"]);
        assert_eq!(pieces("", 100), [""; 0]);
        assert_eq!(pieces("a\n", 2), ["a\n"]);
    }

    #[test]
    fn a_line_longer_than_a_piece_is_cut() {
        assert_eq!(pieces("abcdefgh\nx\n", 4), ["abcd", "efgh", "\nx\n"]);
    }

    #[test]
    fn other_encodings_do_not_stop_the_reader() {
        let mut pieces = Pieces::new(&b"t = 3 \xb5s\n"[..], 100);
        assert_eq!(pieces.next_piece().unwrap().unwrap(), "t = 3 \u{fffd}s\n");
    }
}
