//! Skills, refs, working set, replay, capture and reminders: what the profile folds from the log of a session.

use lamina_env::disk::read_file;
use lamina_env::{Disk, RealDisk};
use serde_json::{Value, json};

use super::{Zaxy, default_session};
use crate::harness::{Own, data};
use crate::mcp::stdio::AgentClient;

fn kinds(replay: &Value) -> Vec<String> {
    let events = replay["events"].as_array().unwrap().iter();
    events.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

fn skill(zaxy: &mut Zaxy, action: &str, more: Value) -> Value {
    let mut arguments = json!({"action": action, "skill_id": "py-tdd"});
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    zaxy.call("memory_skill", arguments)
}

#[test]
fn m48_skills_are_folded_from_the_log_and_a_restart_changes_nothing() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    let proposed = json!({"name": "Python TDD", "summary": "test first",
        "procedure": ["write a failing test", "run pytest"], "applicability": ["python"]});
    let written = skill(&mut zaxy, "proposed", proposed);
    assert_eq!(written["event_type"], "skill.proposed");
    for score in [0.9, 0.8] {
        let outcome = json!({"task": "fix", "success_score": score, "feedback": "worked"});
        skill(&mut zaxy, "outcome_recorded", outcome);
    }
    skill(&mut zaxy, "applied", json!({"task": "fix"}));
    let before = zaxy.said(&default_session(&zaxy)).len();
    let question = json!({"query": "how do I fix the python test"});
    let live = zaxy.call("memory_checkout", question.clone());
    let diagnostics = &live["diagnostics"];
    let item = &diagnostics["skills"]["items"][0];
    assert_eq!((&item["skill_id"], &item["status"]), (&json!("py-tdd"), &json!("proposed")));
    assert_eq!(item["procedure"], json!(["write a failing test", "run pytest"]));
    let candidate = json!([{"skill_id": "py-tdd", "version": "1"}]);
    assert_eq!(diagnostics["skill_analytics"]["promotion_candidates"], candidate);
    let prompt = live["prompt"].as_str().unwrap();
    assert!(prompt.contains("## Applicable Skills") && prompt.contains("## Skill Analytics"));
    assert!(prompt.trim_end().ends_with("</lamina_memory>"), "{prompt}");
    // A checkout reads the register and writes nothing into it.
    assert_eq!(zaxy.said(&default_session(&zaxy)).len(), before);
    let project = zaxy.project.clone();
    let own = own.restart();
    let mut zaxy = Zaxy::in_project(&own, &project);
    let again = zaxy.call("memory_checkout", question.clone());
    for block in ["skills", "skill_analytics"] {
        assert_eq!(again["diagnostics"][block], diagnostics[block], "{block}");
    }
    let revised = json!({"version": "2", "supersedes_version": "1", "procedure": ["run pytest"]});
    skill(&mut zaxy, "revised", revised);
    let contradicted = json!({"version": "2", "contradiction_reason": "it missed a case"});
    skill(&mut zaxy, "contradicted", contradicted);
    let later = zaxy.call("memory_checkout", question);
    assert!(later["diagnostics"].get("skills").is_none(), "{}", later["diagnostics"]);
    let back = &later["diagnostics"]["skill_analytics"]["rollback_candidates"];
    assert_eq!(back, &json!([{"skill_id": "py-tdd", "version": "2"}]));
    for arguments in [
        json!({"action": "proposed", "skill_id": " "}),
        json!({"action": "bad", "skill_id": "x"}),
        json!({"action": "applied", "skill_id": "x", "success_score": 1.5}),
    ] {
        zaxy.mistake("memory_skill", arguments);
    }
}

