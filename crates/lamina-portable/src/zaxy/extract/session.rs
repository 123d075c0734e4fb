//! Sessions and telemetry: each rule adds the session, one entity, and an edge between them.

use super::{Extraction, Properties, RuleResult};
use crate::json::Value;
use crate::zaxy::coerce::{double, text};
use crate::zaxy::fields::join;

pub(super) fn apply(x: &mut Extraction<'_>) -> Option<RuleResult> {
    match x.event.kind.as_str() {
        "session.genesis" => genesis(x),
        "session.profile.corrected" => profile_corrected(x),
        "session.ended" => ended(x),
        "workspace.instructions.discovered" | "workspace.instructions.updated" => instructions(x),
        "tool.call.completed" => tool_call(x),
        "command.completed" => command(x),
        "file.edit.applied" => file_edit(x),
        "compaction.completed" => compaction(x),
        "llm.packet.projected" => packet(x),
        "subagent.completed" => subagent(x),
        _ => return None,
    }
    Some(Ok(()))
}

/// The entity of a telemetry event.
struct Item<'a> {
    name: &'a str,
    kind: &'a str,
    summary: Option<String>,
    properties: Properties,
    /// From the session.
    relation: &'a str,
}

fn add(x: &mut Extraction<'_>, session: String, item: Item<'_>) {
    x.bare(session.as_str(), "session");
    x.entity(item.name, item.kind, item.summary, item.properties);
    x.edge(session, item.relation, item.name);
}

fn genesis(x: &mut Extraction<'_>) {
    let p = x.fields();
    let session = x.session_id();
    let root = p.text_or("root", "workspace");
    let workspace_type = p.text_or("workspace_type", "generic_workspace");
    let profile = p.text_or("instructions_profile", "generic");
    let confidence = p.raw("confidence").cloned().unwrap_or_else(|| double(0.0));
    let summary = Some(format!("{workspace_type} workspace profile {profile}"));
    let properties = Properties::new()
        .put("root", root.as_str())
        .put("workspace_type", workspace_type)
        .put("confidence", confidence)
        .put("signals", p.list("signals"))
        .put("instructions_profile", profile)
        .put("session_id", session.as_str());
    let relation = "initialized_workspace";
    add(x, session, Item { name: &root, kind: "workspace", summary, properties, relation });
}

fn profile_corrected(x: &mut Extraction<'_>) {
    let p = x.fields();
    let session = x.session_id();
    let from = p.text_or("from", "unknown");
    let to = p.text_or("to", "unknown");
    let name = format!("{session}:{from}->{to}");
    let properties = Properties::new()
        .put("session_id", session.as_str())
        .text("root", p.text("root"))
        .put("from", from)
        .put("to", to)
        .text("reason", p.text("reason"));
    let item = Item {
        name: &name,
        kind: "workspace_profile_correction",
        summary: p.text("reason"),
        properties,
        relation: "corrected_workspace_profile",
    };
    add(x, session, item);
}

fn ended(x: &mut Extraction<'_>) {
    let p = x.fields();
    let session = x.session_id();
    let reason = p.text_or("reason", "ended");
    let status = p.text_or("status", "unknown");
    let name = format!("{session}:session-ended:{}", x.event.seq);
    let summary = join(&[status.as_str().into(), reason.as_str().into()]);
    let properties = Properties::new()
        .put("session_id", session.as_str())
        .put("reason", reason)
        .put("status", status);
    let relation = "ended_session";
    add(x, session, Item { name: &name, kind: "session_end", summary, properties, relation });
}

fn instructions(x: &mut Extraction<'_>) {
    let p = x.fields();
    let session = x.session_id();
    let root = p.text_or("root", "workspace");
    let signature = p.text_or("signature", &x.event.seq.to_string());
    let name = format!("{root}:instructions:{signature}");
    let files = p.objects("files");
    let column = |key: &str| files.iter().filter_map(|file| file.text(key)).collect::<Vec<_>>();
    let properties = Properties::new()
        .put("session_id", session.as_str())
        .put("root", root)
        .put("signature", signature)
        .count("file_count", p.list_length("files"))
        .texts("file_paths", &column("path"))
        .texts("file_kinds", &column("kind"));
    let item = Item {
        name: &name,
        kind: "workspace_instructions",
        summary: p.text("summary"),
        properties,
        relation: "uses_workspace_instructions",
    };
    add(x, session, item);
}

