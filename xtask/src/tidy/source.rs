//! Just enough Rust to tell code from comments and strings, and to find where a function ends.
//! Rules that search the raw text would stumble over their own word lists.

#[cfg(test)]
mod tests;

/// A source file taken apart. Both texts keep the line structure of the file, with everything that
/// does not belong to them blanked out.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) code: String,
    pub(crate) comments: String,
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// Where `fn` stands, from 1.
    pub(crate) line: usize,
    /// From `fn` to the closing brace, both included.
    pub(crate) lines: usize,
}

impl Source {
    pub(crate) fn of(text: &str) -> Self {
        let mut splitter = Splitter {
            chars: text.chars().collect(),
            at: 0,
            code: String::with_capacity(text.len()),
            comments: String::with_capacity(text.len()),
        };
        splitter.split();
        Self { code: splitter.code, comments: splitter.comments }
    }

    pub(crate) fn functions(&self) -> Vec<Function> {
        let tokens = tokens(&self.code);
        let mut found = Vec::new();
        for (index, token) in tokens.iter().enumerate() {
            if token.text != "fn" {
                continue;
            }
            let rest = tokens.get(index + 1..).unwrap_or_default();
            let Some(name) = rest.first().filter(|name| is_word(&name.text)) else {
                continue;
            };
            let Some(end) = end_of_body(rest) else {
                continue;
            };
            found.push(Function {
                name: name.text.clone(),
                line: token.line,
                lines: end - token.line + 1,
            });
        }
        found
    }
}

struct Token {
    text: String,
    line: usize,
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Words and single characters of other kinds, with their lines.
fn tokens(code: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    for (index, text) in code.lines().enumerate() {
        let line = index + 1;
        let mut word = String::new();
        for c in text.chars().chain(std::iter::once(' ')) {
            if c.is_alphanumeric() || c == '_' {
                word.push(c);
                continue;
            }
            if !word.is_empty() {
                tokens.push(Token { text: std::mem::take(&mut word), line });
            }
            if !c.is_whitespace() {
                tokens.push(Token { text: c.to_string(), line });
            }
        }
    }
    tokens
}

/// The line of the brace that closes the first body; `None` for a declaration without one.
fn end_of_body(tokens: &[Token]) -> Option<usize> {
    let mut brackets = 0_i32;
    let mut braces = 0_i32;
    for token in tokens {
        match token.text.as_str() {
            "(" | "[" => brackets += 1,
            ")" | "]" => brackets -= 1,
            ";" if brackets == 0 && braces == 0 => return None,
            "{" => braces += 1,
            "}" => {
                braces -= 1;
                if braces <= 0 && brackets == 0 {
                    return Some(token.line);
                }
            }
            _ => {}
        }
    }
    None
}

struct Splitter {
    chars: Vec<char>,
    at: usize,
    code: String,
    comments: String,
}

impl Splitter {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn starts_with(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, c)| self.peek(ahead) == Some(c))
    }

    fn split(&mut self) {
        while let Some(c) = self.peek(0) {
            if self.starts_with("//") {
                while self.peek(0).is_some_and(|c| c != '\n') {
                    self.take_comment();
                }
            } else if self.starts_with("/*") {
                self.block_comment();
            } else if c == '"' {
                self.string();
            } else if c == '\'' {
                self.quote();
            } else if c.is_alphabetic() || c == '_' {
                self.word();
            } else {
                self.take_code();
            }
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0_u32;
        while self.peek(0).is_some() {
            if self.starts_with("/*") {
                depth += 1;
                self.take_comment();
            } else if self.starts_with("*/") {
                depth -= 1;
                self.take_comment();
            }
            self.take_comment();
            if depth == 0 {
                return;
            }
        }
    }

    /// A string that starts at the quotation mark.
    fn string(&mut self) {
        self.blank();
        while let Some(c) = self.peek(0) {
            self.blank();
            match c {
                '\\' => self.blank(),
                '"' => return,
                _ => {}
            }
        }
    }

    /// A character or the tick of a lifetime.
    fn quote(&mut self) {
        let is_escape = self.peek(1) == Some('\\');
        if !is_escape && self.peek(2) != Some('\'') {
            self.take_code();
            return;
        }
        self.blank();
        if is_escape {
            self.blank();
        }
        self.blank();
        while let Some(c) = self.peek(0) {
            self.blank();
            if c == '\'' {
                return;
            }
        }
    }

    /// A word, and the raw string that follows if the word turns out to be its prefix.
    fn word(&mut self) {
        let mut word = String::new();
        while let Some(c) = self.peek(0).filter(|c| c.is_alphanumeric() || *c == '_') {
            word.push(c);
            self.take_code();
        }
        if matches!(word.as_str(), "r" | "br" | "cr") {
            let hashes = (0..).take_while(|ahead| self.peek(*ahead) == Some('#')).count();
            if self.peek(hashes) == Some('"') {
                self.raw_string(hashes);
            }
        }
    }

    fn raw_string(&mut self, hashes: usize) {
        let end: String = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
        for _ in 0..=hashes {
            self.blank();
        }
        while self.peek(0).is_some() && !self.starts_with(&end) {
            self.blank();
        }
        for _ in 0..=hashes {
            self.blank();
        }
    }

    fn take_code(&mut self) {
        self.take(|this, c| {
            this.code.push(c);
            this.comments.push(' ');
        });
    }

    fn take_comment(&mut self) {
        self.take(|this, c| {
            this.code.push(' ');
            this.comments.push(c);
        });
    }

    fn blank(&mut self) {
        self.take(|this, _| {
            this.code.push(' ');
            this.comments.push(' ');
        });
    }

    fn take(&mut self, put: fn(&mut Self, char)) {
        if let Some(c) = self.peek(0) {
            self.at += 1;
            if c == '\n' {
                self.code.push('\n');
                self.comments.push('\n');
            } else {
                put(self, c);
            }
        }
    }
}
