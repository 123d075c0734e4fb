//! Records as text for a prompt: tags from a closed set, named authors, and text that stays in its place.
//!
//! A prompt is one string, and anybody may have written the text of a record. So only this module writes the
//! brackets that a record begins with, and no stored text begins a line. Clients split a block at lines of `---`,
//! some of them after stripping each line, so a line that begins with `[` or `---` after its indentation is escaped
//! as well.

use std::collections::BTreeSet;
use std::fmt;

use lamina_types::{ActorId, Content, EventRecord, Role};

/// What stands between two records.
pub const SEPARATOR: &str = "\n---\n";
/// What every line of a text after the first begins with.
const INDENT: &str = "  ";
/// Authors that a record names; of more it tells how many there are.
const AUTHORS_NAMED_MAX: usize = 3;

/// What a record is, as a prompt says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptTag {
    /// A message of a person.
    User,
    /// A message of an agent.
    Assistant,
    /// A message of a tool.
    Tool,
    /// A message of the system, written by an operator.
    System,
    /// A message of role `system` that somebody else wrote.
    Note,
    /// Said in a conversation.
    Conversation,
    /// A document.
    Document,
    /// What a tool returned.
    ToolResult,
    /// Observed.
    Observation,
    /// Feedback.
    Feedback,
    /// Imported.
    Imported,
    /// An event of any other modality.
    Event,
    /// A fact.
    Fact,
    /// A belief.
    Belief,
    /// An episode.
    Episode,
    /// A concept.
    Concept,
    /// An instruction or a preference that applies to every question.
    Standing,
}

impl PromptTag {
    /// Every tag.
    pub const ALL: &'static [PromptTag] = &[
        PromptTag::User,
        PromptTag::Assistant,
        PromptTag::Tool,
        PromptTag::System,
        PromptTag::Note,
        PromptTag::Conversation,
        PromptTag::Document,
        PromptTag::ToolResult,
        PromptTag::Observation,
        PromptTag::Feedback,
        PromptTag::Imported,
        PromptTag::Event,
        PromptTag::Fact,
        PromptTag::Belief,
        PromptTag::Episode,
        PromptTag::Concept,
        PromptTag::Standing,
    ];

    /// The tag of an event. A role counts before the modality, and `system` only if an operator wrote it.
    pub fn of_event(event: &EventRecord) -> PromptTag {
        match &event.experience.content {
            Content::Message { role, .. } => match role {
                Role::User => PromptTag::User,
                Role::Assistant => PromptTag::Assistant,
                Role::Tool => PromptTag::Tool,
                Role::System if event.as_system => PromptTag::System,
                Role::System => PromptTag::Note,
            },
            _ => PromptTag::of_modality(event.experience.modality.as_str()),
        }
    }

    /// The tag of a modality; of one that nobody knows, `event`.
    fn of_modality(modality: &str) -> PromptTag {
        match modality {
            "conversation" => PromptTag::Conversation,
            "document" => PromptTag::Document,
            "tool_result" => PromptTag::ToolResult,
            "observation" => PromptTag::Observation,
            "feedback" => PromptTag::Feedback,
            "imported" => PromptTag::Imported,
            _ => PromptTag::Event,
        }
    }

    /// The word in the bracket.
    pub fn as_str(self) -> &'static str {
        match self {
            PromptTag::User => "user",
            PromptTag::Assistant => "assistant",
            PromptTag::Tool => "tool",
            PromptTag::System => "system",
            PromptTag::Note => "note",
            PromptTag::Conversation => "conversation",
            PromptTag::Document => "document",
            PromptTag::ToolResult => "tool_result",
            PromptTag::Observation => "observation",
            PromptTag::Feedback => "feedback",
            PromptTag::Imported => "imported",
            PromptTag::Event => "event",
            PromptTag::Fact => "fact",
            PromptTag::Belief => "belief",
            PromptTag::Episode => "episode",
            PromptTag::Concept => "concept",
            PromptTag::Standing => "standing",
        }
    }
}

/// The actor of an event and the caller that wrote it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordAuthor {
    /// Who did it, by the caller's account.
    pub actor: ActorId,
    /// Who wrote it, authenticated.
    pub caller: ActorId,
}

impl RecordAuthor {
    /// The author of an event.
    pub fn of(event: &EventRecord) -> RecordAuthor {
        let actor = event.experience.observed_actor.id.clone();
        RecordAuthor { actor, caller: event.caller.clone() }
    }
}

