//! Why bytes are not the JSON that was expected, and where.

use std::fmt;

use crate::quote;

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Bytes before it.
    pub byte: u64,
    /// The line, from 1.
    pub line: u64,
    /// The character of the line, from 1.
    pub column: u64,
}

impl Position {
    /// The first byte of a file.
    pub const START: Position = Position { byte: 0, line: 1, column: 1 };

    /// The place after these bytes.
    pub fn after(mut self, bytes: &[u8]) -> Position {
        for byte in bytes {
            self.step(*byte);
        }
        self
    }

    /// The place after this byte.
    pub(crate) fn step(&mut self, byte: u8) {
        self.byte += 1;
        match byte {
            b'\n' => {
                self.line += 1;
                self.column = 1;
            }
            // Continuation bytes belong to the character before them.
            0x80..=0xbf => {}
            _ => self.column += 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {} (byte {})", self.line, self.column, self.byte)
    }
}

/// A violation of the grammar or of the policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonFault {
    /// The text ends inside a value.
    #[error("the JSON ends too early")]
    Truncated,
    /// Another byte than the grammar allows.
    #[error("found `{found}` where {expected} was expected")]
    Unexpected {
        /// The character.
        found: String,
        /// The tokens that the grammar allows there.
        expected: &'static str,
    },
    /// A raw control character in a string.
    #[error("a string contains the raw control character U+{0:04X}; escape it")]
    ControlCharacter(u8),
    /// An escape that JSON does not have.
    #[error("`\\{0}` is no escape of JSON")]
    Escape(String),
    /// Half of a surrogate pair.
    #[error("`\\u{0:04x}` is half of a surrogate pair")]
    LoneSurrogate(u16),
    /// A second member of the same name.
    #[error("the key `{}` occurs twice in one object", quote(.0))]
    DuplicateKey(String),
    /// `NaN` or an infinity.
    #[error("`{0}` is no JSON number")]
    NonFinite(&'static str),
    /// A malformed number.
    #[error("the number is malformed")]
    Number,
    /// An integer with too many digits.
    #[error("an integer has more than {0} digits")]
    NumberTooLong(usize),
    /// Too many levels.
    #[error("arrays and objects are nested more than {0} levels deep")]
    Depth(usize),
    /// Bytes that are no UTF-8.
    #[error("the text is not UTF-8")]
    Utf8,
    /// Something after the value.
    #[error("found `{0}` after the end of the JSON value")]
    TrailingBytes(String),
    /// A value that is larger than the reader holds in memory.
    #[error("the value has more than {0} bytes")]
    TooLarge(usize),
    /// Nothing but white space.
    #[error("there is no JSON value")]
    Empty,
}

/// A fault and its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fault}, at {position}")]
pub struct JsonError {
    /// The violation.
    pub fault: JsonFault,
    /// Where.
    pub position: Position,
}