#[test]
fn m49_replay_is_ascending_marks_erased_events_and_goes_on_by_number() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    let mut ids = Vec::new();
    for number in 0..5 {
        let text = format!("note {number} of the lighthouse");
        let written = zaxy.append("observation.recorded", json!({"observation": text}));
        ids.push(written["event_id"].clone());
    }
    let session = default_session(&zaxy);
    let replay = zaxy.call("memory_replay", json!({"session_id": session}));
    let events = replay["events"].as_array().unwrap();
    for (place, event) in events.iter().enumerate() {
        assert_eq!(event["seq"].as_u64(), Some(place as u64 + 1));
        for member in [
            "seq",
            "timestamp",
            "type",
            "actor",
            "thread",
            "payload",
            "security",
            "prev_hash",
            "hash",
            "id",
            "parent_event_id",
            "caused_by",
            "envelope_version",
        ] {
            assert!(event.get(member).is_some(), "{member}: {event}");
        }
    }
    assert!(events.windows(2).all(|pair| pair[1]["prev_hash"] == pair[0]["hash"]));
    assert_eq!(replay["integrity"]["total_events"].as_u64(), Some(events.len() as u64));
    let from = json!({"session_id": session, "from_seq": 4});
    let rest = zaxy.call("memory_replay", from);
    assert_eq!(rest["events"][0]["seq"], 4);
    let forget = zaxy.http.call("memory_forget", json!({"ids": [ids[2]]}));
    let confirm = forget["structuredContent"]["preview_id"].clone();
    zaxy.http.call("memory_forget", json!({"ids": [ids[2]], "confirm": confirm}));
    let replay = zaxy.call("memory_replay", json!({"session_id": session}));
    let erased: Vec<&Value> = replay["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["erased"] == true)
        .collect();
    assert_eq!(erased.len(), 1, "{replay}");
    assert!(!replay.to_string().contains("note 2 of the lighthouse"), "{replay}");
    assert_eq!(replay["integrity"]["ok"], true, "an erasure breaks no chain");
    zaxy.mistake("memory_replay", json!({"session_id": session, "from_seq": 0}));
}

#[test]
fn m49_flipped_byte_is_reported_with_the_number_of_its_event() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    for number in 0..6 {
        let text = format!("lighthouse entry {number} with words of its own");
        zaxy.append("observation.recorded", json!({"observation": text}));
    }
    let session = default_session(&zaxy);
    let replay = zaxy.call("memory_replay", json!({"session_id": session}));
    let mut hit = replay["events"].as_array().unwrap().iter();
    let hit = hit.rfind(|event| event.to_string().contains("entry 3")).unwrap();
    let (number, hash) = (hit["seq"].as_u64().unwrap(), hit["hash"].as_str().unwrap());
    let seal: Vec<u8> =
        (0..32).map(|at| u8::from_str_radix(&hash[2 * at..2 * at + 2], 16).unwrap()).collect();
    // The head of an entry ends with its seal, its words come behind it.
    let log = data(own.directory.path()).join("log");
    let segments = RealDisk.list(&log).unwrap();
    let mut flipped = 0;
    for name in segments.into_iter().filter(|name| name.ends_with(".seg")) {
        let path = log.join(name);
        let bytes = read_file(&RealDisk, &path, 1 << 30).unwrap();
        let places: Vec<usize> = bytes
            .windows(32)
            .enumerate()
            .filter(|(_, window)| *window == seal)
            .map(|(at, _)| at)
            .collect();
        if let Some(at) = places.first() {
            let place = at + 60;
            let file = RealDisk.open(&path).unwrap();
            file.write_at(&[bytes[place] ^ 0x01], place as u64).unwrap();
            flipped += 1;
        }
    }
    assert_eq!(flipped, 1);
    let project = zaxy.project.clone();
    drop(zaxy);
    let mut zaxy = Zaxy::in_project(&own, &project);
    let replay = zaxy.call("memory_replay", json!({"session_id": session}));
    assert_eq!(replay["integrity"]["ok"], false, "{replay}");
    assert_eq!(replay["integrity"]["broken_at_seq"].as_u64(), Some(number), "{replay}");
    let reason = replay["integrity"]["broken_reason"].as_str().unwrap();
    assert!(reason.contains(&number.to_string()), "{reason}");
}

