//! Batches, resources, prompts, completion, and the question to the user.

use serde_json::{Value, json};

use super::{Http, project};
use crate::harness::Own;

/// A caller of version 2026-07-28, whose user can be asked or not.
struct Modern<'a> {
    own: &'a Own,
    project: String,
    capabilities: Value,
}

impl Modern<'_> {
    fn ask(&self, method: &str, name: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
        });
        let mut http = Http::new(self.own.server.client(), &self.project)
            .header("MCP-Protocol-Version", "2026-07-28")
            .header("Mcp-Method", method);
        if !name.is_empty() {
            http = http.header("Mcp-Name", name);
        }
        http.ask(method, params)
    }

    fn forget(&self, arguments: &Value, more: &Value) -> Value {
        let mut params = json!({"name": "memory_forget", "arguments": arguments});
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        self.ask("tools/call", "memory_forget", params)
    }
}

#[test]
fn m1_batches_of_2025_03_26_are_answered_and_those_of_other_versions_refused() {
    let own = Own::start_with(&[("LAMINA_LIMITS_RATE_WRITE", "3/h")]);
    let mut http = Http::new(own.server.client(), &project());
    let append = |id: u64| {
        let params = json!({"name": "memory_append", "arguments": {"text": format!("Of {id}.")}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    };
    let told = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let begin = json!({"jsonrpc": "2.0", "id": "i", "method": "initialize",
        "params": {"protocolVersion": "2025-03-26"}});
    let batch = json!([append(1), told, append(2), begin, append(3), append(4)]);
    let response = http.send(&batch);
    assert_eq!(response.status, 200);
    let answers = response.json().unwrap();
    let ids: Vec<&Value> = answers.as_array().unwrap().iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(1), &json!(2), &json!("i"), &json!(3), &json!(4)], "{answers}");
    assert_eq!(answers[2]["error"]["code"], -32_600);
    assert_eq!(answers[3]["result"]["isError"], false, "{answers}");
    // Each message of a batch is charged for itself.
    assert_eq!(answers[4]["error"]["data"]["error_code"], "RATE_LIMITED", "{answers}");
    // Each has a row of its own in the audit log.
    let rows = own.api("mcp").get("/v1/audit?limit=50").ok(200);
    let rows = rows["items"].as_array().unwrap();
    let of_tool = rows.iter().filter(|row| row["endpoint"] == "POST /mcp memory_append");
    assert!(of_tool.count() >= 3, "{rows:?}");
    let alone = http.send(&json!([told]));
    assert_eq!((alone.status, alone.text().as_str()), (202, ""));
    for (batch, header) in [(json!([]), None), (json!([told]), Some("2025-06-18"))] {
        let mut http = Http::new(own.server.client(), "p");
        if let Some(version) = header {
            http = http.header("MCP-Protocol-Version", version);
        }
        let refused = http.send(&batch);
        assert_eq!(refused.status, 400, "{batch}");
        assert_eq!(refused.json().unwrap()["error"]["code"], -32_600, "{batch}");
    }
}

#[test]
fn m38_resources_are_listed_and_read_and_what_is_not_there_is_refused() {
    let own = Own::start();
    let project = project();
    let mut http = Http::new(own.server.client(), &project);
    let written = http.call("memory_append", json!({"text": "Maria works at Northwind."}));
    let event = written["structuredContent"]["event_id"].as_str().unwrap().to_owned();
    let citation = written["structuredContent"]["citation"].as_str().unwrap().to_owned();
    let listed = http.ask("resources/list", json!({}))["result"].clone();
    assert_eq!(listed["resources"][0]["uri"], "lamina://brief");
    assert_eq!(listed["resources"][0]["mimeType"], "text/markdown");
    let templates = http.ask("resources/templates/list", json!({}))["result"].clone();
    let templates = templates["resourceTemplates"].as_array().unwrap().clone();
    assert_eq!(templates.len(), 3);
    let mut read = |uri: &str| {
        let answer = http.ask("resources/read", json!({"uri": uri}));
        let contents = &answer["result"]["contents"][0];
        assert_eq!(contents["uri"], uri, "{answer}");
        contents["text"].as_str().unwrap().to_owned()
    };
    assert!(read("lamina://brief").contains("# Memory Checkout"));
    assert!(read(&format!("lamina://event/{event}")).contains("Maria works at Northwind."));
    let log = read(&format!("lamina://session/{project}-default/log"));
    assert!(log.contains("Maria works at Northwind.") && log.contains(&citation), "{log}");
    let fact = own.api("mcp").get(&format!("/v1/facts?scope=project:{project}&view=descend"));
    let fact = fact.ok(200)["items"][0]["id"].as_str().unwrap().to_owned();
    assert!(read(&format!("lamina://fact/{fact}")).contains("Northwind"));
    let missing = "lamina://event/evt_00000000000000000000000000000000";
    for uri in [missing, "lamina://nothing", "file:///etc/passwd", "lamina://session/a/b/log"] {
        let legacy = http.ask("resources/read", json!({"uri": uri}));
        assert_eq!(legacy["error"]["code"], -32_002, "{uri}: {legacy}");
        let modern = Modern { own: &own, project: project.clone(), capabilities: json!({}) };
        let modern = modern.ask("resources/read", uri, json!({"uri": uri}));
        assert_eq!(modern["error"]["code"], -32_602, "{uri}: {modern}");
        assert_eq!(modern["error"]["data"]["uri"], uri);
    }
    let modern = Modern { own: &own, project, capabilities: json!({}) };
    let read = modern.ask("resources/read", "lamina://brief", json!({"uri": "lamina://brief"}));
    assert_eq!(read["result"]["cacheScope"], "private", "{read}");
    assert_eq!(read["result"]["resultType"], "complete", "{read}");
}

