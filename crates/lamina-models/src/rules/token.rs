//! Words with their places. Everything after this stage speaks of tokens; only spans lead back to the
//! text, so a token never forgets where it stood, also when a contraction was taken apart.
//!
//! What stands in quotation marks becomes one opaque token: somebody else's words are never read as
//! the speaker's.

use lamina_types::layer::extraction::ByteSpan;

use super::lexicon::{self, Class, Verb};

/// Tokens looked at; what follows in a longer text is searchable, but yields no claims.
pub(crate) const TOKENS_MAX: usize = 4_096;
/// Bytes between two quotation marks that still count as one quotation.
const QUOTE_BYTES_MAX: usize = 2_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    /// Begins with a digit or a sign and a digit.
    Number,
    Email,
    Url,
    /// Words of somebody else, or of a program.
    Quote,
    Punct,
    Newline,
}

#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Lower case, straight apostrophes, contractions spelled as their parts (`n't`, `'m`).
    pub(crate) fold: String,
    pub(crate) class: Class,
    pub(crate) verb: Option<Verb>,
    /// Begins with a capital letter.
    pub(crate) capital: bool,
    /// No white space between this and the token before.
    pub(crate) glued: bool,
}

impl Token {
    pub(crate) fn is(&self, class: Class) -> bool {
        self.class.intersects(class)
    }

    pub(crate) fn word(&self, words: &[&str]) -> bool {
        words.contains(&self.fold.as_str())
    }

    pub(crate) fn punct(&self, c: char) -> bool {
        self.kind == Kind::Punct && self.fold.starts_with(c)
    }
}

/// The text with its tokens.
#[derive(Debug)]
pub(crate) struct Tokens<'a> {
    pub(crate) text: &'a str,
    list: Vec<Token>,
    /// What is read past either end, so that looking around needs no bounds.
    none: Token,
}

