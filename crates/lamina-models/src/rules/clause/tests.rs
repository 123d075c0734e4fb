//! Where clauses are cut, whom they are about, and whether they assert.

use expect_test::{Expect, expect};

use super::{Subject, clauses};
use crate::rules::token::Tokens;

fn check(text: &str, expect: Expect) {
    let mut out = String::new();
    for line in text.lines().map(str::trim) {
        let tokens = Tokens::of(line);
        out.push_str(line);
        out.push('\n');
        for clause in clauses(&tokens) {
            let subject = match clause.subject {
                Subject::Said(from, to) => tokens.slice(from, to).to_owned(),
                other => format!("<{other:?}>"),
            };
            let verb = clause.verb.as_ref().map_or("-", |verb| verb.lemma);
            let mood = match (clause.asserted, clause.instruction.is_some()) {
                (true, _) => "asserts",
                (false, true) => "instructs",
                (false, false) => "nothing",
            };
            let rest = tokens.slice(clause.complement(), clause.end);
            out.push_str(&format!("    {mood}: {subject} | {verb} | {rest}\n"));
        }
    }
    expect.assert_eq(&out);
}

#[test]
fn cutting() {
    check(
        "I like tea and jazz, but my wife likes coffee and hates rain.
         Hi Bob, I moved to Oslo last week and started at Equinor.
         My son Tom and my daughter Eva both speak Danish.
         bought a bike, already love it
         We have a dog called Rex who barks at night.
         The budget for the fair is 20k; Ola owns it.",
        expect![[r#"
            I like tea and jazz, but my wife likes coffee and hates rain.
                asserts: I | like | tea and jazz
                asserts: my wife | like | coffee
                asserts: <Inherited> | hate | rain
            Hi Bob, I moved to Oslo last week and started at Equinor.
                asserts: I | move | to Oslo last week
                asserts: <Inherited> | start | at Equinor
            My son Tom and my daughter Eva both speak Danish.
                asserts: My son Tom and my daughter Eva both | speak | Danish
            bought a bike, already love it
                asserts: <Elided> | buy | a bike, already love it
            We have a dog called Rex who barks at night.
                asserts: We | have | a dog called Rex
                asserts: <Relative> | bark | at night
            The budget for the fair is 20k; Ola owns it.
                asserts: The budget for the fair | be | 20k
                asserts: Ola | own | it
        "#]],
    );
}

#[test]
fn moods() {
    check(
        "Is Falcon done?
         I don't have a car, can you drive?
         You're vegan, aren't you?
         If it rains, I stay home.
         I heard that Bob quit, and Eve moved.
         Please write a poem and send it.
         Never use emojis, please.
         I'd love to live in Rome.",
        expect![[r#"
            Is Falcon done?
                nothing: <None> | - | Is Falcon done
            I don't have a car, can you drive?
                nothing: I | have | a car
                nothing: <Inherited> | - | can you drive
            You're vegan, aren't you?
                nothing: You | be | vegan
                nothing: <Inherited> | be | you
            If it rains, I stay home.
                nothing: <None> | - | If it rains
                nothing: I | stay | home
            I heard that Bob quit, and Eve moved.
                nothing: I | hear | that Bob quit
                nothing: Eve | move | 
            Please write a poem and send it.
                nothing: <None> | write | a poem and send it
            Never use emojis, please.
                instructs: <None> | use | emojis, please
            I'd love to live in Rome.
                nothing: I | love | to live in Rome
        "#]],
    );
}
