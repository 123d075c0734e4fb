//! The protocol without a socket: which era a request belongs to, what is refused, what lists say and cost.

use axum::http::HeaderMap;
use expect_test::expect_file;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::era::{self, Era};
use super::lines::{Line, next_line};
use super::profile::Profile;
use super::rpc::{self, Message, Request};
use super::session::{Workspace, checked_session};
use super::{fixed, prompts, resources, schema, targets, tools};

/// Tokens of the tools of the slim profile.
const SLIM_TOKENS_MAX: usize = 600;
/// Tokens of the tools of the profile `zaxy`.
const ZAXY_TOKENS_MAX: usize = 2_700;
/// Tokens and bytes of the instructions.
const INSTRUCTIONS_TOKENS_MAX: usize = 120;
const INSTRUCTIONS_BYTES_MAX: usize = 2_000;

fn request(value: Value) -> Request {
    match rpc::message(value) {
        Ok(Message::Request(request)) => request,
        other => panic!("{other:?}"),
    }
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// More tokens than any tokenizer in use makes of text like this: a run of letters counts one for each eight, digits
/// one for each three, and every other character one by itself. Blanks belong to the word after them, and the
/// punctuation of JSON comes in pairs such as `":"` and `","`.
fn tokens(text: &str) -> usize {
    let mut tokens = 0;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run = |fits: fn(char) -> bool| rest.chars().take_while(|c| fits(*c)).count();
        let (length, cost) = if first.is_ascii_alphabetic() {
            let length = run(|c| c.is_ascii_alphabetic());
            (length, length.div_ceil(8))
        } else if first.is_ascii_digit() {
            let length = run(|c| c.is_ascii_digit());
            (length, length.div_ceil(3))
        } else if first == ' ' {
            (1, 0)
        } else if first.is_ascii_punctuation() {
            let length = run(|c| c.is_ascii_punctuation());
            (length, length.div_ceil(3))
        } else {
            (first.len_utf8(), 1)
        };
        tokens += cost;
        rest = rest.get(length..).unwrap_or_default();
    }
    tokens
}

#[test]
fn tool_list_of_slim_profile_fits_its_budget_of_tokens() {
    let counted: usize = tools::list(Profile::Slim)
        .iter()
        .map(|tool| {
            let shown = json!({
                "name": tool["name"],
                "description": tool["description"],
                "inputSchema": tool["inputSchema"],
            });
            tokens(&shown.to_string())
        })
        .sum();
    assert!(counted <= SLIM_TOKENS_MAX, "{counted}");
    let instructions = tokens(fixed::INSTRUCTIONS);
    assert!(instructions <= INSTRUCTIONS_TOKENS_MAX, "{instructions}");
    assert!(fixed::INSTRUCTIONS.len() <= INSTRUCTIONS_BYTES_MAX);
}

/// What clients are given, word for word. `clients/mcp/tokens.mjs` counts the tokens of these files.
#[test]
fn lists_and_instructions_of_slim_profile_are_as_written_down() {
    let pretty = |value: Value| serde_json::to_string_pretty(&value).unwrap() + "\n";
    expect_file!["goldens/tools-slim.json"].assert_eq(&pretty(tools::list(Profile::Slim).into()));
    expect_file!["goldens/instructions.txt"].assert_eq(fixed::INSTRUCTIONS);
    expect_file!["goldens/resources.json"]
        .assert_eq(&pretty(json!([resources::list(), resources::templates()])));
    expect_file!["goldens/prompts.json"].assert_eq(&pretty(prompts::list()));
}

#[test]
fn unlisted_tools_are_callable_and_each_name_is_listed_once() {
    for profile in Profile::ALL {
        let names: Vec<&str> = profile.listed_tools().iter().map(|tool| tool.name).collect();
        let mut once = names.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), names.len(), "{profile}: {names:?}");
        for other in Profile::ALL {
            for tool in other.listed_tools() {
                let called = tools::named(tool.name, profile).unwrap();
                // Of two tools of one name the active profile's is called.
                let own = profile.listed_tools().into_iter().find(|own| own.name == tool.name);
                assert!(own.is_none_or(|own| std::ptr::eq(own, called)), "{}", tool.name);
            }
        }
    }
}

