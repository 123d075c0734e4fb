//! An embedding model behind a real socket, good and bad, under the real binary: recall is never empty for
//! want of it, never compares vectors of two models, and what is erased is in no space any more.

mod server;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use lamina_engine::embed::Vector;
use lamina_env::disk::read_file;
use lamina_env::{Disk as _, RealDisk};
use serde_json::{Value, json};

use self::server::{BAD, Embeddings, Manner, vector};
use crate::harness::{Api, Own, data, launch, string};

/// A test waits for a condition this often, at most.
const LOOKS: usize = 6_000;
const LOOK_EVERY: Duration = Duration::from_millis(20);
const KEY: &str = "sk-nobody-may-see-this";

fn settings<'a>(url: &'a str, model: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("LAMINA_MODELS_EMBED_PROVIDER", "openai"),
        ("LAMINA_MODELS_EMBED_MODEL", model),
        ("LAMINA_MODELS_EMBED_BASE_URL", url),
        ("LAMINA_MODELS_EMBED_KEY_VARIABLE", "EMBED_KEY"),
        ("EMBED_KEY", KEY),
        ("LAMINA_MODELS_EMBED_PAUSE_MS", "1"),
        ("LAMINA_MODELS_EMBED_TIMEOUT_MS", "5000"),
        ("LAMINA_MODELS_EMBED_QUESTION_TIMEOUT_MS", "5000"),
        ("LAMINA_MODELS_EMBED_BATCH_TEXTS", "8"),
    ]
}

