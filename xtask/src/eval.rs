//! `cargo xtask eval`: how well the built-in extractor reads, as numbers per category. The tables are
//! written apart from the rules, so that a number means something.

mod fact;
mod score;

use std::path::PathBuf;

use anyhow::{Context, bail};
use lamina_models::{Source, extract};
use lamina_types::Role;
use serde_json::Value;

use self::fact::Fact;
use self::score::Score;
use crate::{files, process};

/// The half of the table that the rules were tuned on.
const OPEN: &str = "fixtures/extraction/open.jsonl";
/// The table that no rule is made for.
#[cfg(test)]
const LOCKED: &str = "fixtures/extraction/locked.jsonl";
/// A table that was read once before rules were mended for it.
#[cfg(test)]
const FRESH: &str = "fixtures/extraction/fresh.jsonl";
/// A table by somebody who never saw the rules; they were mended for its odd lines only.
#[cfg(test)]
const BLIND: &str = "fixtures/extraction/blind.jsonl";

/// Sentences about what replaced something, and about nothing; the rules were made with these in sight.
#[cfg(test)]
const CHANGE: &str = "fixtures/extraction/change.jsonl";
/// Every other sentence of the same list, which nobody looked at while rules were made.
#[cfg(test)]
const CHANGE_HELD: &str = "fixtures/extraction/change-held.jsonl";
/// Plain sentences of eight languages.
#[cfg(test)]
const LANGUAGES: &str = "fixtures/extraction/languages.jsonl";
/// Every other sentence of the same list.
#[cfg(test)]
const LANGUAGES_HELD: &str = "fixtures/extraction/languages-held.jsonl";

pub(crate) fn extraction(options: &[&str]) -> anyhow::Result<()> {
    let (mut table, mut verbose) = (process::root().join(OPEN), false);
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        match *option {
            "--verbose" => verbose = true,
            "--table" => table = PathBuf::from(rest.next().context("--table needs a file")?),
            other => bail!("`{other}` is not an option of `eval extraction`"),
        }
    }
    let text = files::read(&table).with_context(|| format!("cannot read {}", table.display()))?;
    let report = evaluate(&text)?;
    print!("{}", report.table());
    if verbose {
        print!("{}", report.findings());
    }
    Ok(())
}

/// Reads every line of a table and compares.
fn evaluate(text: &str) -> anyhow::Result<Score> {
    let mut score = Score::default();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: Value =
            serde_json::from_str(line).with_context(|| format!("line {}", index + 1))?;
        let case = Case::of(&line).with_context(|| format!("line {}", index + 1))?;
        let found = case.extract()?;
        score.add(&case, &found);
    }
    Ok(score)
}

/// One utterance of a table.
#[derive(Debug)]
struct Case {
    id: String,
    category: String,
    speaker: String,
    addressee: Option<String>,
    role: Option<Role>,
    observed_at: jiff::Timestamp,
    timezone: Option<String>,
    text: String,
    expect: Vec<Fact>,
    optional: Vec<Fact>,
}

impl Case {
    fn of(line: &Value) -> anyhow::Result<Case> {
        let text = |name: &str| line.get(name).and_then(Value::as_str).map(str::to_owned);
        let role = text("role");
        let facts = |name: &str| -> anyhow::Result<Vec<Fact>> {
            let list = line.get(name).and_then(Value::as_array);
            list.into_iter().flatten().map(Fact::expected).collect()
        };
        Ok(Case {
            id: text("id").context("no id")?,
            category: text("category").context("no category")?,
            speaker: text("speaker").context("no speaker")?,
            addressee: text("addressee"),
            role: Role::ALL.iter().copied().find(|known| Some(known.as_str()) == role.as_deref()),
            observed_at: text("observed_at").context("no observed_at")?.parse()?,
            timezone: text("timezone"),
            text: text("text").context("no text")?,
            expect: facts("expect")?,
            optional: facts("optional")?,
        })
    }

    fn extract(&self) -> anyhow::Result<Vec<Fact>> {
        let speaker = self.speaker.parse()?;
        let addressee = self.addressee.as_deref().map(str::parse).transpose()?;
        let source = Source {
            text: &self.text,
            speaker: &speaker,
            addressee: addressee.as_ref(),
            role: self.role,
            observed_at: lamina_types::Micros(self.observed_at.as_microsecond()),
            timezone: self.timezone.as_deref(),
        };
        let zone = self.timezone.as_deref().unwrap_or("UTC");
        Ok(extract(&source).claims.iter().map(|claim| Fact::found(claim, zone)).collect())
    }
}

#[cfg(test)]
mod tests;
