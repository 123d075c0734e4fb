//! Cuts a text into tokens: words, wholes of what looks like code, and pairs of characters where words
//! are not parted by spaces.

use unicode_normalization::char::is_combining_mark;

use super::identifier;

/// A piece of text that becomes a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A word, to be stemmed.
    Word {
        text: &'a str,
        /// Written so that it is not a function word even if it is spelled like one: `IT`, `May`.
        marked: bool,
    },
    /// A word within something that looks like code: stemmed, but it tells no language.
    Piece(&'a str),
    /// Something that is looked for as it stands: `v1.2.3`, `src/main.rs`, `getUserName`.
    Whole(&'a str),
    /// Two neighbouring characters of a script without spaces.
    Pair(&'a str),
    /// A character of such a script that stands alone.
    Single(&'a str),
    /// A character of such a script within a longer run.
    Inner(&'a str),
}

/// The tokens of a text, in order.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::with_capacity(text.len() / 5);
    // A text that is all capitals marks nothing by them.
    let shouted = !text.chars().any(char::is_lowercase);
    let mut opens_sentence = true;
    for chunk in text.split_whitespace() {
        let core = trim(chunk);
        if !core.is_empty() {
            let mut marks = Marks { shouted, opens_sentence };
            cut_chunk(core, &mut marks, &mut tokens);
        }
        opens_sentence =
            chunk.ends_with(['.', '!', '?', ':', '\u{3002}', '"', '”']) || core.is_empty();
    }
    tokens
}

/// What capitals mean where a chunk stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks {
    shouted: bool,
    opens_sentence: bool,
}

impl Marks {
    /// Whether a word is written as a name is: in capitals, or with one where no sentence begins.
    fn marked(self, word: &str) -> bool {
        let mut letters = word.chars();
        let first = letters.next().is_some_and(char::is_uppercase);
        if !first || self.shouted {
            return false;
        }
        let mut rest = letters.peekable();
        if rest.peek().is_none() {
            // `I` and `A` are capitals by custom.
            return false;
        }
        rest.clone().all(|letter| letter.is_uppercase() || letter.is_numeric())
            || (!self.opens_sentence && rest.all(|letter| !letter.is_uppercase()))
    }
}

/// Punctuation around a chunk goes; what ends in `++` or `#` keeps it (`C++`, `F#`).
fn trim(chunk: &str) -> &str {
    let core = chunk.trim_start_matches(|c: char| !is_word(c));
    let end = core.trim_end_matches(|c: char| !is_word(c));
    let tail = core.get(end.len()..).unwrap_or_default();
    let keep = if tail.starts_with("++") {
        2
    } else if tail.starts_with('#') {
        1
    } else {
        0
    };
    let short = end.len() <= 2 && keep > 0;
    core.get(..end.len() + if short { keep } else { 0 }).unwrap_or(end)
}

/// A chunk without spaces: runs of scripts without word breaks are taken out, the rest is words.
fn cut_chunk<'a>(chunk: &'a str, marks: &mut Marks, tokens: &mut Vec<Token<'a>>) {
    if chunk.is_ascii() {
        return cut_spaced(chunk, *marks, tokens);
    }
    let mut rest = chunk;
    while let Some(first) = rest.chars().next() {
        let script = Unspaced::of(first);
        let end = rest
            .char_indices()
            .find(|(_, c)| {
                let other = Unspaced::of(*c);
                // Marks and the long-vowel sign belong to the run that they stand in.
                other != script && !(script.is_some() && is_joiner(*c))
            })
            .map_or(rest.len(), |(at, _)| at);
        let (run, after) = rest.split_at(end);
        match script {
            Some(_) => pairs(run, tokens),
            None => {
                let core = trim(run);
                if !core.is_empty() {
                    cut_spaced(core, *marks, tokens);
                }
            }
        }
        marks.opens_sentence = false;
        rest = after;
    }
}

/// Overlapping pairs of a run, and its single characters.
fn pairs<'a>(run: &'a str, tokens: &mut Vec<Token<'a>>) {
    let starts: Vec<usize> =
        run.char_indices().filter(|(_, c)| !is_joiner(*c)).map(|(at, _)| at).collect();
    let end_of = |index: usize| starts.get(index).copied().unwrap_or(run.len());
    let alone = starts.len() == 1;
    for (index, start) in starts.iter().enumerate() {
        if let Some(single) = run.get(*start..end_of(index + 1)) {
            tokens.push(if alone { Token::Single(single) } else { Token::Inner(single) });
        }
        if index + 1 < starts.len()
            && let Some(pair) = run.get(*start..end_of(index + 2))
        {
            tokens.push(Token::Pair(pair));
        }
    }
}

/// Text of a script with spaces: a plain word, or something with inner structure.
fn cut_spaced<'a>(chunk: &'a str, marks: Marks, tokens: &mut Vec<Token<'a>>) {
    if chunk.chars().all(is_word) {
        let parts = identifier::humps(chunk);
        if parts.len() > 1 {
            tokens.push(Token::Whole(chunk));
            tokens.extend(parts.into_iter().map(Token::Piece));
        } else {
            tokens.push(Token::Word { text: chunk, marked: marks.marked(chunk) });
        }
        return;
    }
    if let Some(word) = contraction(chunk) {
        tokens.push(Token::Word { text: word, marked: marks.marked(word) });
        return;
    }
    tokens.push(Token::Whole(chunk));
    for piece in chunk.split(|c: char| !is_word(c)).filter(|piece| !piece.is_empty()) {
        tokens.extend(identifier::humps(piece).into_iter().map(Token::Piece));
    }
}

/// `Maria's` is Maria; `don't` and `we'll` are what stands before the mark.
fn contraction(chunk: &str) -> Option<&str> {
    let (head, tail) = chunk.rsplit_once(['\'', '\u{2019}'])?;
    let clitic = ["s", "t", "re", "ve", "ll", "d", "m"]
        .iter()
        .any(|clitic| tail.eq_ignore_ascii_case(clitic));
    (clitic && !head.is_empty() && head.chars().all(is_word)).then_some(head)
}

/// Letters, digits, and what joins to them.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && is_joiner(c))
}

/// Marks on a letter, joiners within a word, the sign of a long vowel.
fn is_joiner(c: char) -> bool {
    is_combining_mark(c) || matches!(c, '\u{200c}' | '\u{200d}')
}

/// A script that does not part words by spaces, or whose words are long compounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unspaced {
    /// Chinese characters and Japanese syllables, which mix within words.
    Han,
    Hangul,
    Thai,
    Lao,
    Khmer,
    Myanmar,
}

impl Unspaced {
    fn of(c: char) -> Option<Unspaced> {
        if c.is_ascii() {
            return None;
        }
        match c {
            '\u{3005}'..='\u{3007}'
            | '\u{3041}'..='\u{3096}'
            | '\u{309d}'..='\u{309f}'
            | '\u{30a1}'..='\u{30fa}'
            | '\u{30fc}'..='\u{30ff}'
            | '\u{31f0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ff9f}'
            | '\u{20000}'..='\u{3ffff}' => Some(Unspaced::Han),
            '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7a3}' => {
                Some(Unspaced::Hangul)
            }
            '\u{0e01}'..='\u{0e4e}' => Some(Unspaced::Thai),
            '\u{0e81}'..='\u{0ecd}' => Some(Unspaced::Lao),
            '\u{1780}'..='\u{17d3}' => Some(Unspaced::Khmer),
            '\u{1000}'..='\u{109f}' => Some(Unspaced::Myanmar),
            _ => None,
        }
    }
}