#[test]
fn m51_contract_and_bootstrap_are_short_and_true() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    let tokens = |value: &Value| lamina_core::read::tokens::estimate(&value.to_string());
    let empty = zaxy.call("memory_capabilities", json!({}));
    assert_eq!(empty["status"]["eventloom"]["session_exists"], false);
    assert_eq!(empty["status"]["hooks"]["status"], "none_seen");
    assert!(tokens(&empty) <= 400, "{}: {empty}", tokens(&empty));
    zaxy.append("hook.session_started", json!({"trigger": "session-start"}));
    let task = json!({"current_task": "ship the exporter"});
    let known = zaxy.call("memory_capabilities", task.clone());
    assert_eq!(known["status"]["hooks"]["status"], "ok");
    assert_eq!(known["recommended_next_call"]["arguments"]["query"], "ship the exporter");
    assert_eq!(known["status"]["eventloom"]["integrity_ok"], true);
    let bootstrap = zaxy.call("memory_bootstrap", task);
    assert!(tokens(&bootstrap) <= 600, "{}: {bootstrap}", tokens(&bootstrap));
    assert_eq!(bootstrap["mode"], "session_start");
    assert!(bootstrap["capture"]["latest_observation"]["seq"].is_u64(), "{bootstrap}");
}

#[test]
fn m52_turns_are_durable_and_subagents_hand_over() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    let turn = json!({"role": "user", "content": "Please export the memory of the lighthouse."});
    let bundle = zaxy.call("context_after_turn", turn);
    assert!(bundle["prompt"].as_str().unwrap().contains("# Active Memory Working Set"));
    let project = zaxy.project.clone();
    drop(zaxy);
    let own = own.crash();
    let mut zaxy = Zaxy::in_project(&own, &project);
    let found = zaxy.call("memory_verbatim", json!({"query": "lighthouse"}));
    assert_eq!(found[0]["metadata"]["event_type"], "transcript.turn", "{found}");
    let cleanup = json!({"parent_session_id": default_session(&zaxy), "subagent_session_id": "sub-1",
        "summary": "Explored the Merkle code."});
    let task = json!({"event_type": "task.proposed", "actor": "assistant", "session_id": "sub-1",
        "payload": {"title": "read the tree code"}});
    zaxy.call("memory_append", task);
    let handed = zaxy.call("subagent_cleanup", cleanup.clone());
    assert_eq!((&handed["session_id"], &handed["integrity_ok"]), (&json!("sub-1"), &json!(true)));
    assert_eq!(handed["summary"]["open_tasks"], json!(["read the tree code"]));
    let replay = zaxy.call("memory_replay", json!({"session_id": "sub-1"}));
    let kinds = kinds(&replay);
    for kind in ["subagent.cleaned", "subagent.completed"] {
        assert!(kinds.iter().any(|known| known == kind), "{kinds:?}");
    }
    let parent = zaxy.call("memory_checkout", json!({"query": "handoff of the Merkle code"}));
    assert!(parent["prompt"].as_str().unwrap().contains("Explored the Merkle code."), "{parent}");
    let mut same = cleanup;
    same["subagent_session_id"] = same["parent_session_id"].clone();
    zaxy.mistake("subagent_cleanup", same);
}

#[test]
fn m53_refs_name_points_of_the_log() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    let first = zaxy.append("decision.made", json!({"decision": "Use the red bridge"}));
    let updated = zaxy.append("memory.ref.updated", json!({"name": "refs/heads/main"}));
    assert!(updated["seq"].as_u64() > first["seq"].as_u64());
    zaxy.append("decision.made", json!({"decision": "Use the blue ferry"}));
    let at = |zaxy: &mut Zaxy, reference: &str| {
        let question = json!({"query": "which decision about the bridge or the ferry",
            "ref": reference});
        zaxy.call("memory_checkout", question)
    };
    let then = at(&mut zaxy, "refs/heads/main");
    assert_eq!(then["ref"]["name"], "refs/heads/main");
    assert_eq!(then["ref"]["target_hash"].as_str().unwrap().len(), 64);
    let told = then["current_facts"].to_string();
    assert!(told.contains("red bridge") && !told.contains("blue ferry"), "{told}");
    let head = at(&mut zaxy, "HEAD");
    assert!(head["current_facts"].to_string().contains("blue ferry"), "{head}");
    let unknown = zaxy.mistake("memory_checkout", json!({"query": "x", "ref": "refs/heads/none"}));
    assert!(unknown.contains("refs/heads/main") && unknown.contains("HEAD"), "{unknown}");
    for payload in [
        json!({"name": "refs/../x"}),
        json!({"name": "main"}),
        json!({"name": "refs/heads/x", "target_seq": 99}),
        json!({"name": "refs/heads/x", "target_seq": 1, "target_hash": "0123456789ab"}),
    ] {
        let event = json!({"event_type": "memory.ref.updated", "actor": "u", "payload": payload});
        zaxy.mistake("memory_append", event);
    }
}