impl fmt::Display for RecordAuthor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.actor == self.caller {
            true => write!(f, "{}", self.actor),
            false => write!(f, "{} via {}", self.actor, self.caller),
        }
    }
}

/// The authors of the events that the words of a record come from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuthorList(BTreeSet<RecordAuthor>);

impl AuthorList {
    /// Nobody.
    pub const fn nobody() -> AuthorList {
        AuthorList(BTreeSet::new())
    }

    /// Adds an author.
    pub fn add(&mut self, author: RecordAuthor) {
        self.0.insert(author);
    }

    /// The authors, in order.
    pub fn iter(&self) -> impl Iterator<Item = &RecordAuthor> {
        self.0.iter()
    }

    /// Whether nobody is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<RecordAuthor> for AuthorList {
    fn from(author: RecordAuthor) -> AuthorList {
        AuthorList(BTreeSet::from([author]))
    }
}

impl FromIterator<RecordAuthor> for AuthorList {
    fn from_iter<I: IntoIterator<Item = RecordAuthor>>(authors: I) -> AuthorList {
        AuthorList(authors.into_iter().collect())
    }
}

impl fmt::Display for AuthorList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("unknown");
        }
        if self.0.len() <= AUTHORS_NAMED_MAX {
            for (place, author) in self.0.iter().enumerate() {
                let separator = if place == 0 { "" } else { ", " };
                write!(f, "{separator}{author}")?;
            }
            return Ok(());
        }
        let actors: BTreeSet<&ActorId> = self.0.iter().map(|author| &author.actor).collect();
        match (actors.first(), actors.len()) {
            (Some(actor), 1) => write!(f, "{actor} via {} callers", self.0.len()),
            (_, count) => write!(f, "{count} actors"),
        }
    }
}

/// What a record begins with.
#[derive(Debug, Clone, Copy)]
pub struct RecordHeader<'a> {
    /// When, as `YYYY-MM-DD HH:MM`.
    pub minute: &'a str,
    /// What it is.
    pub tag: PromptTag,
    /// Who said it.
    pub authors: &'a AuthorList,
    /// It is below the relevance floor, and only the closest there is.
    pub is_closest: bool,
}

impl fmt::Display for RecordHeader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let closest = if self.is_closest { " [closest]" } else { "" };
        write!(f, "[{} UTC] [{}]{closest} [{}]", self.minute, self.tag.as_str(), self.authors)
    }
}

/// A record as a context block has it.
pub fn render_record(header: RecordHeader<'_>, text: &str) -> String {
    format!("{header} {}", indent_lines(text))
}

/// A text whose lines after the first are indented, whatever breaks them. None of them begins with `[` or `---`,
/// also when it is stripped.
pub fn indent_lines(text: &str) -> String {
    let mut indented = String::with_capacity(text.len() + 16);
    for (place, line) in split_lines(text.trim()).enumerate() {
        if place > 0 {
            indented.push('\n');
            indented.push_str(INDENT);
            let bare = line.trim_start_matches(is_blank);
            if bare.starts_with('[') || bare.starts_with("---") {
                indented.push_str(line.strip_suffix(bare).unwrap_or_default());
                indented.push('\\');
                indented.push_str(bare);
                continue;
            }
        }
        indented.push_str(line);
    }
    indented
}

/// A text to stand between quotation marks: on one line, and without marks that would close the quotation.
pub fn quote_inline(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for (place, line) in split_lines(text.trim()).enumerate() {
        if place > 0 {
            quoted.push(' ');
        }
        quoted.extend(line.trim().chars().map(|c| match c {
            '\u{201c}' | '\u{201d}' => '"',
            c => c,
        }));
    }
    quoted
}

/// The lines of a text. CR LF is one break.
fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(at) = text.find(breaks_line) else { return rest.take() };
        let (line, after) = text.split_at_checked(at)?;
        let mut chars = after.chars();
        let first = chars.next();
        let after = chars.as_str();
        rest = Some(match first {
            Some('\r') => after.strip_prefix('\n').unwrap_or(after),
            _ => after,
        });
        Some(line)
    })
}

/// Whether a character ends a line: those of Unicode, and the separators of files, groups and records, at which some
/// programs split too.
fn breaks_line(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Whether a character shows nothing, so that what comes after it looks like the beginning of a line.
fn is_blank(c: char) -> bool {
    c.is_whitespace()
        || c.is_control()
        || matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests;