impl<'a> Tokens<'a> {
    pub(crate) fn of(text: &'a str) -> Tokens<'a> {
        let mut scanner = Scanner { text, at: 0, list: Vec::with_capacity(text.len() / 5 + 4) };
        scanner.run();
        Tokens { text, list: scanner.list, none: token(Kind::Newline, 0, 0, String::new(), false) }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn at(&self, index: usize) -> &Token {
        self.list.get(index).unwrap_or(&self.none)
    }

    /// The token before, if there is one.
    pub(crate) fn before(&self, index: usize) -> &Token {
        index.checked_sub(1).map_or(&self.none, |index| self.at(index))
    }

    /// The text of tokens `from..to` as it is written.
    pub(crate) fn slice(&self, from: usize, to: usize) -> &'a str {
        let span = self.span(from, to);
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    pub(crate) fn span(&self, from: usize, to: usize) -> ByteSpan {
        if from >= to {
            let at = self.at(from).start as u32;
            return ByteSpan { start: at, end: at };
        }
        ByteSpan { start: self.at(from).start as u32, end: self.at(to - 1).end as u32 }
    }

    /// Whether the folded words stand at `index`.
    pub(crate) fn words_at(&self, index: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(step, word)| self.at(index + step).fold == *word)
    }

    /// Whether what closes the name of a company stands here: the "Inc" of "Acme, Inc.".
    pub(crate) fn is_legal_form(&self, index: usize) -> bool {
        self.at(index).is(Class::LEGAL) && self.at(index).capital
    }
}

fn token(kind: Kind, start: usize, end: usize, fold: String, glued: bool) -> Token {
    let (class, verb) = match kind {
        Kind::Word => lexicon::look_up(&fold),
        _ => (Class::NONE, None),
    };
    Token { kind, start, end, fold, class, verb, capital: false, glued }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    list: Vec<Token>,
}

impl<'a> Scanner<'a> {
    fn run(&mut self) {
        self.skip_foreign_line();
        while let Some(c) = self.peek() {
            if self.list.len() >= TOKENS_MAX {
                break;
            }
            if c == '\n' {
                self.push(Kind::Newline, self.at, self.at + 1, "\n".to_owned());
                self.at += 1;
                self.skip_foreign_line();
            } else if c.is_whitespace() {
                self.at += c.len_utf8();
            } else if self.chunk() || self.quote(c) || self.word(c) {
                // Consumed by whichever said so.
            } else {
                let end = self.at + c.len_utf8();
                self.push(Kind::Punct, self.at, end, c.to_string());
                self.at = end;
            }
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn push(&mut self, kind: Kind, start: usize, end: usize, fold: String) {
        let glued = self.list.last().is_some_and(|last| last.end == start);
        let capital = self
            .text
            .get(start..end)
            .and_then(|text| text.chars().next())
            .is_some_and(char::is_uppercase);
        self.list.push(Token { capital, ..token(kind, start, end, fold, glued) });
    }

    /// A line that begins with `>` repeats what somebody else wrote.
    fn skip_foreign_line(&mut self) {
        while self.rest().trim_start_matches([' ', '\t']).starts_with('>') {
            match self.rest().find('\n') {
                Some(end) => self.at += end + 1,
                None => self.at = self.text.len(),
            }
        }
    }

    /// E-mails and addresses of pages: taken whole up to white space.
    fn chunk(&mut self) -> bool {
        if self.list.last().is_some_and(|last| last.end == self.at && last.kind != Kind::Punct) {
            return false;
        }
        let rest = self.rest();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let chunk = rest.get(..end).unwrap_or("");
        let chunk = chunk.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '/');
        let Some(kind) = kind_of_chunk(chunk) else { return false };
        let end = self.at + chunk.len();
        self.push(kind, self.at, end, chunk.to_lowercase());
        self.at = end;
        true
    }

    fn quote(&mut self, c: char) -> bool {
        let free = self.list.last().is_none_or(|last| last.end != self.at || is_opening(last));
        let close = match c {
            '"' => '"',
            '\u{201c}' | '\u{201e}' => '\u{201d}',
            '\u{ab}' => '\u{bb}',
            '\u{2018}' | '\'' if free => '\'',
            '`' => '`',
            _ => return false,
        };
        let open = self.at + c.len_utf8();
        let inner = self.text.get(open..).unwrap_or("");
        let Some(length) = closing(inner, close) else { return false };
        if length == 0 || length > QUOTE_BYTES_MAX {
            return false;
        }
        let fold = inner.get(..length).unwrap_or("").to_lowercase();
        self.push(Kind::Quote, open, open + length, fold);
        let mark = inner.get(length..).and_then(|rest| rest.chars().next());
        self.at = open + length + mark.map_or(0, char::len_utf8);
        true
    }

    fn word(&mut self, first: char) -> bool {
        let signed = first == '+' && self.rest().chars().nth(1).is_some_and(|c| c.is_ascii_digit());
        if !(first.is_alphanumeric() || signed) {
            return false;
        }
        let rest = self.rest();
        let mut end = first.len_utf8();
        loop {
            let mut ahead = rest.get(end..).unwrap_or("").chars();
            let Some(c) = ahead.next() else { break };
            if c.is_alphanumeric() || c == '_' {
                // One ideograph is one token: there are no spaces to tell words apart.
                if is_ideograph(c) {
                    break;
                }
                end += c.len_utf8();
            } else if joins(rest.get(..end).unwrap_or(""), c, ahead.next(), ahead.next()) {
                end += c.len_utf8();
            } else {
                break;
            }
        }
        let start = self.at;
        self.at += end;
        let raw = rest.get(..end).unwrap_or("");
        if first.is_ascii_digit() || signed {
            self.push(Kind::Number, start, self.at, raw.to_lowercase());
        } else {
            self.words(start, raw);
        }
        true
    }

    /// One written word, or the two that a contraction stands for.
    fn words(&mut self, start: usize, raw: &str) {
        let fold = raw.to_lowercase().replace('\u{2019}', "'");
        let same_length = fold.len() == raw.replace('\u{2019}', "'").len();
        if same_length && let Some((left, right, cut)) = contraction(&fold) {
            // The cut is counted from the end, because a curly apostrophe is longer than a straight one.
            let tail: usize = raw.chars().rev().take(cut).map(char::len_utf8).sum();
            let middle = start + raw.len() - tail;
            self.push(Kind::Word, start, middle, left);
            self.push(Kind::Word, middle, start + raw.len(), right);
        } else {
            self.push(Kind::Word, start, start + raw.len(), fold);
        }
    }
}

fn is_opening(token: &Token) -> bool {
    token.kind == Kind::Punct && token.word(&["(", "[", "{", "-", "\u{2013}", "\u{2014}"])
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Where a quotation ends: at its mark, and for a single one only where a word could not go on.
fn closing(inner: &str, close: char) -> Option<usize> {
    inner.char_indices().find_map(|(at, c)| {
        let fits = c == close || (close == '\'' && c == '\u{2019}');
        let after = inner.get(at + c.len_utf8()..).and_then(|rest| rest.chars().next());
        let ends = close != '\'' || after.is_none_or(|c| !c.is_alphanumeric());
        (fits && ends).then_some(at)
    })
}

/// Whether a connector goes on with the word: `1.80`, `8:15`, `she/her`, `R&D`, `C++`.
fn joins(word: &str, c: char, next: Option<char>, after: Option<char>) -> bool {
    let last = word.chars().next_back().unwrap_or(' ');
    let digits = last.is_ascii_digit() && next.is_some_and(|c| c.is_ascii_digit());
    let letters = last.is_alphabetic() && next.is_some_and(char::is_alphabetic);
    let either = next.is_some_and(char::is_alphanumeric);
    match c {
        '-' | '\'' | '\u{2019}' | '&' | '@' => either,
        '.' => {
            digits || (letters && is_dotted(word)) || (either && last.is_ascii_digit() && !letters)
        }
        ',' => digits && after.is_some_and(|c| c.is_ascii_digit()) && !word.contains('.'),
        ':' => digits,
        '/' => digits || letters,
        '+' => last == '+' || word.len() == 1,
        '#' => word.len() == 1,
        _ => false,
    }
}

/// A word before a full stop without a space: initials (`U.S`), files (`main.rs`), products (`node.js`).
fn is_dotted(word: &str) -> bool {
    let tail = word.rsplit('.').next().unwrap_or(word);
    tail.chars().count() == 1 || word.len() >= 3
}

/// The top-level domains that make a bare word a page: a closed list, because sentences lack spaces.
const DOMAINS: &[&str] = &[
    "com", "org", "net", "io", "dev", "de", "fr", "co", "ai", "app", "uk", "eu", "es", "nl", "gov",
    "edu", "se", "dk", "pt", "ch", "fi", "pl", "ca", "jp", "br", "info", "tech", "blog", "xyz",
    "cloud", "page",
];

fn kind_of_chunk(chunk: &str) -> Option<Kind> {
    let lower = chunk.to_ascii_lowercase();
    if lower.starts_with("http://") || lower.starts_with("https://") || lower.starts_with("www.") {
        return Some(Kind::Url);
    }
    if let Some((user, host)) = chunk.split_once('@') {
        let named =
            !user.is_empty() && user.chars().all(|c| c.is_alphanumeric() || "._+-%".contains(c));
        let hosted =
            host.contains('.') && host.chars().all(|c| c.is_alphanumeric() || ".-".contains(c));
        return (named && hosted).then_some(Kind::Email);
    }
    let (host, _) = lower.split_once('/').unwrap_or((&lower, ""));
    let (name, domain) = host.rsplit_once('.')?;
    let plain =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c));
    let lettered = name.len() >= 3 && name.chars().any(|c| c.is_ascii_alphabetic());
    let page = plain && lettered && DOMAINS.contains(&domain) && chunk == lower;
    page.then_some(Kind::Url)
}

/// The two words a contraction stands for, and how many characters belong to the second.
fn contraction(fold: &str) -> Option<(String, String, usize)> {
    const WITH: &[&str] = &["n't", "'m", "'re", "'ve", "'ll", "'d", "'s"];
    for tail in WITH {
        if let Some(head) = fold.strip_suffix(tail)
            && !head.is_empty()
        {
            let head = match head {
                "ca" => "can",
                "wo" => "will",
                "sha" => "shall",
                _ => head,
            };
            return Some((head.to_owned(), (*tail).to_owned(), tail.len()));
        }
    }
    // As people type them.
    let (head, tail, cut) = match fold {
        "im" => ("i", "'m", 1),
        "ive" => ("i", "'ve", 2),
        "dont" => ("do", "n't", 2),
        "doesnt" => ("does", "n't", 2),
        "didnt" => ("did", "n't", 2),
        "cant" => ("can", "n't", 1),
        "cannot" => ("can", "n't", 3),
        "wont" => ("will", "n't", 2),
        "isnt" => ("is", "n't", 2),
        "arent" => ("are", "n't", 2),
        "wasnt" => ("was", "n't", 2),
        "werent" => ("were", "n't", 2),
        "havent" => ("have", "n't", 2),
        "hasnt" => ("has", "n't", 2),
        "wouldnt" => ("would", "n't", 2),
        "couldnt" => ("could", "n't", 2),
        "shouldnt" => ("should", "n't", 2),
        "youre" => ("you", "'re", 2),
        "theyre" => ("they", "'re", 2),
        "weve" => ("we", "'ve", 2),
        "hes" => ("he", "'s", 1),
        "shes" => ("she", "'s", 1),
        "thats" => ("that", "'s", 1),
        "whats" => ("what", "'s", 1),
        "wheres" => ("where", "'s", 1),
        "someones" => ("someone", "'s", 1),
        _ => return None,
    };
    Some((head.to_owned(), tail.to_owned(), cut))
}

#[cfg(test)]
mod tests;
