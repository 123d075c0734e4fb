//! `lamina recall`, `lamina answer`, `lamina why`: questions to a running server, shown so that a person
//! likes to read them. `--json` prints what the server said, as it said it.

mod show;

use std::io::IsTerminal as _;

use anyhow::anyhow;
use serde_json::{Map, Value, json};

use super::args::{AskArgs, WhyArgs};
use super::call::{call, given};
use super::exit::{Exit, Failure};
use super::print;
use show::Paint;

/// `lamina recall`.
pub(super) fn recall(args: &AskArgs) -> Result<Exit, Failure> {
    let mut body = asked(args, "query")?;
    body.insert("diagnostics".to_owned(), json!("none"));
    said(args, "/v1/recall", &body, show::pack)
}

/// `lamina answer`.
pub(super) fn answer(args: &AskArgs) -> Result<Exit, Failure> {
    let body = asked(args, "question")?;
    said(args, "/v1/answer", &body, show::answer)
}

/// `lamina why`: of a belief its grounds, of a question why each record was found.
pub(super) fn why(args: &WhyArgs) -> Result<Exit, Failure> {
    let WhyArgs { ask } = args;
    let words = ask.question.join(" ");
    if let Some(id) = words.strip_prefix("belief_") {
        let target = format!("/v1/beliefs/why?belief_id=belief_{id}");
        return told(ask, &call(&ask.server, &target, None)?, show::grounds);
    }
    if words.starts_with("evt_") {
        return told(ask, &call(&ask.server, &format!("/v1/events/{words}"), None)?, show::event);
    }
    let mut body = asked(ask, "query")?;
    body.insert("diagnostics".to_owned(), json!("full"));
    said(ask, "/v1/recall", &body, show::reasons)
}

/// The body of a question.
fn asked(args: &AskArgs, named: &str) -> Result<Map<String, Value>, Failure> {
    let mut body = Map::new();
    let scope = given(args.scope.as_deref(), "LAMINA_SCOPE");
    let scope = scope.ok_or_else(|| {
        let missing = anyhow!("no scope is named");
        Failure {
            help: Some("use --scope, or set LAMINA_SCOPE".to_owned()),
            ..Failure::usage(missing)
        }
    })?;
    body.insert("scope".to_owned(), json!(scope));
    body.insert(named.to_owned(), json!(args.question.join(" ")));
    if let Some(view) = &args.view {
        body.insert("view".to_owned(), json!(view));
    }
    if let Some(limit) = args.limit {
        body.insert("budgets".to_owned(), json!({"per_layer_limits": {"events": limit}}));
    }
    let mut temporal = Map::new();
    for (name, value) in [("as_of", &args.as_of), ("natural", &args.when)] {
        if let Some(value) = value {
            temporal.insert(name.to_owned(), json!(value));
        }
    }
    if !temporal.is_empty() {
        body.insert("temporal".to_owned(), Value::Object(temporal));
    }
    Ok(body)
}

fn said(
    args: &AskArgs,
    path: &str,
    body: &Map<String, Value>,
    shown: fn(&Value, Paint) -> String,
) -> Result<Exit, Failure> {
    let answer = call(&args.server, path, Some(Value::Object(body.clone())))?;
    told(args, &answer, shown)
}

fn told(
    args: &AskArgs,
    answer: &Value,
    shown: fn(&Value, Paint) -> String,
) -> Result<Exit, Failure> {
    if args.server.json {
        let text = serde_json::to_string_pretty(answer).map_err(Failure::unreadable)?;
        print(&format!("{text}\n"))?;
    } else {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let paint = Paint { colours: std::io::stdout().is_terminal() && !plain };
        print(&shown(answer, paint))?;
    }
    Ok(Exit::Fine)
}
