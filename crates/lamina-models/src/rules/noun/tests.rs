//! Which words of a sentence are nouns, and which only look like it.

use lamina_types::{ActorId, Role};

use crate::Source;
use crate::rules::tests::NOON;

fn check(text: &str, expected: &[&str]) {
    let ann: ActorId = "user:ann".parse().unwrap();
    let source = Source {
        text,
        speaker: &ann,
        addressee: None,
        role: Some(Role::Assistant),
        observed_at: NOON,
        timezone: None,
    };
    let found = crate::extract(&source).nouns;
    let names: Vec<&str> = found.iter().map(|noun| noun.name.as_str()).collect();
    assert_eq!(names, expected, "{text}");
    for noun in &found {
        let span = noun.span.start as usize..noun.span.end as usize;
        assert_eq!(text[span].to_lowercase(), noun.name, "{text}");
    }
}

#[test]
fn nouns_are_found_where_they_stand() {
    // What opens a sentence may be a name: it is kept as both.
    check("Acme asked about the renewal of their licence", &["acme", "renewal", "licence"]);
    check("The login page of Beacon needs new icons", &["login", "page", "icons"]);
    check("Deploy of the gateway starts now", &["deploy", "gateway"]);
    check("Gateway deploy at fifty percent", &["gateway", "deploy"]);
    check("We migrate billing from MySQL to Postgres", &["billing"]);
    check("Reports read from the warehouse", &["reports", "warehouse"]);
}

#[test]
fn a_noun_stands_behind_a_name_that_an_article_opens() {
    check("We saw the Globex demo ourselves", &["demo"]);
    check("Nils sold the Varta shares, sadly", &["nils", "shares"]);
    check("A letter about the Varta shares arrived", &["letter", "shares"]);
    check("The Heron runs on Postgres", &[]);
}

#[test]
fn small_words_are_nouns_where_an_article_says_so() {
    check("The pump of the well is dry", &["pump", "well"]);
    check("The well pump is dry", &["well", "pump"]);
    check("It works well with a pump", &["pump"]);
    check("We viewed the flat in Delft", &["flat"]);
    check("We repaired a flat tyre", &["tyre"]);
    check("The gem shop is open", &["gem", "shop"]);
    check("She is a gem", &[]);
    check("The catch was small", &["catch"]);
    check("The catch is that we are late", &[]);
    check("She is the star", &[]);
    check("The nightly load stopped", &["load"]);
}

#[test]
fn verbs_and_small_words_are_none() {
    check("Today Otto reviews the parser", &["parser"]);
    check("Great, ship the importer then", &["importer"]);
    check("She is running late again", &[]);
    check("Yes, thanks!", &[]);
    check("", &[]);
}

#[test]
fn names_and_other_languages_are_left_alone() {
    check("Today Priya signed with Acme on Monday", &[]);
    check("Ich wohne seit drei Jahren in einer kleinen Wohnung am Fluss", &[]);
}

#[test]
fn there_are_never_too_many() {
    let many = "the apple and ".repeat(200);
    let ann: ActorId = "user:ann".parse().unwrap();
    let source = Source {
        text: &many,
        speaker: &ann,
        addressee: None,
        role: None,
        observed_at: NOON,
        timezone: None,
    };
    assert_eq!(crate::extract(&source).nouns.len(), super::NOUNS_MAX);
}