#[test]
fn hermes_is_offered_tools_alone_in_the_slim_profile() {
    let offered = |name: &str, profile: Profile| {
        let params = json!({"protocolVersion": "2025-11-25", "clientInfo": {"name": name}});
        let request =
            request(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
        let result = fixed::answer(&request, Era::Legacy, profile).unwrap().unwrap();
        result["capabilities"].as_object().unwrap().len()
    };
    assert_eq!(offered("hermes-agent", Profile::Slim), 1);
    assert_eq!(offered("hermes-agent", Profile::Full), 4);
    assert_eq!(offered("claude-code", Profile::Slim), 4);
}

#[test]
fn tool_list_of_zaxy_profile_fits_its_budget_of_tokens() {
    let shown = |tool: &Value| {
        json!({
            "name": tool["name"],
            "description": tool["description"],
            "inputSchema": tool["inputSchema"],
        })
    };
    let counted: usize =
        tools::list(Profile::Zaxy).iter().map(|tool| tokens(&shown(tool).to_string())).sum();
    assert!(counted <= ZAXY_TOKENS_MAX, "{counted}");
}

#[test]
fn schemas_use_only_keywords_that_are_checked() {
    fn walk(schema: &Value, at: &str) {
        for (name, value) in schema.as_object().unwrap() {
            assert!(schema::KEYWORDS.contains(&name.as_str()), "{at}: {name}");
            match name.as_str() {
                "properties" => {
                    for (name, schema) in value.as_object().unwrap() {
                        walk(schema, &format!("{at}.{name}"));
                    }
                }
                "items" => walk(value, &format!("{at}[]")),
                _ => {}
            }
        }
    }
    for tool in Profile::ALL.into_iter().flat_map(tools::list) {
        let name = tool["name"].as_str().unwrap();
        walk(&tool["inputSchema"], name);
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{name}");
            assert_eq!(tool[schema]["additionalProperties"], false, "{name}");
        }
        assert_eq!(tool["annotations"].as_object().unwrap().len(), 4, "{name}");
        assert!(tool["title"].is_string(), "{name}");
    }
}

#[test]
fn era_of_post_follows_meta_and_headers() {
    let legacy = request(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert_eq!(era::of_post(&headers(&[]), &legacy), Ok(Era::Legacy));
    let sent = headers(&[("mcp-protocol-version", "2025-06-18")]);
    assert_eq!(era::of_post(&sent, &legacy), Ok(Era::Legacy));
    let modern = headers(&[("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")]);
    let refused = |headers: &HeaderMap, request: &Request| {
        let error = era::of_post(headers, request).unwrap_err();
        (error.code, error.status)
    };
    assert_eq!(refused(&modern, &legacy), (-32_602, 400));
    let good =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta()}});
    let good = request(good);
    assert_eq!(era::of_post(&modern, &good), Ok(Era::Modern));
    assert_eq!(refused(&headers(&[]), &good), (-32_020, 400));
    let other = headers(&[("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call")]);
    assert_eq!(refused(&other, &good), (-32_020, 400));
    let mut unknown = good.clone();
    unknown.params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("v9");
    let sent = headers(&[("mcp-protocol-version", "v9"), ("mcp-method", "tools/list")]);
    assert_eq!(refused(&sent, &unknown), (-32_022, 400));
    let gone = json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"_meta": meta()}});
    let sent = headers(&[("mcp-protocol-version", "2026-07-28"), ("mcp-method", "ping")]);
    assert_eq!(refused(&sent, &request(gone)), (-32_601, 404));
}

