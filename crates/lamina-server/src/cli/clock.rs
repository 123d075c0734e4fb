//! `lamina clock`: whether a running server believes its clock, and the confirmation that it is right.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::args::ClockArgs;
use super::call::call;
use super::exit::{Exit, Failure};
use super::print;

const STATUS: &str = "/v1/admin/clock";
const CONFIRM: &str = "/v1/admin/clock/confirm";

/// Shows the clock, or confirms it or a sweep first.
pub(super) fn clock(args: &ClockArgs) -> Result<Exit, Failure> {
    let answer = match (args.confirm, &args.sweep) {
        (false, _) => call(&args.server, STATUS, None)?,
        (true, None) => call(&args.server, CONFIRM, Some(json!({})))?,
        (true, Some(id)) => call(&args.server, CONFIRM, Some(json!({"sweep_id": id})))?,
    };
    if args.server.json {
        let text = serde_json::to_string_pretty(&answer).map_err(Failure::unreadable)?;
        print(&format!("{text}\n"))?;
    } else {
        print(&shown(&answer))?;
    }
    Ok(Exit::Fine)
}

fn shown(answer: &Value) -> String {
    let word = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or("-");
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name:<20} {value}");
    };
    line("wall clock", word("wall_at"));
    line("last entry", word("recorded_at"));
    line("newest file", word("segment_modified_at"));
    line("next entry", word("log_at"));
    if let Some(ahead) =
        answer.get("log_ahead_secs").and_then(Value::as_u64).filter(|ahead| *ahead > 0)
    {
        line("log ahead by", &format!("{ahead} s"));
    }
    line("automatic deletion", &deletion(answer));
    let sweeps = answer.get("stopped_sweeps").and_then(Value::as_array);
    for sweep in sweeps.into_iter().flatten() {
        let word = |name: &str| {
            sweep.get(name).and_then(Value::as_str).unwrap_or("another tenant's scope")
        };
        let number = |name: &str| sweep.get(name).and_then(Value::as_u64).unwrap_or_default();
        let place = match word("of") {
            "tenant" => format!("tenant {}", word("tenant")),
            _ => format!("{} of tenant {}", word("scope"), word("tenant")),
        };
        let (overdue, events, id) = (number("overdue"), number("events"), word("sweep_id"));
        line("stopped sweep", &format!("{overdue} of {events} events of {place} are overdue"));
        line("  to let it run", &format!("lamina clock --confirm --sweep {id}"));
    }
    match answer.get("doubt").and_then(Value::as_str) {
        Some(doubt) => text.push_str(&format!(
            "the clock is {doubt} of the log. If the wall clock above is right: lamina clock --confirm\n"
        )),
        None => text.push_str("the clock is believed\n"),
    }
    text
}

fn deletion(answer: &Value) -> String {
    let deletion = answer.get("automatic_deletion");
    let of = |name: &str| deletion.and_then(|deletion| deletion.get(name));
    let wait = of("wait_secs").and_then(Value::as_u64).unwrap_or_default();
    match of("reason").and_then(Value::as_str) {
        None => "on".to_owned(),
        Some("start") => format!("off for {wait} s more: the server has just started"),
        Some("pause") => format!("off for {wait} s more: the server was off for more than a day"),
        Some("jump") => format!("off for {wait} s more: the clock jumped by more than a day"),
        Some(_) => "off until the clock is confirmed".to_owned(),
    }
}

#[cfg(test)]
mod tests;