fn until(what: &str, mut is_it: impl FnMut() -> bool) {
    for _ in 0..LOOKS {
        if is_it() {
            return;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    panic!("it does not come to that: {what}");
}

fn status(api: &mut Api) -> Value {
    api.get(&format!("/v1/derivation/status?scope={}", api.scope)).ok(200)["embedding"].clone()
}

/// Waits until everything has vectors of this model.
fn served(api: &mut Api, model: &str) {
    until("everything is embedded", || {
        let status = status(api);
        status["state"] == "serving" && status["progress"] == 1.0 && status["serving"] == model
    });
}

fn say(api: &mut Api, text: &str) -> String {
    let envelope = api.envelope(text);
    string(&api.post("/v1/experience?wait=indexed", &envelope).ok(200), "event_id")
}

fn recall(api: &mut Api, query: &str) -> Value {
    let body = json!({"scope": api.scope, "query": query, "diagnostics": "full"});
    api.post("/v1/recall", &body).ok(200)
}

/// The events of a pack, and the model that was asked beside the built-in vectors.
fn found(pack: &Value) -> (usize, Option<String>) {
    let events = pack["layers"]["events"].as_array().map_or(0, Vec::len);
    let model = pack["diagnostics"]["models"]["embedding"].as_str().map(str::to_owned);
    (events, model)
}

fn again(directory: tempfile::TempDir, settings: &[(&str, &str)]) -> Own {
    let server = launch(directory.path(), settings).start().unwrap();
    Own { server, directory }
}

#[test]
fn both_protocols_make_vectors_that_questions_are_asked_in() {
    for provider in ["openai", "ollama"] {
        let model = Embeddings::start();
        let url = model.url();
        let mut settings = settings(&url, "small");
        settings.push(("LAMINA_MODELS_EMBED_PROVIDER", provider));
        settings.push(("LAMINA_MODELS_EMBED_QUESTION_PREFIX", "ask: "));
        let own = Own::start_with(&settings);
        let mut api = own.api("embeddings");
        say(&mut api, "The violin is in the hall.");
        let name = format!("{provider}:small");
        served(&mut api, &name);
        let pack = recall(&mut api, "Where is the violin?");
        assert_eq!(found(&pack), (1, Some(name)), "{pack}");
        assert!(pack.get("_partial").is_none(), "{pack}");
        let asked = model.asked();
        let path = if provider == "openai" { "/embeddings" } else { "/api/embed" };
        assert!(asked.iter().all(|call| call.path == path), "{asked:?}");
        let key = format!("authorization: Bearer {KEY}");
        assert!(asked.iter().all(|call| call.head.to_lowercase().contains(&key.to_lowercase())));
        let texts: Vec<&String> = asked.iter().flat_map(|call| &call.texts).collect();
        assert!(texts.iter().any(|text| text.contains("The violin is in the hall.")));
        assert!(texts.iter().any(|text| text.as_str() == "ask: Where is the violin?"), "{texts:?}");
        // Asked twice, embedded once.
        recall(&mut api, "Where is the violin?");
        assert_eq!(model.asked().len(), asked.len());
    }
}

#[test]
fn a_model_is_changed_under_load() {
    const EVENTS: usize = 160;
    let model = Embeddings::start();
    let url = model.url();
    let own = Own::start_with(&settings(&url, "alpha"));
    let mut api = own.api("changed");
    for number in 0..EVENTS {
        let envelope = api.envelope(&format!("The violin number {number} is in the hall."));
        api.post("/v1/experience", &envelope).ok(202);
    }
    served(&mut api, "openai:alpha");
    let (scope, directory) = (api.scope.clone(), own.stop());

    model.behave(Manner::Slowly(150));
    let mut directory = Some(directory);
    let (mut seen, mut written): (BTreeMap<Option<String>, usize>, usize) = (BTreeMap::new(), 0);
    let mut half = None;
    for round in 0..2 {
        let own = again(directory.take().unwrap(), &settings(&url, "beta"));
        let mut api = own.api("changed");
        api.scope.clone_from(&scope);
        until("it goes on", || {
            say(&mut api, &format!("The cello number {written} is in the attic."));
            written += 1;
            let pack = recall(&mut api, "Where is the violin number 7?");
            let (events, by) = found(&pack);
            assert!(events > 0, "a recall is empty: {pack}");
            assert!(pack.get("_partial").is_none(), "{pack}");
            assert!(
                !seen.contains_key(&Some("openai:beta".to_owned()))
                    || by.as_deref() == Some("openai:beta")
            );
            *seen.entry(by).or_default() += 1;
            let status = status(&mut api);
            match round {
                // Stopped in the middle.
                0 => status["progress"].as_f64().unwrap() > 0.4,
                _ => status["serving"] == "openai:beta",
            }
        });
        if round == 0 {
            half = Some(model.asked().len());
        } else {
            served(&mut api, "openai:beta");
            // It may have taken over after the last recall above.
            let (_, by) = found(&recall(&mut api, "Where is the cello number 3?"));
            assert_eq!(by.as_deref(), Some("openai:beta"));
            *seen.entry(by).or_default() += 1;
        }
        directory = Some(own.stop());
    }
    let names: Vec<&str> = seen.keys().flatten().map(String::as_str).collect();
    assert_eq!(
        names,
        ["openai:alpha", "openai:beta"],
        "the old ones serve until the new ones do: {seen:?}"
    );
    // The second start goes on where the first was stopped.
    let asked = model.asked();
    let stored = |calls: &[server::Call]| {
        let texts = calls.iter().filter(|call| call.model == "beta").flat_map(|call| &call.texts);
        texts.filter(|text| text.contains("violin number") && text.contains("hall")).count()
    };
    let (first, second) = asked.split_at(half.unwrap());
    assert!(stored(first) > EVENTS / 4, "{}", stored(first));
    assert!(
        stored(first) + stored(second) <= EVENTS + 140,
        "{} and {}",
        stored(first),
        stored(second)
    );
    assert!(stored(second) < EVENTS, "it began anew: {}", stored(second));
}

#[test]
fn whatever_the_endpoint_does_recall_goes_on() {
    let model = Embeddings::start();
    let url = model.url();
    let mut settings = settings(&url, "small");
    settings.push(("LAMINA_MODELS_EMBED_TIMEOUT_MS", "300"));
    settings.push(("LAMINA_MODELS_EMBED_QUESTION_TIMEOUT_MS", "300"));
    let own = Own::start_with(&settings);
    let mut api = own.api("endpoint");
    say(&mut api, "The violin is in the hall.");
    served(&mut api, "openai:small");
    for (number, manner) in BAD.iter().enumerate() {
        model.behave(*manner);
        let instrument = ["harp", "drum", "flute", "oboe", "lute"][number % 5];
        say(&mut api, &format!("The {instrument} number {number} is in room {number}."));
        let pack = recall(&mut api, &format!("Where is the {instrument} number {number}?"));
        let (events, by) = found(&pack);
        assert!(events > 0 && by.is_none(), "{manner:?}: {pack}");
        assert_eq!(pack["_partial"], true, "{manner:?}: {pack}");
        let reason = string(&pack, "_partial_reason");
        assert!(reason.contains("embedder"), "{manner:?}: {reason}");
        until("it is seen", || status(&mut api)["state"] == "failing");
    }
    until("health says so", || {
        let health = api.get("/v1/admin/health").ok(200).to_string();
        health.contains("embedding model")
    });
    model.behave(Manner::Well);
    served(&mut api, "openai:small");
    until("it is asked again", || {
        let pack = recall(&mut api, "Where is the harp number 5?");
        pack.get("_partial").is_none() && found(&pack).1.is_some()
    });
    assert_eq!(status(&mut api)["left_out"], 0, "nothing was given up");
    own.stop();
}

/// Whether any file below holds these bytes.
fn is_below(folder: &Path, needle: &[u8]) -> bool {
    // A folder or a file may go while it is looked at.
    RealDisk.list(folder).unwrap_or_default().iter().any(|name| {
        let path = folder.join(name);
        match RealDisk.list(&path).is_ok() {
            true => is_below(&path, needle),
            false => read_file(&RealDisk, &path, 1 << 30)
                .is_ok_and(|bytes| bytes.windows(needle.len()).any(|window| window == needle)),
        }
    })
}

#[test]
fn an_erasure_takes_the_vectors_of_every_model_and_a_policy_keeps_words_here() {
    let model = Embeddings::start();
    let url = model.url();
    let own = Own::start_with(&settings(&url, "alpha"));
    let mut api = own.api("erased");
    say(&mut api, "The violin is in the hall.");
    let event = say(&mut api, "The zyxophone of Quaxley is in the vault.");
    served(&mut api, "openai:alpha");
    let denied = json!({"deny": ["llm.invoke"]});
    let request = lamina_sim::client::Request::new("PUT", "/v1/policy/tenant/default");
    api.send(&request.json(&denied)).ok(200);
    say(&mut api, "The harp is in the secret chamber.");
    served(&mut api, "openai:alpha");
    let pack = recall(&mut api, "Where is the harp?");
    assert_eq!(found(&pack).1, None, "{pack}");
    assert!(found(&pack).0 > 0 && pack.get("_partial").is_none(), "{pack}");
    let told = |word: &str| {
        model.asked().iter().flat_map(|call| &call.texts).filter(|text| text.contains(word)).count()
    };
    assert_eq!((told("chamber"), told("Where is the harp")), (0, 0), "its words stay here");
    let request = lamina_sim::client::Request::new("PUT", "/v1/policy/tenant/default");
    api.send(&request.json(&json!({}))).ok(200);

    let asked = model.asked();
    let text = asked.iter().flat_map(|call| &call.texts).find(|text| text.contains("zyxophone"));
    let text = text.unwrap().clone();
    let scope = api.scope.clone();
    let bytes_of = |model: &str| -> Vec<u8> {
        let bytes = Vector::of(&vector(model, &text)).unwrap();
        bytes.bytes().iter().map(|value| value.cast_unsigned()).collect()
    };
    let [alpha, beta] = ["alpha", "beta"].map(bytes_of);
    drop(api);
    let directory = own.stop();
    let search = data(directory.path()).join("search");
    // Before the next start, which may drop the files of the earlier model at once.
    assert!(is_below(&search, &alpha), "it is not looked for in the right way");
    let own = again(directory, &settings(&url, "beta"));
    let mut api = own.api("erased");
    api.scope.clone_from(&scope);
    served(&mut api, "openai:beta");
    until("the new ones are durable and the old ones gone", || {
        is_below(&search, &beta) && !is_below(&search, &alpha)
    });
    let body = json!({"scope": scope, "selector": {"memory_ids": [event]}, "confirm_all": false});
    let id = string(&api.post("/v1/erasures", &body).ok(202), "erasure_id");
    until("it is erased", || {
        api.get(&format!("/v1/erasures/{id}")).ok(200)["status"] == "completed"
    });
    until("no file has its vector", || !is_below(&search, &beta));
    let pack = recall(&mut api, "Where is the zyxophone of Quaxley?");
    assert!(!pack.to_string().contains("vault"), "{pack}");
    own.stop();
}

#[test]
fn a_setup_that_cannot_work_is_refused() {
    let place = crate::harness::directory();
    let path = data(place.path()).to_string_lossy().into_owned();
    let with = |pairs: &[(&str, &str)], command: &str| {
        let binary = crate::harness::binary();
        let output =
            lamina_sim::process::run_with(&binary, &[command, "--data", &path], pairs).unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let (code, text) = with(&[("LAMINA_MODELS_EMBED_PROVIDER", "openai")], "serve");
    assert!(code == Some(64) && text.contains("models.embed.model"), "{text}");
    let keyless = [
        ("LAMINA_MODELS_EMBED_PROVIDER", "openai"),
        ("LAMINA_MODELS_EMBED_MODEL", "m"),
        ("LAMINA_MODELS_EMBED_KEY_VARIABLE", "NO_SUCH"),
    ];
    let (code, text) = with(&keyless, "serve");
    assert!(code == Some(4) && text.contains("models.embed.key_variable"), "{text}");
}
