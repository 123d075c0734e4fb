//! What an agent says of its memory is recognised, and what only sounds alike is not.

use super::*;

const CASES: &str = include_str!("cases.txt");

/// Of 50 echoes at least so many are recognised, and of 50 sentences that bring something of their own at most so
/// many are taken for one. Set before anything was tuned; news that is lost is worse than an echo that is heard.
const ECHOES_MIN: usize = 42;
const INNOCENT_MAX: usize = 2;

/// Sentences of the cases with what was shown before them, and whether they repeat it.
fn cases() -> Vec<(bool, &'static str, Vec<Shown>)> {
    let mut memory: Vec<Shown> = Vec::new();
    let mut shows = false;
    let mut found = Vec::new();
    for line in CASES.lines().filter(|line| !line.starts_with('#')) {
        let Some((kind, text)) = line.split_once(' ') else { continue };
        if kind == "M" {
            if !shows {
                memory.clear();
            }
            shows = true;
            let (speaker, text) = text.split_once(": ").expect("somebody speaks");
            memory.push(shown(text, &[speaker.to_owned()]));
        } else {
            shows = false;
            found.push((kind == "E", text, memory.clone()));
        }
    }
    found
}

fn extracted(text: &str) -> Extraction {
    let actor = "user:a".parse().expect("an actor");
    lamina_models::extract(&lamina_models::Source {
        text,
        speaker: &actor,
        addressee: None,
        role: None,
        observed_at: lamina_types::Micros(1_700_000_000_000_000),
        timezone: None,
    })
}

fn is_echo(text: &str, memory: &[Shown], near: &mut Nearness) -> bool {
    let nouns = extracted(text).nouns;
    let piece = pieces(text).into_iter().next().expect("it has a sentence");
    let nouns = nouns_in(text, &piece, &nouns);
    let said = said(text, &nouns, |word| f64::from(frequency::weight(word)));
    let memory: Vec<&Shown> = memory.iter().collect();
    !echoed(&said, &memory, &mut |one, other| near.words(one, other)).is_empty()
}

#[test]
fn fifty_echoes_and_fifty_innocents() {
    let mut near = Nearness::default();
    let (mut missed, mut wronged) = (Vec::new(), Vec::new());
    let (mut echoes, mut innocents) = (0, 0);
    for (repeats, text, memory) in cases() {
        match (repeats, is_echo(text, &memory, &mut near)) {
            (true, found) => {
                echoes += 1;
                missed.extend((!found).then_some(text));
            }
            (false, found) => {
                innocents += 1;
                wronged.extend(found.then_some(text));
            }
        }
    }
    assert_eq!((echoes, innocents), (50, 50));
    assert!(echoes - missed.len() >= ECHOES_MIN, "missed: {missed:#?}");
    assert!(wronged.len() <= INNOCENT_MAX, "taken for echoes: {wronged:#?}");
}

#[test]
fn nothing_shown_is_nothing_repeated() {
    for (_, text, _) in cases() {
        assert!(!is_echo(text, &[], &mut Nearness::default()));
    }
}

#[test]
fn what_stands_in_echoes_is_taken_out() {
    let text = "Maria works at Acme. Jonas moved to Oslo.";
    let mut extraction = extracted(text);
    let all = extraction.claims.len();
    assert!(all >= 2, "{:?}", extraction.claims);
    let of = EventId::from_bytes([7; 16]);
    let echoes = [Echo { span: ByteSpan { start: 0, end: 20 }, of }];
    let echoed = withhold(&mut extraction, &echoes);
    assert!(!echoed.is_empty() && echoed.len() < all);
    assert!(extraction.mentions.iter().all(|mention| mention.name != "Acme"));
    assert!(extraction.mentions.iter().any(|mention| mention.name == "Oslo"));
    assert_eq!(withhold(&mut extraction, &[]), Vec::<u16>::new());
}
