//! Lines of a stream, each a message. A line that is too long is told and skipped, and the stream goes on.

use std::io::{self, BufRead};

use super::rpc::MESSAGE_BYTES_MAX;

/// What stands on the next line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A message, without the end of the line.
    Message(Vec<u8>),
    /// More than [`MESSAGE_BYTES_MAX`] bytes.
    TooLong,
}

/// Reads the next line that is not blank; `None` at the end of the stream.
pub fn next_line(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    loop {
        let mut line = Vec::new();
        let mut too_long = false;
        let ended = loop {
            let piece = match input.fill_buf() {
                Ok(piece) => piece,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if piece.is_empty() {
                break true;
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let part = piece.get(..end.unwrap_or(piece.len())).unwrap_or_default();
            if line.len() + part.len() > MESSAGE_BYTES_MAX {
                too_long = true;
                line = Vec::new();
            } else if !too_long {
                line.extend_from_slice(part);
            }
            let taken = part.len() + usize::from(end.is_some());
            input.consume(taken);
            if end.is_some() {
                break false;
            }
        };
        if too_long {
            return Ok(Some(Line::TooLong));
        }
        if !line.trim_ascii().is_empty() {
            return Ok(Some(Line::Message(line)));
        }
        if ended {
            return Ok(None);
        }
    }
}
