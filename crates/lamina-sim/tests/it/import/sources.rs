//! Every source of the fixtures through the real server: roles, sessions, order, both axes of time, origin.

use expect_test::{Expect, expect};
use serde_json::Value;

use super::{archive_of, events, fixture, import, upload};
use crate::harness::Own;

/// One line for each event, in the order of writing.
fn shown(api: &mut crate::harness::Api, scope: &str) -> String {
    let mut out = String::new();
    for listed in events(api, scope) {
        let event = api.event(listed["id"].as_str().unwrap());
        let context = &event["context"];
        let at = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        let below = event["scope"].as_str().unwrap().strip_prefix(scope).unwrap_or("?").to_owned();
        let content = &event["content"];
        let said = content["text"]
            .as_str()
            .map_or_else(|| content[content["kind"].as_str().unwrap()].to_string(), str::to_owned);
        let said: String = said.chars().take(60).collect();
        let role = content["role"].as_str().unwrap_or("-");
        let session = event["observed_actor"]["session"].as_str().unwrap_or("-");
        let origin = if event["origin"].is_null() { "-" } else { "origin" };
        out.push_str(&format!(
            "{} {} {role} {} {session} {}{below} {origin} {:?}\n",
            at(&context["observed_at"]),
            at(&context["source_recorded_at"]),
            event["observed_actor"]["id"].as_str().unwrap_or("?"),
            event["modality"].as_str().unwrap_or("?"),
            said.replace('\n', " "),
        ));
    }
    out
}

/// Imports bytes into an empty server and shows its events.
#[track_caller]
fn check(format: &str, bytes: Vec<u8>, expected: &Expect) {
    let own = Own::start();
    let mut api = own.api("source");
    let query = format!("format={format}&scope=user:nora&modified=2026-05-01T00:00:00Z");
    let job = import(&mut api, upload(&query, bytes));
    let counts = ["status", "written", "known", "replaced", "skipped", "failed"]
        .map(|name| format!("{name} {}", job[name].to_string().trim_matches('"')));
    let text = format!("{}\n{}", counts.join(", "), shown(&mut api, "user:nora"));
    expected.assert_eq(&text);
    own.stop();
}

