//! Lines of a stream, one at a time, without copying them. Never holds more than one chunk or one line.

use std::io::{ErrorKind, Read};

use memchr::memchr;

use crate::TraceError;

const CHUNK: usize = 256 * 1024;

/// A line longer than this is no line of a trace.
const LONGEST: usize = 64 * 1024 * 1024;

/// Calls `visit` with the number (from 1) and bytes of each line, without its end. Returns how many
/// lines there are.
pub(crate) fn for_each_line(
    name: &str,
    source: &mut dyn Read,
    mut visit: impl FnMut(u64, &[u8]) -> Result<(), TraceError>,
) -> Result<u64, TraceError> {
    let mut buffer = vec![0u8; CHUNK];
    let mut filled = 0;
    let mut line = 0;
    loop {
        let read = read_some(name, source, &mut buffer[filled..])?;
        if read == 0 {
            if filled > 0 {
                line += 1;
                visit(line, trimmed(&buffer[..filled]))?;
            }
            return Ok(line);
        }
        let searched = filled;
        filled += read;
        let mut start = 0;
        let mut from = searched;
        while let Some(found) = memchr(b'\n', &buffer[from..filled]) {
            line += 1;
            visit(line, trimmed(&buffer[start..from + found]))?;
            start = from + found + 1;
            from = start;
        }
        buffer.copy_within(start..filled, 0);
        filled -= start;
        if filled == buffer.len() {
            if filled >= LONGEST {
                return Err(TraceError::Binary { name: name.to_owned(), line: line + 1, offset: 0 });
            }
            buffer.resize(filled * 2, 0);
        }
    }
}

/// The line without the carriage return of another system.
fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn read_some(name: &str, source: &mut dyn Read, buffer: &mut [u8]) -> Result<usize, TraceError> {
    loop {
        match source.read(buffer) {
            Ok(count) => return Ok(count),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(source) => return Err(TraceError::Read { name: name.to_owned(), source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that gives a few bytes at a time.
    struct Dribble<'a>(&'a [u8], usize);

    impl Read for Dribble<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(buffer.len()).min(self.0.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    proptest::proptest! {
        #[test]
        fn lines_are_those_of_the_text(text in "[ab\n\r]{0,200}", step in 1usize..20) {
            let mut found = Vec::new();
            let count = for_each_line("x", &mut Dribble(text.as_bytes(), step), |number, line| {
                assert_eq!(number, found.len() as u64 + 1);
                found.push(String::from_utf8(line.to_vec()).unwrap());
                Ok(())
            }).unwrap();
            let mut expected: Vec<&str> = text.split('\n').collect();
            if expected.last() == Some(&"") { expected.pop(); }
            let expected: Vec<String> =
                expected.iter().map(|line| line.strip_suffix('\r').unwrap_or(line).to_owned()).collect();
            proptest::prop_assert_eq!(count, expected.len() as u64);
            proptest::prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_line_longer_than_the_chunk_is_one_line() {
        let text = [vec![b'x'; 3 * CHUNK], b"\nshort".to_vec()].concat();
        let mut lengths = Vec::new();
        for_each_line("x", &mut text.as_slice(), |_, line| {
            lengths.push(line.len());
            Ok(())
        })
        .unwrap();
        assert_eq!(lengths, [3 * CHUNK, 5]);
    }
}
