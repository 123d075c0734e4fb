//! Plain sentences of each language, and sentences that state nothing about the speaker.

use lamina_types::Micros;
use lamina_types::layer::extraction::{Effect, Object, Term};

use crate::{Source, extract};

/// What a text claims, a line each.
fn claims(text: &str) -> Vec<String> {
    let speaker = "user:ann".parse().unwrap();
    let source = Source {
        text,
        speaker: &speaker,
        addressee: None,
        role: None,
        observed_at: Micros(1_760_000_000_000_000),
        timezone: None,
    };
    let line = |claim: &lamina_types::layer::extraction::Claim| {
        let object = match &claim.object {
            Object::Entity(Term::Named { name, .. }) | Object::Text(name) => name.clone(),
            other => format!("{other:?}"),
        };
        let end = if claim.effect == Effect::Ends { " (ends)" } else { "" };
        format!("{} {object}{end}", claim.predicate)
    };
    extract(&source).claims.iter().map(line).collect()
}

#[test]
fn clause_that_opens_with_a_phrase_is_claimed() {
    for (text, expected) in [
        ("Ich wohne jetzt in Köln und arbeite viel.", "lives_in Köln"),
        ("Ich wohne nicht mehr in Bonn.", "lives_in Bonn (ends)"),
        ("Trabajo en Telefónica desde 2019.", "works_at Telefónica"),
        ("Je suis allergique aux noix.", "allergic_to noix"),
        ("Gosto de samba.", "likes samba"),
        ("Abbiamo deciso di vendere la macchina.", "decided vendere la macchina"),
        ("Ik hou niet van koriander.", "dislikes koriander"),
        ("我对花生过敏。", "allergic_to 花生"),
        ("私は京都に住んでいます。", "lives_in 京都"),
    ] {
        assert_eq!(claims(text), [expected], "{text}");
    }
}

#[test]
fn question_condition_and_reported_speech_claim_nothing() {
    for text in [
        "Wohnst du in Köln?",
        "Wenn ich in Köln wohne, brauche ich ein Rad.",
        "Si vivo en Sevilla, necesito una bici.",
        "Ma sœur dit que je suis lente.",
        "Je viens de finir le rapport.",
        "你住在成都吗？",
        "もし京都に住んでいるなら、自転車が必要です。",
    ] {
        assert_eq!(claims(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn stop_behind_the_number_of_a_day_ends_no_sentence() {
    let text = "Ich habe vor, am 3. Mai nach Wien zu fahren.";
    assert_eq!(claims(text), ["plans am 3. Mai nach Wien zu fahren"]);
}