#[test]
fn m39_prompts_are_filled_and_their_arguments_completed() {
    let own = Own::start();
    let project = project();
    let mut http = Http::new(own.server.client(), &project);
    let written = http.call(
        "memory_append",
        json!({"text": "Maria works at Northwind.", "session_id": "planning"}),
    );
    http.call("memory_append", json!({"text": "The build is green.", "session_id": "plain"}));
    let citation = written["structuredContent"]["citation"].clone();
    let listed = http.ask("prompts/list", json!({}))["result"]["prompts"].clone();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["recall", "handoff", "why", "what-changed"]);
    assert!(listed.as_array().unwrap().iter().all(|one| one["description"].is_string()));
    let mut get = |name: &str, arguments: Value| {
        let answer = http.ask("prompts/get", json!({"name": name, "arguments": arguments}));
        let message = &answer["result"]["messages"][0];
        assert_eq!(message["role"], "user", "{answer}");
        message["content"]["text"].as_str().unwrap().to_owned()
    };
    let recall = get("recall", json!({"query": "Where does Maria work?"}));
    assert!(recall.contains("Northwind"), "{recall}");
    assert!(get("handoff", json!({})).contains("# Memory Checkout"));
    assert!(get("why", json!({"id": citation})).contains("Maria works at Northwind."));
    let changed = get("what-changed", json!({"session_id": "planning"}));
    assert!(changed.contains("Northwind") && !changed.contains("green"), "{changed}");
    let scope = json!({"scope": format!("project:{project}")});
    assert!(get("what-changed", scope).contains("The build is green."));
    for (name, arguments) in [
        ("recall", json!({})),
        ("recall", json!({"query": "x", "more": "y"})),
        ("recall", json!({"query": 1})),
        ("nothing", json!({})),
        ("what-changed", json!({"since": "yesterday"})),
    ] {
        let refused = http.ask("prompts/get", json!({"name": name, "arguments": arguments}));
        assert_eq!(refused["error"]["code"], -32_602, "{name}: {refused}");
    }
    let mut complete = |reference: Value, argument: &str, value: &str| {
        let params = json!({"ref": reference, "argument": {"name": argument, "value": value}});
        let answer = http.ask("completion/complete", params);
        answer["result"]["completion"]["values"].clone()
    };
    let prompt = json!({"type": "ref/prompt", "name": "what-changed"});
    assert_eq!(complete(prompt.clone(), "session_id", "pla"), json!(["plain", "planning"]));
    assert_eq!(complete(prompt.clone(), "session_id", "plan"), json!(["planning"]));
    let scopes = complete(prompt, "scope", &format!("project:{project}/"));
    assert_eq!(scopes.as_array().unwrap().len(), 2, "{scopes}");
    let template = json!({"type": "ref/resource", "uri": "lamina://session/{id}/log"});
    assert_eq!(complete(template, "id", "plan"), json!(["planning"]));
}

