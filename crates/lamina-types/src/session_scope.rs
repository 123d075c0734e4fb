//! The scope of a session of an agent: one mapping for the MCP server, hooks, imports and exports.
//!
//! A session belongs to a project, `project:<slug>/session:<id>`, or outside of any project to a login,
//! `user:<login>/session:<id>`. Slugs, logins and session ids are free text, ids of scopes are not: letters,
//! digits, `-` and `_` stay, every other character becomes `_XX` for each byte of its UTF-8, and so does a `_`
//! that would read as such an escape. No two sessions meet in one scope, and [`SessionScope::from_path`] is
//! the inverse.

use crate::scope::{ScopeError, ScopePath};

/// The place that a session belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SessionHome {
    /// A project, by its slug.
    Project(String),
    /// Somebody outside of any project, by the login.
    User(String),
}

/// A session and the place it belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionScope {
    /// The project or the user.
    pub home: SessionHome,
    /// The id that the agent gave the session.
    pub session_id: String,
}

impl SessionScope {
    /// The scope of the session. An empty slug, login or session id has none, and neither has one that is
    /// longer than a scope.
    pub fn path(&self) -> Result<ScopePath, ScopeError> {
        let (kind, name) = match &self.home {
            SessionHome::Project(slug) => ("project", slug),
            SessionHome::User(login) => ("user", login),
        };
        format!("{kind}:{}/session:{}", escape(name), escape(&self.session_id)).parse()
    }

    /// The session whose scope this is. `None` for every path that [`SessionScope::path`] does not make.
    pub fn from_path(scope: &ScopePath) -> Option<SessionScope> {
        let mut segments = scope.segments();
        let (kind, name) = segments.next()?;
        let (session, id) = segments.next()?;
        if session != "session" || segments.next().is_some() {
            return None;
        }
        let home = match kind {
            "project" => SessionHome::Project(unescape(name)?),
            "user" => SessionHome::User(unescape(name)?),
            _ => return None,
        };
        let found = SessionScope { home, session_id: unescape(id)? };
        // An escape of a character that needs none is not ours: the session it seems to name has another scope.
        (found.path().as_ref() == Ok(scope)).then_some(found)
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut encoded = [0; 4];
    for (at, c) in text.char_indices() {
        let rest = text.as_bytes().get(at + 1..).unwrap_or_default();
        let kept = match c {
            '_' => escaped_byte(rest).is_none(),
            _ => c.is_ascii_alphanumeric() || c == '-',
        };
        if kept {
            out.push(c);
        } else {
            for byte in c.encode_utf8(&mut encoded).bytes() {
                out.push_str(&format!("_{byte:02X}"));
            }
        }
    }
    out
}

fn unescape(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match (first, escaped_byte(after)) {
            (b'_', Some(byte)) => {
                out.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => out.push(*first),
        }
    }
    String::from_utf8(out).ok()
}

/// The byte that two upper-case hexadecimal digits at the front stand for.
fn escaped_byte(text: &[u8]) -> Option<u8> {
    match text {
        [high, low, ..] => Some(hex_digit(*high)? << 4 | hex_digit(*low)?),
        _ => None,
    }
}

fn hex_digit(c: u8) -> Option<u8> {
    match c {
        b'0'..=b'9' => Some(c - b'0'),
        b'A'..=b'F' => Some(c - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