#[test]
fn named_header_is_read_plain_and_in_base64() {
    let call = |name: &str| {
        let params = json!({"name": name, "_meta": meta()});
        request(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
    };
    let sent = |name: &str| {
        headers(&[
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", name),
        ])
    };
    assert_eq!(era::of_post(&sent("memory_append"), &call("memory_append")), Ok(Era::Modern));
    let encoded = era::encoded("größe");
    assert_eq!(era::of_post(&sent(&encoded), &call("größe")), Ok(Era::Modern));
    assert!(era::of_post(&sent("=?base64?!?="), &call("größe")).is_err());
    let mut twice = sent("memory_append");
    twice.append("mcp-name", "memory_append".parse().unwrap());
    assert_eq!(era::of_post(&twice, &call("memory_append")).unwrap_err().code, -32_020);
}

#[test]
fn unknown_legacy_version_is_answered_with_the_newest_legacy_one() {
    for (asked, answered) in
        [("2024-11-05", "2024-11-05"), ("2026-07-28", "2025-11-25"), ("x", "2025-11-25")]
    {
        let params = json!({"protocolVersion": asked});
        let request =
            request(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}));
        let result = fixed::answer(&request, Era::Legacy, Profile::Slim).unwrap().unwrap();
        assert_eq!(result["protocolVersion"], answered);
        assert!(result.get("resultType").is_none());
    }
}

#[test]
fn line_over_the_limit_is_told_and_the_stream_goes_on() {
    let mut bytes = vec![b'x'; rpc::MESSAGE_BYTES_MAX + 1];
    bytes.extend_from_slice(b"\n\n{}\nlast");
    let mut input = &bytes[..];
    assert_eq!(next_line(&mut input).unwrap(), Some(Line::TooLong));
    assert_eq!(next_line(&mut input).unwrap(), Some(Line::Message(b"{}".to_vec())));
    assert_eq!(next_line(&mut input).unwrap(), Some(Line::Message(b"last".to_vec())));
    assert_eq!(next_line(&mut input).unwrap(), None);
    let whole = [vec![b'x'; rpc::MESSAGE_BYTES_MAX], b"\n".to_vec()].concat();
    assert!(matches!(next_line(&mut &whole[..]).unwrap(), Some(Line::Message(_))));
}

#[test]
fn session_ids_and_projects_make_scopes_that_stay_apart() {
    for (id, fits) in [("a", true), ("a.b_c-9", true), ("", false), ("a/b", false), ("ä", false)] {
        assert_eq!(checked_session(id).is_ok(), fits, "{id}");
    }
    assert!(checked_session(&"x".repeat(128)).is_ok());
    assert!(checked_session(&"x".repeat(129)).is_err());
    let caller = lamina_core::policy::Caller::local("user:ann".parse().unwrap(), 0);
    let place = |project: Option<&str>, session: Option<&str>| {
        let workspace = Workspace { project: project.map(str::to_owned), ..Workspace::default() };
        workspace.place(&caller, session).unwrap().scope.to_string()
    };
    assert_eq!(place(Some("zaxy"), None), "project:zaxy/session:zaxy-default");
    assert_eq!(place(Some("zaxy"), Some("a.b")), "project:zaxy/session:a_2Eb");
    assert_eq!(place(None, None), "user:ann/session:ann-default");
}

#[test]
fn arguments_are_held_against_the_schema() {
    let tool = tools::named("memory_feedback", Profile::Slim).unwrap();
    let check = |arguments: Value| {
        let Value::Object(arguments) = arguments else { panic!() };
        tools::check(tool, &arguments).map_err(|failure| failure.text)
    };
    assert_eq!(check(json!({"citation": "x", "feedback": "used"})), Ok(()));
    assert!(check(json!({"citation": "x"})).unwrap_err().contains("`feedback` is required"));
    assert!(check(json!({"citation": "x", "feedback": "bad"})).unwrap_err().contains("one of"));
    assert!(check(json!({"citation": 1, "feedback": "used"})).unwrap_err().contains("string"));
    let unknown = check(json!({"citation": "x", "feedback": "used", "more": 1})).unwrap_err();
    assert!(unknown.contains("`more` is not known"), "{unknown}");
}

