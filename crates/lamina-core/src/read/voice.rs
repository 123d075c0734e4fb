//! Whose words a question is about: somebody who is named, the asker, or the one who is asked.
//!
//! `What did Ada buy?` is mostly answered by what Ada said, `What is my budget?` by what the asker said,
//! and not by what an assistant made of it.

use std::collections::BTreeSet;

use crate::read::words::words;

/// Whose words a question is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Voice {
    /// Every word of the question: names of speakers are recognised among them.
    said: BTreeSet<String>,
    /// The asker speaks of himself.
    asker: bool,
    /// The question is about what the other side said.
    addressed: bool,
}

/// By these somebody speaks of himself.
const FIRST: &[&str] =
    &["i", "me", "mine", "my", "myself", "our", "ours", "ourselves", "us", "we", "我", "俺", "咱"];
/// What the other side does with words.
const TELLS: &[&str] = &[
    "advise",
    "advised",
    "advice",
    "answer",
    "answered",
    "explain",
    "explained",
    "explanation",
    "gave",
    "give",
    "given",
    "help",
    "helped",
    "list",
    "listed",
    "mention",
    "mentioned",
    "propose",
    "proposed",
    "provide",
    "provided",
    "recommend",
    "recommended",
    "recommendation",
    "recommendations",
    "reply",
    "said",
    "say",
    "show",
    "showed",
    "suggest",
    "suggested",
    "suggestion",
    "suggestions",
    "tell",
    "told",
    "wrote",
];

/// Whose words a question is about.
pub fn voice(question: &str) -> Voice {
    let said = words(question);
    let asker = said.iter().any(|word| FIRST.contains(&word.as_str()));
    let addressed = said.windows(2).enumerate().any(|(at, pair)| {
        let [one, two] = pair else { return false };
        let tells = |word: &String| TELLS.contains(&word.as_str());
        // "did you recommend", "you suggested", "your advice"; "can you help" asks for something new.
        let past = at.checked_sub(1).and_then(|before| said.get(before));
        let asks_back = past.is_some_and(|word| word == "did" || word == "have" || word == "had");
        match one.as_str() {
            "you" => {
                tells(two)
                    && (asks_back
                        || two.ends_with("ed")
                        || two == "told"
                        || two == "gave"
                        || two == "said")
            }
            "your" => tells(two),
            _ => false,
        }
    });
    Voice { said: said.into_iter().collect(), asker, addressed }
}

impl Voice {
    /// Whether the question names this speaker.
    pub fn names(&self, speaker: &str) -> bool {
        !speaker.is_empty() && words(speaker).iter().any(|word| self.said.contains(word))
    }

    /// How far a speaker in this role is meant, if none is named. What one side has recommended is often
    /// also said by the other.
    pub fn means(&self, role: &str) -> f64 {
        match role {
            "user" if self.asker && !self.addressed => 1.0,
            "assistant" if self.addressed => 0.5,
            _ => 0.0,
        }
    }
}

#[cfg(test)]
mod tests;