#[test]
fn m54_completed_task_leaves_the_working_set() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    zaxy.append("goal.created", json!({"title": "Ship the exporter"}));
    zaxy.append("task.proposed", json!({"taskId": "T-1", "title": "Write the tree"}));
    zaxy.append("task.blocked", json!({"taskId": "T-2", "title": "Sign it", "reason": "no key"}));
    let items = |zaxy: &mut Zaxy| {
        let checkout = zaxy.call("memory_checkout", json!({"query": "open tasks and goals"}));
        checkout["working_set"]["items"].as_array().unwrap().clone()
    };
    let open = items(&mut zaxy);
    for item in &open {
        assert!(item["citation"].as_str().unwrap().starts_with("eventloom://"), "{item}");
    }
    let categories: Vec<&str> =
        open.iter().map(|item| item["category"].as_str().unwrap()).collect();
    for category in ["goal", "task", "blocker"] {
        assert!(categories.contains(&category), "{categories:?}");
    }
    zaxy.append("task.completed", json!({"taskId": "T-1"}));
    let left = items(&mut zaxy);
    assert_eq!(left.len(), open.len() - 1, "{left:?}");
    assert!(!Value::from(left).to_string().contains("Write the tree"));
}

#[test]
fn m55_calls_leave_events_without_values_and_the_switch_turns_them_off() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    zaxy.append("decision.made", json!({"decision": "Use the zebra crossing"}));
    zaxy.call("memory_checkout", json!({"query": "what about the zebra crossing"}));
    let session = default_session(&zaxy);
    let replay = zaxy.call("memory_replay", json!({"session_id": session}));
    let kinds = kinds(&replay);
    assert_eq!(kinds[0], "session.genesis");
    for kind in ["tool.call.completed", "memory.checkout.completed"] {
        assert!(kinds.iter().any(|known| known == kind), "{kinds:?}");
    }
    for event in replay["events"].as_array().unwrap() {
        if event["type"] == "tool.call.completed" {
            let payload = &event["payload"];
            assert_eq!(payload["arguments_redacted"], true);
            assert!(payload["argument_keys"].is_array());
            assert!(!event.to_string().contains("zebra"), "{event}");
        }
    }
    let off = Own::start_with(&[("MCP_LIFECYCLE_CAPTURE_ENABLED", "false")]);
    let mut quiet = Zaxy::new(&off);
    quiet.append("decision.made", json!({"decision": "Use the zebra crossing"}));
    let session = default_session(&quiet);
    let replay = quiet.call("memory_replay", json!({"session_id": session}));
    assert_eq!(self::kinds(&replay), ["decision.made"]);
}

#[test]
fn m33_two_hundred_calls_leave_the_facts_of_a_session_unchanged() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    zaxy.call(
        "context_after_turn",
        json!({"role": "user", "content": "Ada works at Quillfeather."}),
    );
    zaxy.append("decision.made", json!({"decision": "Use the red bridge"}));
    let scope = zaxy.scope(&default_session(&zaxy));
    let facts = |own: &Own| {
        let target = format!("/v1/facts?scope={scope}&limit=100");
        let page = own.server.client().send(&lamina_sim::client::Request::get(&target)).unwrap();
        page.json().unwrap()["items"].to_string()
    };
    let current = |zaxy: &mut Zaxy| {
        let checkout = zaxy.call("memory_checkout", json!({"query": "Where does Ada work?"}));
        let facts = checkout["current_facts"].as_array().unwrap().clone();
        let told: Vec<String> =
            facts.iter().map(|fact| fact["content"].as_str().unwrap().to_owned()).collect();
        (told, checkout["quality"]["answerability"].clone())
    };
    let (before, told) = (facts(&own), current(&mut zaxy));
    assert!(before.contains("Quillfeather"), "{before}");
    assert_eq!(told.1, "answer_from_memory");
    let session = default_session(&zaxy);
    for round in 0..25 {
        zaxy.call("memory_checkout", json!({"query": format!("Where does Ada work? {round}")}));
        zaxy.call("memory_query", json!({"query": "Ada"}));
        zaxy.call("memory_verbatim", json!({"query": "Ada"}));
        zaxy.call("context_assemble", json!({"query": "Ada"}));
        zaxy.call("memory_replay", json!({"session_id": session}));
        zaxy.call("memory_capabilities", json!({}));
        zaxy.call("memory_bootstrap", json!({}));
        let feedback = json!({"entity_name": "Ada", "entity_type": "person", "feedback": "used"});
        zaxy.call("memory_feedback", feedback);
    }
    assert_eq!(facts(&own), before);
    assert_eq!(current(&mut zaxy), told);
}