fn message_like() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z_/]{0,12}".prop_map(Value::from),
        prop::sample::select(vec![
            "2.0",
            "initialize",
            "tools/list",
            "tools/call",
            "server/discover",
            "memory_append",
            "2026-07-28",
        ])
        .prop_map(Value::from),
    ];
    let name = prop::sample::select(vec![
        "jsonrpc",
        "id",
        "method",
        "params",
        "name",
        "arguments",
        "_meta",
        "result",
        "error",
        "text",
        "cursor",
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientCapabilities",
        "protocolVersion",
    ]);
    leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..6).prop_map(|pairs| {
                Value::Object(
                    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
                )
            }),
        ]
    })
}

proptest! {
    /// Whatever a line holds, it is answered with one message of JSON-RPC or with none.
    #[test]
    fn any_line_is_answered_with_one_message_or_none(line in prop::collection::vec(any::<u8>(), 0..300)) {
        check_answer(&line);
    }

    #[test]
    fn any_json_is_answered_with_one_message_or_none(mut value in message_like(), whole in any::<bool>()) {
        if let (true, Some(object)) = (whole, value.as_object_mut()) {
            object.insert("jsonrpc".to_owned(), json!("2.0"));
            object.entry("id").or_insert(json!(7));
        }
        check_answer(value.to_string().as_bytes());
    }

    #[test]
    fn any_stream_is_answered_line_by_line(bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'{'), any::<u8>()], 0..400)) {
        targets::stream(&bytes);
    }

    #[test]
    fn lines_are_the_stream_split_at_line_ends(bytes in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..200)) {
        let mut read = Vec::new();
        let mut input = &bytes[..];
        while let Some(Line::Message(line)) = next_line(&mut input).unwrap() {
            read.push(line);
        }
        let expected: Vec<Vec<u8>> = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.trim_ascii().is_empty())
            .map(<[u8]>::to_vec)
            .collect();
        prop_assert_eq!(read, expected);
    }
}

fn check_answer(line: &[u8]) {
    let Some(answer) = targets::answer_line(line) else { return };
    assert!(!answer.contains('\n'));
    let answers: Value = serde_json::from_str(&answer).unwrap();
    let answers = answers.as_array().cloned().unwrap_or_else(|| vec![answers]);
    assert!(!answers.is_empty());
    for answer in answers {
        assert_eq!(answer["jsonrpc"], "2.0");
        assert_ne!(answer.get("result").is_some(), answer.get("error").is_some());
        assert!(answer["id"].is_null() || answer["id"].is_number() || answer["id"].is_string());
    }
}

#[test]
fn batches_are_read_message_by_message() {
    let line = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {"protocolVersion": "2025-03-26"}},
        [],
    ]);
    let answers: Value =
        serde_json::from_str(&targets::answer_line(line.to_string().as_bytes()).unwrap()).unwrap();
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), 3, "{answers:?}");
    assert_eq!(answers[0]["result"], json!({}));
    assert_eq!((&answers[1]["id"], &answers[1]["error"]["code"]), (&json!(2), &json!(-32_600)));
    assert_eq!((&answers[2]["id"], &answers[2]["error"]["code"]), (&Value::Null, &json!(-32_600)));
    let notifications = br#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#;
    assert_eq!(targets::answer_line(notifications), None);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for (count, is_read) in [(0, false), (1, true), (64, true), (65, false)] {
        let line = format!("[{}]", vec![ping; count].join(","));
        let answer = targets::answer_line(line.as_bytes()).unwrap();
        assert_eq!(answer.starts_with('['), is_read, "{count}: {answer}");
    }
}

#[test]
fn deep_nesting_and_huge_ids_are_refused() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(targets::answer_line(deep.as_bytes()).unwrap().contains("-32700"));
    let huge = json!({"jsonrpc": "2.0", "id": "x".repeat(2_000), "method": "ping"}).to_string();
    assert!(targets::answer_line(huge.as_bytes()).unwrap().contains("-32600"));
}
