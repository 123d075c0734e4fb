//! Text that a client put into a prompt and that comes back when the prompt is captured.
//!
//! A checkout is wrapped in `<lamina_memory>`, and Gemini CLI wraps what hooks add in `<hook_context>`. A prompt that is
//! captured afterwards has these blocks among the words of the person. They are memory already, so nothing is learned
//! from them. The echo detector finds repetitions by their words; the tags are found without knowing what was shown,
//! also after a restart.

use std::borrow::Cow;

/// The tags, in lower case.
pub const TAGS: [&str; 2] = ["lamina_memory", "hook_context"];

/// The bytes of the blocks, tags included. A block without an end reaches to the end of the text: clients cut long
/// prompts.
pub fn blocks(text: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut from = 0;
    while let Some((start, tag)) = next_tag(text, from, Mark::Opening) {
        let inside = start.after;
        let mut depth = 1_usize;
        let mut at = inside;
        let end = loop {
            let closing = next_tag_of(text, at, Mark::Closing, tag);
            let opening = next_tag_of(text, at, Mark::Opening, tag);
            match (opening, closing) {
                (Some(opening), Some(closing)) if opening.at < closing.at => {
                    depth += 1;
                    at = opening.after;
                }
                (_, Some(closing)) if depth == 1 => break closing.after,
                (_, Some(closing)) => {
                    depth -= 1;
                    at = closing.after;
                }
                (_, None) => break text.len(),
            }
        };
        found.push((start.at, end));
        from = end;
    }
    found
}

/// The text with spaces in the place of each byte of a block, so that spans of the rest stay where they are.
pub fn blank(text: &str) -> Cow<'_, str> {
    let blocks = blocks(text);
    if blocks.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut blanked = String::with_capacity(text.len());
    let mut from = 0;
    for (start, end) in blocks {
        blanked.push_str(text.get(from..start).unwrap_or_default());
        blanked.extend(std::iter::repeat_n(' ', end - start));
        from = end;
    }
    blanked.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(blanked)
}

/// The text with its tags made harmless: stored words cannot end the block that they are shown in.
pub fn disarm(text: &str) -> Cow<'_, str> {
    let mut disarmed = String::new();
    let mut from = 0;
    while let Some(tag) = [Mark::Opening, Mark::Closing]
        .into_iter()
        .filter_map(|mark| next_tag(text, from, mark).map(|(tag, _)| tag))
        .min_by_key(|tag| tag.at)
    {
        disarmed.push_str(text.get(from..tag.at).unwrap_or_default());
        disarmed.push('\u{2039}');
        // The bracket has one byte.
        from = tag.at + 1;
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    disarmed.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(disarmed)
}

/// Which end of a block a tag is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Opening,
    Closing,
}

/// A tag in a text: its bracket, and the byte after its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tag {
    at: usize,
    after: usize,
}

/// The first tag of any name from a byte on, and its name.
fn next_tag(text: &str, from: usize, mark: Mark) -> Option<(Tag, &'static str)> {
    let found =
        TAGS.into_iter().filter_map(|name| Some((next_tag_of(text, from, mark, name)?, name)));
    found.min_by_key(|(tag, _)| tag.at)
}

/// The first tag of a name from a byte on. Spaces after the bracket and letters of either case are accepted, as models
/// write them.
fn next_tag_of(text: &str, from: usize, mark: Mark, name: &str) -> Option<Tag> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        let bracket = at + rest.find('<')?;
        let mut body = text.get(bracket + 1..)?.trim_start();
        if mark == Mark::Closing {
            match body.strip_prefix('/') {
                Some(rest) => body = rest.trim_start(),
                None => {
                    at = bracket + 1;
                    continue;
                }
            }
        }
        let is_named = body.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
        let rest = if is_named { body.get(name.len()..).unwrap_or_default() } else { "" };
        let ends = rest.chars().next().is_none_or(|next| !next.is_alphanumeric() && next != '_');
        if is_named && ends {
            let start = text.len() - rest.len();
            let after = rest.find('>').map_or(text.len(), |close| start + close + 1);
            return Some(Tag { at: bracket, after });
        }
        at = bracket + 1;
    }
}

#[cfg(test)]
mod tests;