#[test]
fn m41_user_is_asked_before_anything_is_forgotten_where_the_client_can_ask() {
    let own = Own::start();
    let project = project();
    let mut http = Http::new(own.server.client(), &project);
    let mut append = |text: &str| {
        let written = http.call("memory_append", json!({"text": text}));
        written["structuredContent"]["event_id"].as_str().unwrap().to_owned()
    };
    let (secret, other) = (append("The launch code is 4711."), append("The dog is called Rex."));
    let asking = |capabilities: Value| Modern { own: &own, project: project.clone(), capabilities };
    // Only a client that declares forms is asked; the others get the id of the preview.
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}}), json!({"sampling": {}})] {
        let answer = asking(capabilities).forget(&json!({"ids": [secret]}), &json!({}));
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
        assert!(answer["result"]["structuredContent"]["preview_id"].is_string(), "{answer}");
    }
    let modern = asking(json!({"elicitation": {"form": {}}}));
    let arguments = json!({"ids": [secret]});
    let question = modern.forget(&arguments, &json!({}))["result"].clone();
    assert_eq!(question["resultType"], "input_required", "{question}");
    let form = &question["inputRequests"]["confirm"];
    assert_eq!(form["method"], "elicitation/create");
    assert!(form["params"]["message"].as_str().unwrap().contains("1 events"), "{form}");
    let state = question["requestState"].as_str().unwrap().to_owned();
    let accepted = json!({"confirm": {"action": "accept", "content": {"forget": true}}});
    // A state that was changed, or that belongs to other arguments, is refused.
    let tampered = json!({"requestState": format!("{state}-TAMPERED"), "inputResponses": accepted});
    assert_eq!(modern.forget(&arguments, &tampered)["error"]["code"], -32_602);
    let with = |responses: &Value| json!({"requestState": state, "inputResponses": responses});
    let elsewhere = modern.forget(&json!({"ids": [other]}), &with(&accepted));
    assert_eq!(elsewhere["error"]["code"], -32_602, "{elsewhere}");
    // Neither silence nor nonsense is consent.
    for responses in [json!({}), json!({"confirm": 12}), json!({"confirm": {"action": "accept"}})] {
        let again = modern.forget(&arguments, &with(&responses));
        assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    }
    let declined = json!({"confirm": {"action": "decline"}});
    let declined = modern.forget(&arguments, &with(&declined));
    assert_eq!(declined["result"]["structuredContent"]["forgotten"], false, "{declined}");
    assert_eq!(declined["result"]["resultType"], "complete", "{declined}");
    let done = modern.forget(&arguments, &with(&accepted));
    assert_eq!(done["result"]["structuredContent"]["forgotten"], true, "{done}");
    let gone = http.call("memory_why", json!({"id": secret}));
    assert!(!gone.to_string().contains("4711"), "{gone}");
    let stays = http.call("memory_why", json!({"id": other}));
    assert_eq!(stays["structuredContent"]["events"][0]["words"], "The dog is called Rex.");
}

#[test]
fn m42_fact_is_found_in_every_session_of_its_project_and_in_no_other() {
    let own = Own::start();
    let project = project();
    let mut http = Http::new(own.server.client(), &project);
    let text = json!({"text": "Maria works at Northwind.", "session_id": "one"});
    http.call("memory_append", text);
    let facts = format!("/v1/facts?scope=project:{project}&view=descend");
    let fact = own.api("mcp").get(&facts).ok(200)["items"][0]["id"].clone();
    // It is over, and still found.
    let text = json!({"text": "Maria works at Contoso now.", "session_id": "one"});
    http.call("memory_append", text);
    let why = http.call("memory_why", json!({"id": fact, "session_id": "two"}));
    assert_eq!(why["isError"], true, "`session_id` is no argument of it: {why}");
    let why = http.call("memory_why", json!({"id": fact}));
    assert_eq!(why["structuredContent"]["kind"], "fact", "{why}");
    assert!(why["content"][0]["text"].as_str().unwrap().contains("Northwind"), "{why}");
    let mut elsewhere = Http::new(own.server.client(), &format!("{project}-other"));
    let unknown = elsewhere.call("memory_why", json!({"id": fact}));
    assert_eq!(unknown["isError"], true, "{unknown}");
    assert!(unknown["content"][0]["text"].as_str().unwrap().starts_with("NOT_FOUND"), "{unknown}");
}

#[test]
fn m19_turn_of_codex_names_the_conversation_and_people_are_kept_apart_from_agents() {
    let own = Own::start();
    let mut http = Http::new(own.server.client(), &project());
    let mut api = own.api("mcp");
    let turn = json!({"session_id": "s-1", "turn_id": "t-1"});
    for (turn, actor, said_by) in [
        (turn.clone(), None, "agent:codex-mcp-client"),
        (json!(turn.to_string()), None, "agent:codex-mcp-client"),
        (turn.clone(), Some("assistant"), "agent:codex-mcp-client"),
        (turn, Some("reviewer"), "agent:reviewer"),
    ] {
        let mut arguments = json!({"text": "The build is green."});
        if let Some(actor) = actor {
            arguments["actor"] = json!(actor);
        }
        let answer = http.ask(
            "tools/call",
            json!({
                "name": "memory_append",
                "arguments": arguments,
                "_meta": {
                    "x-codex-turn-metadata": turn,
                    "lamina/workspace": {"client": "codex-mcp-client"},
                },
            }),
        );
        let id = answer["result"]["structuredContent"]["event_id"].as_str().unwrap().to_owned();
        let event = api.event(&id);
        assert_eq!(event["observed_actor"]["id"], said_by, "{event}");
        assert_eq!(event["observed_actor"]["session"], "s-1", "{event}");
    }
    // What the user said is the user's.
    let written = http.call("memory_append", json!({"text": "I prefer tea.", "actor": "user"}));
    let event = api.event(written["structuredContent"]["event_id"].as_str().unwrap());
    assert!(event["observed_actor"]["id"].as_str().unwrap().starts_with("user:"), "{event}");
}
