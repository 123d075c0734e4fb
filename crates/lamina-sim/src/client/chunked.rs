//! Decodes `Transfer-Encoding: chunked` from bytes as they come. Incremental, because an event
//! stream never ends and its reader stops in the middle of a chunk at every timeout.

use anyhow::{Context, bail};

/// A chunk-size line longer than this is not one.
const LINE_BYTES_MAX: usize = 4_096;

#[derive(Debug, Default)]
pub(super) struct Chunked {
    state: State,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Size,
    Data(usize),
    /// The line break after a chunk.
    After,
    Trailer,
    Done,
}

impl Chunked {
    pub(super) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Moves what can be decoded into `out`; says how many bytes of the input were used.
    pub(super) fn feed(&mut self, input: &[u8], out: &mut Vec<u8>) -> anyhow::Result<usize> {
        let mut used = 0;
        loop {
            let rest = input.get(used..).unwrap_or_default();
            match self.state {
                State::Done => return Ok(used),
                State::Data(left) => {
                    let part = rest.get(..left.min(rest.len())).unwrap_or_default();
                    if part.is_empty() {
                        return Ok(used);
                    }
                    out.extend_from_slice(part);
                    used += part.len();
                    self.state = match left - part.len() {
                        0 => State::After,
                        left => State::Data(left),
                    };
                }
                State::Size | State::After | State::Trailer => {
                    let Some((line, length)) = line(rest)? else {
                        return Ok(used);
                    };
                    used += length;
                    self.state = self.after_line(line)?;
                }
            }
        }
    }

    fn after_line(&self, line: &str) -> anyhow::Result<State> {
        match self.state {
            State::After if line.is_empty() => Ok(State::Size),
            State::After => bail!("a chunk is longer than its size"),
            State::Trailer if line.is_empty() => Ok(State::Done),
            State::Trailer => Ok(State::Trailer),
            _ => {
                let digits = line.split(';').next().unwrap_or_default().trim();
                let size = usize::from_str_radix(digits, 16)
                    .with_context(|| format!("not a chunk size: {line}"))?;
                Ok(if size == 0 { State::Trailer } else { State::Data(size) })
            }
        }
    }
}

/// The first line without its break, and its length with it.
fn line(bytes: &[u8]) -> anyhow::Result<Option<(&str, usize)>> {
    match bytes.windows(2).position(|two| two == b"\r\n") {
        Some(at) => {
            let text = std::str::from_utf8(bytes.get(..at).unwrap_or_default())?;
            Ok(Some((text, at + 2)))
        }
        None if bytes.len() > LINE_BYTES_MAX => bail!("a chunk size that does not end"),
        None => Ok(None),
    }
}
