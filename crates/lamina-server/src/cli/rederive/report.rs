//! What a run came to, for people and for scripts.

use std::fmt::Write as _;

use lamina_api::time;
use lamina_engine::derive::rederive::{Change, ChangeKind, Rederive, Rederived, Run, Said};
use lamina_types::layer::Effect;
use lamina_types::{ScopePath, ValidAt};
use serde_json::{Value, json};

/// Changes that people are shown; `--json` has more.
const SHOWN_MAX: usize = 100;

/// What a command has found out, and perhaps done.
#[derive(Debug)]
pub(super) enum Done {
    /// A scope was read again, or a run taken back.
    Read { tenant: String, scope: ScopePath, asked: Rederive, apply: bool, report: Rederived },
    /// The runs there were.
    Runs(Vec<Run>),
}

impl Done {
    pub(super) fn text(&self) -> String {
        match self {
            Done::Runs(runs) => runs_text(runs),
            Done::Read { tenant, scope, asked, apply, report } => {
                let mut text = format!("{scope} of tenant {tenant}: {} events\n", report.events);
                for change in report.changes.iter().take(SHOWN_MAX) {
                    text.push_str(&line(change));
                }
                let all = report.added + report.changed + report.lost;
                let unshown = all.saturating_sub(SHOWN_MAX as u64);
                if unshown > 0 {
                    let _ = writeln!(text, "  and {unshown} more; --json lists the first 10,000");
                }
                text.push_str(&sums(report));
                text.push_str(&verdict(scope, tenant, asked, *apply, report));
                text
            }
        }
    }

    pub(super) fn json(&self) -> String {
        let shape = match self {
            Done::Runs(runs) => json!({ "runs": runs.iter().map(run_json).collect::<Vec<_>>() }),
            Done::Read { tenant, scope, asked, apply, report } => {
                read_json(tenant, scope, asked, *apply, report)
            }
        };
        format!("{shape:#}\n")
    }
}

fn line(change: &Change) -> String {
    let Change { kind, event, before, after, elsewhere } = change;
    let (sign, note) = match kind {
        ChangeKind::Added => ('+', "said before by another event"),
        ChangeKind::Changed => ('~', ""),
        ChangeKind::Lost => ('-', "still said by another event"),
    };
    let said = match (before, after) {
        (Some(before), Some(after)) => {
            format!("{}  ->  {}", words(before, Some(after)), words(after, Some(before)))
        }
        (before, after) => before.iter().chain(after).map(|said| words(said, None)).collect(),
    };
    let note = if *elsewhere { format!("  ({note})") } else { String::new() };
    format!("  {sign} {event}  {said}{note}\n")
}

/// A fact in words; what is not the same in the other one is said too.
fn words(said: &Said, other: Option<&Said>) -> String {
    let Said { subject, predicate, object, effect, valid_from, valid_to, confidence } = said;
    let mut text = format!("{subject} {predicate} {object}");
    let _ = match effect {
        Effect::Holds => Ok(()),
        other => write!(text, " [{}]", effect_name(*other)),
    };
    let dated = |name: &str, at: &Option<ValidAt>| {
        at.map_or(String::new(), |at| format!(" {name} {}", time::print(at.0)))
    };
    text.push_str(&dated("from", valid_from));
    text.push_str(&dated("until", valid_to));
    if other.is_some_and(|other| other.confidence != *confidence) {
        let _ = write!(text, " ({:.2})", f64::from(*confidence) / 10_000.0);
    }
    text
}

fn effect_name(effect: Effect) -> &'static str {
    match effect {
        Effect::Holds => "holds",
        Effect::Ends => "ends",
        Effect::Negated => "does not hold",
        Effect::Corrects => "corrects",
    }
}

