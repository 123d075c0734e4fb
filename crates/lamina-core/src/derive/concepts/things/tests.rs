//! Which words become which things.

use std::collections::BTreeMap;

use super::*;

/// Words are names if they begin with a capital, `a-b` are nouns side by side, everything else is a
/// noun that goes alone; `?` marks one that may be a name; `;` ends an event.
fn check(said: &str, known: &[&str], expected: &[&str]) {
    let mut names: BTreeMap<Key, String> = BTreeMap::new();
    let mut key = |text: &str| {
        let mut key = [0; 16];
        key.iter_mut().zip(text.bytes()).for_each(|(to, byte)| *to = byte);
        names.insert(key, text.to_owned());
        key
    };
    let events: Vec<Spoken> = said
        .split(';')
        .map(|event| {
            let mut spoken = Spoken::default();
            for word in event.split_whitespace() {
                if word.starts_with(char::is_uppercase) {
                    spoken.names.push(key(&word.to_lowercase()));
                    continue;
                }
                let run: Vec<&str> = word.split('-').collect();
                for (at, one) in run.iter().enumerate() {
                    let first = one.trim_start_matches('?');
                    let both = run.get(at + 1).map(|next| key(&format!("{first} {next}")));
                    let (one, maybe_name) = (one.trim_start_matches('?'), one.starts_with('?'));
                    spoken.nouns.push(Noun { word: key(one), with_next: both, maybe_name });
                }
            }
            spoken
        })
        .collect();
    let known: Vec<Key> = known.iter().map(|word| key(word)).collect();
    let found = things(&events, &|thing| known.contains(&thing));
    let found: Vec<&str> = found.iter().map(|thing| names[thing].as_str()).collect();
    assert_eq!(found, expected, "{said}");
}

#[test]
fn what_always_stands_side_by_side_is_one_thing() {
    check("Beacon login-page icon; login-page", &[], &["beacon", "login page", "icon"]);
    check("search-index-rebuild; search-index", &[], &["search index", "rebuild"]);
}

#[test]
fn what_goes_alone_is_a_thing_of_its_own() {
    check("gateway; gateway-deploy", &[], &["gateway", "deploy"]);
    check("gateway-deploy", &["gateway"], &["gateway", "deploy"]);
    check("gateway-deploy-log", &["gateway"], &["gateway", "deploy", "log"]);
    check("gateway-deploy", &["gateway", "gateway deploy"], &["gateway deploy"]);
    check("Gateway gateway-deploy", &[], &["gateway", "deploy"]);
    // What opens a sentence may be a name: nothing joins it to what follows but another sentence.
    check("?stripe-webhook", &[], &["stripe", "webhook"]);
    check("?tenant-shard; tenant-shard", &[], &["tenant shard"]);
    check("?press-kit", &["press kit"], &["press kit"]);
}

#[test]
fn names_come_first_then_what_more_events_speak_of() {
    check("tea Ann; cake; tea Bob Ann", &[], &["ann", "bob", "tea", "cake"]);
    check("", &[], &[]);
    check("tea-tea", &[], &["tea"]);
}

#[test]
fn folding_leaves_what_tells_things_apart() {
    for (name, expected) in [
        ("Refunds", Some("refund")),
        ("the login pages", Some("login page")),
        ("press", Some("press")),
        ("status", Some("status")),
        ("boxes", Some("box")),
        ("tomatoes", Some("tomato")),
        ("companies", Some("company")),
        ("gas", Some("gas")),
        ("db-3", Some("db 3")),
        ("Café", Some("cafe")),
        ("!", None),
    ] {
        assert_eq!(folded(name).as_deref(), expected, "{name}");
    }
}