#[test]
fn chatgpt_export_keeps_roles_sessions_order_and_leaves_out_the_unwanted() {
    check(
        "openai",
        archive_of("chatgpt"),
        &expect![[r#"
            status completed, written 6, known 0, replaced 0, skipped 4, failed 3
            2026-01-01T00:00:00.500Z - - user:nora - imported origin "I restore boats."
            2026-01-01T00:00:00.500Z - - user:nora - imported origin "Answer in one line."
            2026-01-01T00:00:01.250Z 2026-01-01T00:00:01.250Z user user:nora c-1 conversation origin "Name my boat."
            2026-01-01T00:00:04Z 2026-01-01T00:00:04Z assistant agent:chatgpt c-1 conversation origin "Morning Tern."
            2026-01-01T00:03:21Z 2026-01-01T00:03:21Z tool agent:python c-3 conversation origin "42"
            2026-01-02T00:00:00Z 2026-01-02T00:00:00Z - user:nora s-7 imported origin "Has a boat called Morning Tern"
        "#]],
    );
}

#[test]
fn claude_export_keeps_conversations_projects_and_memory() {
    check(
        "claude",
        archive_of("claude"),
        &expect![[r#"
            status completed, written 8, known 0, replaced 0, skipped 3, failed 0
            2026-01-01T00:00:00Z - - user:nora - imported origin "Be brief."
            2026-01-01T00:00:00Z - - user:nora - document origin "Two winches."
            2026-02-01T10:00:00.123456Z 2026-02-01T10:00:00.123456Z - user:nora c-1 document origin "Mast of nine metres."
            2026-02-01T10:00:00.123456Z 2026-02-01T10:00:00.123456Z user user:nora c-1 conversation origin "Which rope for the halyard?"
            2026-02-01T10:01:00Z 2026-02-01T10:01:00Z assistant agent:claude c-1 conversation origin "Pre-stretched polyester."
            2026-02-01T10:01:00Z 2026-02-01T10:01:00Z tool agent:web_search c-1 conversation - "Polyester stretches little."
            2026-05-01T00:00:00Z - - user:nora - imported - "Nora restores boats."
            2026-05-01T00:00:00Z - - user:nora - imported - "The boat is nine metres long."
        "#]],
    );
}

#[test]
fn mem0_pages_keep_ids_times_and_users() {
    check(
        "mem0",
        fixture("mem0/page.json"),
        &expect![[r#"
        status completed, written 3, known 0, replaced 0, skipped 0, failed 2
        2025-01-01T00:00:00Z 2025-01-01T00:00:00Z - user:nora - imported origin "Lives in Porto"
        2026-02-01T15:00:00Z 2026-02-01T15:00:00Z - agent:Kitchen-Helper dinner-7 imported origin "Is allergic to peanuts"
        2026-02-03T08:00:00Z 2025-02-01T08:00:00Z - user:nora - imported origin "Lives in Lisbon"
    "#]],
    );
}

#[test]
fn mem0_library_keeps_relations_as_facts() {
    check(
        "mem0",
        fixture("mem0/get_all.json"),
        &expect![[r#"
        status completed, written 3, known 0, replaced 0, skipped 0, failed 1
        2026-01-05T10:00:00.123456Z 2026-01-05T10:00:00.123456Z - user:nora - imported origin "Plays the cello"
        2026-05-01T00:00:00Z - - user:nora - imported origin "{\"subject\":{\"type\":\"entity\",\"id\":\"otto\",\"name\":\"otto\"},\"pred"
        2026-05-01T00:00:00Z - - user:nora - imported origin "{\"subject\":{\"type\":\"entity\",\"id\":\"otto\",\"name\":\"otto\"},\"pred"
    "#]],
    );
}

#[test]
fn zep_graph_keeps_the_time_of_facts() {
    check(
        "zep",
        fixture("zep/graph.json"),
        &expect![[r#"
            status completed, written 5, known 0, replaced 0, skipped 1, failed 2
            2024-03-01T00:00:00Z 2024-03-02T09:00:00Z - user:nora - imported/ws:team-blue origin "{\"subject\":{\"type\":\"entity\",\"id\":\"Nora\",\"name\":\"Nora\"},\"pred"
            2024-03-01T09:00:00Z 2024-03-01T09:00:05Z user user:Nora p-1 conversation origin "I started at Tideline."
            2024-03-01T09:01:00Z 2024-03-01T09:01:00Z assistant agent:Helper s-1 conversation origin "Congratulations!"
            2024-03-01T10:00:00Z 2024-03-01T10:00:00Z - user:nora - imported/ws:team-blue origin "Nora builds boats."
            2026-01-01T00:00:00Z 2026-01-01T00:00:00Z - user:nora - imported origin "Nora prefers trains"
        "#]],
    );
}

#[test]
fn letta_agent_files_of_both_versions_keep_blocks_and_messages() {
    check(
        "letta",
        fixture("letta/version2.af"),
        &expect![[r#"
            status completed, written 7, known 0, replaced 0, skipped 3, failed 0
            2026-01-01T10:00:02Z 2026-01-01T10:00:02Z user user:nora Harbor Guide conversation origin "When is high tide?"
            2026-01-01T10:00:03Z 2026-01-01T10:00:03Z assistant agent:Harbor-Guide Harbor Guide conversation origin "I look it up."
            2026-01-01T10:00:04Z 2026-01-01T10:00:04Z tool agent:Harbor-Guide Harbor Guide conversation origin "14:20"
            2026-01-01T10:00:05Z 2026-01-01T10:00:05Z assistant agent:Harbor-Guide Harbor Guide conversation origin "At 14:20."
            2026-01-02T00:00:00Z 2026-01-02T00:00:00Z - agent:Harbor-Guide - imported origin "Nora sails on Sundays."
            2026-01-02T00:00:00Z 2026-01-02T00:00:00Z - agent:Harbor-Guide - imported origin "I know every harbor."
            2026-01-02T00:00:00Z 2026-01-02T00:00:00Z - user:nora - imported origin "A block of nobody."
        "#]],
    );
    check(
        "letta",
        fixture("letta/version1.af"),
        &expect![[r#"
        status completed, written 2, known 0, replaced 0, skipped 0, failed 1
        2025-06-02T00:00:00Z 2025-06-02T00:00:00Z user user:nora archivist conversation origin "Where is the oldest map?"
        2025-07-01T00:00:00Z 2025-06-01T00:00:00Z - agent:archivist - imported origin "Otto collects maps."
    "#]],
    );
}

#[test]
fn mcp_memory_server_keeps_entities_and_relations() {
    check(
        "mcp_memory",
        fixture("mcp-memory/memory.jsonl"),
        &expect![[r#"
        status completed, written 5, known 0, replaced 0, skipped 0, failed 2
        2026-05-01T00:00:00Z - - user:nora - imported - "{\"subject\":{\"type\":\"entity\",\"id\":\"Nora Lund\",\"name\":\"Nora Lu"
        2026-05-01T00:00:00Z - - user:nora - imported origin "Nora Lund: Restores boats"
        2026-05-01T00:00:00Z - - user:nora - imported origin "Nora Lund speaks Danish"
        2026-05-01T00:00:00Z - - user:nora - imported - "{\"subject\":{\"type\":\"entity\",\"id\":\"Tideline\",\"name\":\"Tideline"
        2026-05-01T00:00:00Z - - user:nora - imported - "{\"subject\":{\"type\":\"entity\",\"id\":\"Nora Lund\",\"name\":\"Nora Lu"
    "#]],
    );
}

#[test]
fn jsonl_envelopes_keep_everything() {
    check(
        "jsonl",
        fixture("jsonl/envelopes.jsonl"),
        &expect![[r#"
        status completed, written 3, known 0, replaced 0, skipped 0, failed 3
        2026-03-01T09:00:00Z - user user:local - conversation - "The greenhouse needs a new pump."
        2026-03-01T10:00:00Z - - agent:gardener - observation - "Pump ordered."
        2026-03-01T10:00:00Z - - agent:gardener - observation - "Pump ordered."
    "#]],
    );
}

#[test]
fn other_sources_come_in() {
    check(
        "gemini",
        archive_of("gemini"),
        &expect![[r#"
            status completed, written 8, known 0, replaced 0, skipped 3, failed 0
            2026-02-17T20:08:20Z 2026-02-17T20:08:20Z user user:nora gemini-2026-02-17T20:08:20Z conversation origin "Two lines of a prompt"
            2026-02-17T20:08:20Z 2026-02-17T20:08:20Z assistant agent:gemini gemini-2026-02-17T20:08:20Z conversation - "Fine."
            2026-03-01T09:00:00Z 2026-03-01T09:00:00Z user user:nora g-7 conversation origin "Old question"
            2026-03-01T09:00:00Z 2026-03-01T09:00:00Z assistant agent:gemini g-7 conversation - "Old answer"
            2026-04-01T11:00:00Z 2026-04-01T11:00:00Z user user:nora gemini-2026-04-01T11:00:00Z conversation origin "How do I fix a leak?"
            2026-04-01T11:00:00Z 2026-04-01T11:00:00Z assistant agent:gemini gemini-2026-04-01T11:00:00Z conversation - "- Dry it - Seal it"
            2026-04-01T11:10:00Z 2026-04-01T11:10:00Z user user:nora gemini-2026-04-01T11:00:00Z conversation origin "And the cost?"
            2026-04-01T11:10:00Z 2026-04-01T11:10:00Z assistant agent:gemini gemini-2026-04-01T11:00:00Z conversation - "About 40 euros & change."
        "#]],
    );
    check(
        "grok",
        archive_of("grok"),
        &expect![[r#"
            status completed, written 4, known 0, replaced 0, skipped 3, failed 0
            2026-05-01T00:00:00Z - - user:nora - imported origin "Speak like a sailor."
            2026-05-01T10:00:00Z 2026-05-01T10:00:00Z user user:nora c-1 conversation origin "Which knot?"
            2026-05-01T10:00:02Z 2026-05-01T10:00:02Z assistant agent:grok c-1 conversation origin "A cleat hitch."
            2026-05-02T10:00:00Z - user user:nora - conversation origin "a lighthouse"
        "#]],
    );
    check(
        "copilot",
        archive_of("copilot"),
        &expect![[r#"
        status completed, written 3, known 0, replaced 0, skipped 0, failed 0
        2026-02-17T14:36:11Z - user user:nora Boats conversation origin "Which wood?"
        2026-02-17T14:36:11Z - assistant agent:copilot Boats conversation origin "Use oak."
        2026-02-18T09:05:00Z - user user:nora Boats conversation origin "Thanks"
    "#]],
    );
    check(
        "langgraph",
        fixture("langgraph/items.jsonl"),
        &expect![[r#"
        status completed, written 2, known 0, replaced 0, skipped 0, failed 1
        2026-01-02T10:00:00Z 2026-01-01T10:00:00Z - user:nora - imported origin "Nora drinks green tea."
        2026-01-03T10:00:00Z 2026-01-03T10:00:00Z - user:nora - imported origin "null"
    "#]],
    );
    check(
        "basic_memory",
        archive_of("basic-memory"),
        &expect![[r##"
        status completed, written 4, known 0, replaced 0, skipped 0, failed 0
        2026-01-10T08:00:00Z 2026-01-10T08:00:00Z - user:nora - imported origin "Morning Tern: The hull needs paint"
        2026-01-10T08:00:00Z 2026-01-10T08:00:00Z - user:nora - imported origin "{\"subject\":{\"type\":\"entity\",\"id\":\"Morning Tern\",\"name\":\"Morn"
        2026-01-10T08:00:00Z 2026-01-10T08:00:00Z - user:nora - imported origin "{\"subject\":{\"type\":\"entity\",\"id\":\"Morning Tern\",\"name\":\"Morn"
        2026-01-10T08:00:00Z 2026-01-10T08:00:00Z - user:nora - document origin "# Morning Tern  A wooden sloop from 1961.  ## Observations  "
    "##]],
    );
    check(
        "hindsight",
        archive_of("hindsight"),
        &expect![[r#"
        status completed, written 4, known 0, replaced 0, skipped 0, failed 0
        2026-05-01T00:00:00Z 2026-05-01T00:00:00Z - user:nora - imported origin "Answer in Danish."
        2026-05-03T00:00:00Z 2026-05-04T10:00:00Z - user:nora - imported origin "Nora launched the boat"
        2026-05-04T10:00:00Z 2026-05-04T10:00:00Z - user:nora - document origin "Nora launched the boat on Sunday."
        2026-05-05T00:00:00Z - - user:nora - imported origin "Nora sails often"
    "#]],
    );
    check(
        "csv",
        fixture("csv/notes.csv"),
        &expect![[r#"
            status completed, written 3, known 0, replaced 0, skipped 1, failed 1
            2026-05-01T00:00:00Z - - user:nora t-1 imported origin "Say \"hi\"; twice"
            2026-05-01T00:00:00Z - - user:nora t-1 imported origin "no zone"
            2026-05-01T00:00:00Z - - user:nora t-1 imported origin "what role"
        "#]],
    );
    check(
        "csv",
        fixture("csv/triples.csv"),
        &expect![[r#"
            status completed, written 2, known 0, replaced 0, skipped 0, failed 0
            2024-01-01T00:00:00Z - - user:nora - imported origin "{\"subject\":{\"type\":\"entity\",\"id\":\"Nora\",\"name\":\"Nora\"},\"pred"
            2025-06-01T00:00:00Z - - user:nora - imported origin "{\"subject\":{\"type\":\"entity\",\"id\":\"Nora\",\"name\":\"Nora\"},\"pred"
        "#]],
    );
}