fn sums(report: &Rederived) -> String {
    let Rederived { added, changed, lost, unchanged, otherwise, .. } = report;
    let mut text = format!(
        "facts: {added} added, {changed} changed, {lost} lost\nevents: {unchanged} unchanged"
    );
    for (count, what) in [
        (otherwise, "differ in names and topics only"),
        (&report.of_models, "keep the answer of a model"),
        (&report.answered_since, "were answered again since"),
        (&report.unanswered, "have no answer"),
    ] {
        if *count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    text.push('\n');
    text
}

fn verdict(
    scope: &ScopePath,
    tenant: &str,
    asked: &Rederive,
    apply: bool,
    report: &Rederived,
) -> String {
    let carried = if report.resumed { ", which had been cut short before" } else { "" };
    match (report.run, apply) {
        (Some(run), _) => format!(
            "{} answers were appended by the run {run}{carried}\n\
             to take it back: lamina rederive --tenant {tenant} --undo {run} --apply\n",
            report.differing
        ),
        (None, _) if report.differing == 0 => "there is nothing to append\n".to_owned(),
        (None, _) => {
            let what = match asked {
                Rederive::Again { .. } => format!("--scope {scope}"),
                Rederive::Undo { run } => format!("--undo {run}"),
            };
            format!(
                "nothing was written; to append these answers: \
                 lamina rederive --tenant {tenant} {what} --apply\n"
            )
        }
    }
}

fn runs_text(runs: &[Run]) -> String {
    let mut text = String::new();
    for Run { id, scope, begun, ended, undoes } in runs {
        let ended = match ended {
            Some((_, answers)) => format!("{answers} answers"),
            None => "cut short".to_owned(),
        };
        let undoes = undoes.map_or(String::new(), |run| format!(", takes back {run}"));
        let _ = writeln!(text, "{id}  {}  {scope}  {ended}{undoes}", time::print(begun.0));
    }
    if runs.is_empty() {
        text.push_str("nothing was ever read again\n");
    }
    text
}

fn run_json(run: &Run) -> Value {
    let Run { id, scope, begun, ended, undoes } = run;
    json!({
        "run_id": id.to_string(),
        "scope": scope.as_str(),
        "begun_at": time::print(begun.0),
        "ended_at": ended.map(|(at, _)| time::print(at.0)),
        "answers": ended.map(|(_, answers)| answers),
        "undoes": undoes.map(|run| run.to_string()),
    })
}

fn read_json(
    tenant: &str,
    scope: &ScopePath,
    asked: &Rederive,
    apply: bool,
    report: &Rederived,
) -> Value {
    let Rederived {
        run,
        resumed,
        events,
        unchanged,
        of_models,
        unanswered,
        answered_since,
        differing,
        otherwise,
        added,
        changed,
        lost,
        changes,
    } = report;
    let undoes = match asked {
        Rederive::Again { .. } => None,
        Rederive::Undo { run } => Some(run.to_string()),
    };
    json!({
        "tenant": tenant,
        "scope": scope.as_str(),
        "applied": apply,
        "run_id": run.map(|run| run.to_string()),
        "resumed": resumed,
        "undoes": undoes,
        "events": {
            "read": events,
            "unchanged": unchanged,
            "of_models": of_models,
            "unanswered": unanswered,
            "answered_since": answered_since,
            "differing": differing,
            "differing_in_no_fact": otherwise,
        },
        "facts": { "added": added, "changed": changed, "lost": lost },
        "changes": changes.iter().map(change_json).collect::<Vec<_>>(),
        "changes_listed_all": changes.len() as u64 == added + changed + lost,
    })
}

fn change_json(change: &Change) -> Value {
    let Change { kind, event, before, after, elsewhere } = change;
    let kind = match kind {
        ChangeKind::Added => "added",
        ChangeKind::Changed => "changed",
        ChangeKind::Lost => "lost",
    };
    json!({
        "change": kind,
        "event_id": event.to_string(),
        "before": before.as_ref().map(said_json),
        "after": after.as_ref().map(said_json),
        "said_elsewhere": elsewhere,
    })
}

fn said_json(said: &Said) -> Value {
    let Said { subject, predicate, object, effect, valid_from, valid_to, confidence } = said;
    json!({
        "subject": subject,
        "predicate": predicate,
        "object": object,
        "effect": match effect {
            Effect::Negated => "negated",
            other => effect_name(*other),
        },
        "valid_from": valid_from.map(|at| time::print(at.0)),
        "valid_to": valid_to.map(|at| time::print(at.0)),
        "confidence": f64::from(*confidence) / 10_000.0,
    })
}

#[cfg(test)]
mod tests;