#[test]
fn m56_reminder_is_suggested_once_within_twenty_minutes() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    zaxy.append("hook.session_started", json!({"trigger": "session-start"}));
    let session = default_session(&zaxy);
    let replay = zaxy.call("memory_replay", json!({"session_id": session}));
    let reminders = |replay: &Value| {
        let events = replay["events"].as_array().unwrap().iter();
        let is_reminder = |event: &&Value| event["type"] == "memory.reminder.suggested";
        events.filter(is_reminder).cloned().collect::<Vec<Value>>()
    };
    let found = reminders(&replay);
    assert_eq!(found.len(), 1, "{replay}");
    let payload = &found[0]["payload"];
    assert_eq!(payload["trigger"], "session_start");
    assert_eq!(payload["recommended_tool"], "memory_checkout");
    assert!(payload["reminder"].as_str().unwrap().contains("memory_checkout"), "{payload}");
    for kind in ["hook.resumed", "hook.precompact"] {
        zaxy.append(kind, json!({}));
    }
    let replay = zaxy.call("memory_replay", json!({"session_id": session}));
    assert_eq!(reminders(&replay).len(), 1, "one in twenty minutes");
}

#[test]
fn m57_export_is_a_bundle_of_the_exchange_code() {
    let own = Own::start();
    let mut zaxy = Zaxy::new(&own);
    zaxy.append("goal.created", json!({"title": "Ship the exporter"}));
    let bundle = zaxy.call("memory_export", json!({"kinds": ["goal.created"]}));
    assert_eq!(bundle["version"], "zaxy.export.unsigned.v1");
    assert_eq!(bundle["session_id"], default_session(&zaxy));
    let grains: Vec<&str> = bundle["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["grain"].as_str().unwrap())
        .collect();
    assert!(grains.contains(&"event") && grains.contains(&"semantic"), "{bundle}");
    let unsigned = zaxy.mistake("memory_export", json!({"sign": true}));
    assert!(unsigned.contains("sign"), "{unsigned}");
    zaxy.mistake("memory_export", json!({"grains": ["other"]}));
}

#[test]
fn m55_m60_end_of_a_session_is_noted_and_flags_of_zaxy_are_taken() {
    let root = crate::harness::directory();
    let (data, workspace) = (root.path().join("data"), root.path().join("bridge"));
    RealDisk.create_dir_all(&workspace).unwrap();
    let log = workspace.join(".eventloom");
    let log = log.to_str().unwrap();
    // The arguments of an entry that `ide-config` wrote, and a profile.
    let flags =
        ["--eventloom-path", log, "--transport", "stdio", "--profile", "core", "--embedded"];
    let event = json!({"event_type": "decision.made", "actor": "assistant",
        "payload": {"decision": "Use slate grey"}});
    let mut agent = AgentClient::start(&data, &workspace, &flags);
    agent.ask("tools/call", &json!({"name": "memory_append", "arguments": event}));
    agent.end();
    let mut agent = AgentClient::start(&data, &workspace, &flags);
    let replay = json!({"session_id": "bridge-default"});
    let answer = agent.ask("tools/call", &json!({"name": "memory_replay", "arguments": replay}));
    let kinds = kinds(&answer["result"]["structuredContent"]);
    assert!(kinds.iter().any(|kind| kind == "session.ended"), "{kinds:?}");
    assert!(kinds.iter().any(|kind| kind == "decision.made"), "{kinds:?}");
    agent.end();
}
