//! As much of Protocol Buffers as ONNX needs: fields one after the other, nothing copied, nothing
//! allocated. A hundred lines of our own instead of a library that generates code: the format is
//! small and frozen, and what lies in a hostile file is only ever sliced.

use crate::ModelError;

/// A field's content.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Wire<'a> {
    /// A number.
    Varint(u64),
    /// Eight bytes.
    Fixed64,
    /// A text, bytes or a message.
    Bytes(&'a [u8]),
    /// Four bytes.
    Fixed32,
}

/// Reads fields one by one.
pub(crate) struct Message<'a> {
    bytes: &'a [u8],
}

impl<'a> Message<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Message { bytes }
    }

    /// The next field's number and content; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, Wire<'a>)>, ModelError> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        let tag = self.varint()?;
        let wire = match tag & 7 {
            0 => Wire::Varint(self.varint()?),
            1 => self.take(8).map(|_| Wire::Fixed64)?,
            2 => {
                let length = self.varint()?;
                Wire::Bytes(self.take(length)?)
            }
            5 => self.take(4).map(|_| Wire::Fixed32)?,
            other => return Err(broken(&format!("holds a field of kind {other}, which does not exist"))),
        };
        Ok(Some((tag >> 3, wire)))
    }

    fn varint(&mut self) -> Result<u64, ModelError> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(broken("holds a number longer than ten bytes"))
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], ModelError> {
        let length = usize::try_from(length).ok().filter(|&length| length <= self.bytes.len());
        let Some(length) = length else { return Err(broken("ends too early: it is truncated")) };
        let (taken, rest) = self.bytes.split_at(length);
        self.bytes = rest;
        Ok(taken)
    }
}

/// Numbers of a repeated field: packed into one, or one by one.
pub(crate) fn numbers(wire: Wire<'_>, into: &mut Vec<u64>) -> Result<(), ModelError> {
    match wire {
        Wire::Varint(number) => into.push(number),
        Wire::Bytes(packed) => {
            let mut message = Message::new(packed);
            while !message.bytes.is_empty() {
                into.push(message.varint()?);
            }
        }
        Wire::Fixed32 | Wire::Fixed64 => return Err(broken("holds a list of the wrong kind")),
    }
    Ok(())
}

fn broken(reason: &str) -> ModelError {
    ModelError::new("the file", reason).hint("this is no ONNX file, or only a part of one")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_the_format_documents_them() {
        // Protocol Buffers documentation, "Encoding": field 1 = 150, field 2 = "testing".
        let mut message =
            Message::new(&[0x08, 0x96, 0x01, 0x12, 0x07, 0x74, 0x65, 0x73, 0x74, 0x69, 0x6e, 0x67]);
        assert_eq!(message.next(), Ok(Some((1, Wire::Varint(150)))));
        assert_eq!(message.next(), Ok(Some((2, Wire::Bytes(b"testing")))));
        assert_eq!(message.next(), Ok(None));
        assert!(Message::new(&[0x12, 0x07, 0x74]).next().is_err());
    }
}