fn tool_call(x: &mut Extraction<'_>) {
    let p = x.fields();
    let session = x.session_id();
    let tool = p.text_or("tool_name", "tool");
    let status = p.text_or("status", "unknown");
    let call = p.text_or("call_id", &x.event.seq.to_string());
    let name = format!("{session}:{tool}:{call}");
    let summary = join(&[status.as_str().into(), p.value("result_summary")]);
    let properties = Properties::new()
        .put("tool_name", tool)
        .put("status", status)
        .put("session_id", session.as_str())
        .text("call_id", p.text("call_id"));
    let relation = "completed_tool_call";
    add(x, session, Item { name: &name, kind: "tool_call", summary, properties, relation });
    x.by_task("observed_tool_call", &name);
}

fn command(x: &mut Extraction<'_>) {
    let p = x.fields();
    let session = x.session_id();
    let command = p.text_or("command", "command");
    let outcome = p.text_or("outcome", "unknown");
    let name = format!("{session}:{command}:{}", x.event.seq);
    let summary = join(&[outcome.as_str().into(), command.as_str().into()]);
    let properties = Properties::new()
        .put("command", command)
        .put("exit_code", p.value("exit_code"))
        .put("outcome", outcome)
        .put("session_id", session.as_str());
    let relation = "completed_command";
    add(x, session, Item { name: &name, kind: "command_run", summary, properties, relation });
    x.by_task("observed_command", &name);
}

fn file_edit(x: &mut Extraction<'_>) {
    let p = x.fields();
    let session = x.session_id();
    let path = p.text_or("path", "file");
    let operation = p.text_or("operation", "modified");
    let name = format!("{session}:{path}:{}", x.event.seq);
    let summary = join(&[operation.as_str().into(), p.value("summary")]);
    let properties = Properties::new()
        .put("path", path)
        .put("operation", operation)
        .put("session_id", session.as_str())
        .put("line_count", p.value("line_count"));
    let relation = "applied_file_edit";
    add(x, session, Item { name: &name, kind: "file_edit", summary, properties, relation });
    x.by_task("observed_file_edit", &name);
}

fn compaction(x: &mut Extraction<'_>) {
    let p = x.fields();
    let session = x.session_id();
    let mode = p.text_or("mode", "unknown");
    let status = p.text_or("status", "unknown");
    let log = p.text_or("log_path", "eventloom");
    let name = format!("{session}:compaction:{}", x.event.seq);
    let summary = join(&[status.as_str().into(), mode.as_str().into(), log.as_str().into()]);
    let mut properties = Properties::new()
        .put("session_id", session.as_str())
        .put("mode", mode)
        .put("status", status)
        .put("log_path", log);
    for key in ["event_count", "output_path", "projection_path", "snapshot_path", "strategy"] {
        properties = properties.put(key, p.value(key));
    }
    let relation = "completed_compaction";
    add(x, session, Item { name: &name, kind: "compaction_run", summary, properties, relation });
}

fn packet(x: &mut Extraction<'_>) {
    let p = x.fields();
    let session = p.text_or("session_id", &x.event.thread);
    let source = p.positive("source_event_seq", x.event.seq);
    let usage = p.object("usage_counts");
    let name = format!("{session}:llm-packet:{source}");
    let properties = Properties::new()
        .put("session_id", session.as_str())
        .integer("source_event_seq", &source)
        .text("source_event_hash", p.text("source_event_hash"))
        .put("provider_path", p.text_or("provider_path", "unknown-provider-path"))
        .integer("status_code", &p.positive("status_code", 0))
        .text("model", p.text("model"))
        .put("prompt_tokens", usage.value("prompt"))
        .put("completion_tokens", usage.value("completion"))
        .put("total_tokens", usage.value("total"));
    let item = Item {
        name: &name,
        kind: "llm_packet_projection",
        summary: p.text("summary"),
        properties,
        relation: "projected_llm_packet",
    };
    add(x, session, item);
}

fn subagent(x: &mut Extraction<'_>) {
    let p = x.fields();
    let parent = p.text_or("parent_session_id", "default");
    let thread = Some(x.event.thread.as_str()).filter(|thread| !thread.is_empty());
    let child = p.text_or("subagent_session_id", thread.unwrap_or("subagent"));
    let status = p.text_or("status", "unknown");
    let name = format!("{parent}:{child}:{}", x.event.seq);
    let words = text(p.raw("summary")).map_or(Value::Null, Value::from);
    let summary = join(&[status.as_str().into(), words]);
    let properties = Properties::new()
        .put("parent_session_id", parent.as_str())
        .put("subagent_session_id", child)
        .put("status", status);
    let relation = "completed_subagent";
    add(x, parent, Item { name: &name, kind: "subagent_run", summary, properties, relation });
}
