//! `lamina models estimate`: what a language model would cost, counted where the words are.

use serde_json::{Value, json};

use crate::cli::{code, err, lamina, out, text};
use crate::harness::{Own, data};

const SCOPE: &str = "org:it/ws:estimate";

#[test]
fn what_a_model_would_cost_is_counted_without_one() {
    let own = Own::start();
    let mut api = own.api("estimate");
    api.scope = SCOPE.to_owned();
    for words in ["Acme moved to 200 seats", "Maria works at Acme", "We renew in March"] {
        api.write(words);
    }
    // What a tool says is not shown to a model.
    let mut tool = api.envelope("");
    tool["modality"] = json!("tool_result");
    tool["content"] = json!({"kind": "json", "data": {"seats": 200}});
    api.write_envelope(&tool);
    drop(api);
    let Own { server, directory } = own;
    server.stop().unwrap();
    let place = data(directory.path());
    let estimate = |more: &[&str]| {
        lamina(&[&["models", "estimate", "--data", text(&place), "--scope", SCOPE], more].concat())
    };
    let free = estimate(&[]);
    code(&free, 0);
    assert!(out(&free).contains("shown 3 events"), "{}", out(&free));
    assert!(out(&free).contains("no prices are set"), "{}", out(&free));
    let priced = ["--price-input", "0.15", "--price-output", "0.60"];
    let told = estimate(&priced);
    code(&told, 0);
    assert!(out(&told).contains("calls   1, with up to 16"), "{}", out(&told));
    assert!(out(&told).contains("0.15 in, 0.60 out"), "{}", out(&told));
    let report = |more: &[&str]| -> Value {
        let told = estimate(&[&priced[..], &["--json"], more].concat());
        code(&told, 0);
        serde_json::from_str(&out(&told)).unwrap()
    };
    let one_call = report(&[]);
    let three_calls = report(&["--batch-events", "1"]);
    assert_eq!((&one_call["calls"], &three_calls["calls"]), (&json!(1), &json!(3)));
    let number = |report: &Value, what: &str, field: &str| report[what][field].as_u64().unwrap();
    for field in ["input_tokens", "output_tokens", "money_micros"] {
        let (about, most) =
            (number(&one_call, "about", field), number(&one_call, "at_most", field));
        assert!(0 < about && about <= most, "{field}: {one_call}");
        assert!(about <= number(&three_calls, "about", field), "{field}: {three_calls}");
        assert_eq!(most, number(&three_calls, "at_most", field), "alone is alone: {field}");
    }
    // The instructions are sent with each call.
    let input = |report: &Value| number(report, "about", "input_tokens");
    assert!(input(&three_calls) > 2 * input(&one_call), "{one_call} {three_calls}");
}

#[test]
fn an_estimate_of_nothing_is_refused_by_name() {
    let own = Own::start();
    own.api("estimate").write("something");
    let Own { server, directory } = own;
    let place = data(directory.path());
    let estimate =
        |more: &[&str]| lamina(&[&["models", "estimate", "--data", text(&place)], more].concat());
    let used = estimate(&["--scope", SCOPE]);
    code(&used, 4);
    assert!(err(&used).contains("in use"), "{}", err(&used));
    server.stop().unwrap();
    for (more, exit, named) in [
        (&["--scope", SCOPE][..], 4, "nothing was ever written to org:it/ws:estimate"),
        (&["--scope", SCOPE, "--tenant", "nobody"][..], 4, "there is no tenant `nobody`"),
        (&["--scope", "not a scope"][..], 64, "`not a scope` is not a scope"),
        (&["--scope", SCOPE, "--price-input", "cheap"][..], 64, "expected an amount"),
        (&["--scope", SCOPE, "--batch-events", "0"][..], 64, "1..=64"),
        (&[][..], 64, "--scope"),
    ] {
        let told = estimate(more);
        code(&told, exit);
        assert!(err(&told).contains(named), "{more:?}: {}", err(&told));
    }
    let help = lamina(&["models", "estimate", "--help"]);
    code(&help, 0);
    assert!(out(&help).contains("For example:"), "{}", out(&help));
}
