//! Text and structure each say everything, and both together keep to the tokens.

use expect_test::expect_file;
use lamina_core::read::abstain::WhyNot;
use lamina_core::read::checkout::{
    ConflictSide, CurrentFact, EvidenceLine, Gathered, Lane, OpenConflict, StandingLine,
    WorkCategory, WorkItem, line,
};
use proptest::prelude::*;

use super::*;
use crate::mcp::schema;

fn citation(number: usize) -> String {
    format!("eventloom://project:zaxy%2Fsession:zaxy-default/events/{number}#abc123def456")
}

fn nothing() -> Gathered {
    Gathered {
        scope: "project:zaxy".to_owned(),
        query: "Where does Maria work?".to_owned(),
        known_at: Micros(1_778_684_400_000_000),
        facts: Vec::new(),
        evidence: Vec::new(),
        standing: Vec::new(),
        work: Vec::new(),
        conflicts: Vec::new(),
        recent: Vec::new(),
        superseded: 0,
        redacted: 0,
        relevance: 0.1,
        why_not: Some(WhyNot {
            candidates: 500,
            best_score: 0.12,
            floor: 0.45,
            is_before_records: false,
        }),
        is_partial: false,
    }
}

prop_compose! {
    fn words()(words in prop::collection::vec("[a-z]{2,9}|[0-9]{1,5}|[\u{4e00}-\u{4e40}]{1,6}|\"[a-z]{2,5}\"|\\\\", 1..24)) -> String {
        line(&words.join(" "), 280)
    }
}

prop_compose! {
    fn gathered()(
        facts in prop::collection::vec(words(), 1..20),
        standing in prop::collection::vec(words(), 0..6),
        work in prop::collection::vec(words(), 0..12),
        evidence in prop::collection::vec(words(), 0..12),
        conflicts in 0..3_usize,
        superseded in 0..3_usize,
    ) -> Gathered {
        let at = nothing().known_at;
        let author = || "user:alice".to_owned();
        Gathered {
            facts: facts.into_iter().enumerate().map(|(number, content)| CurrentFact {
                content, at, citation: Some(citation(number)), lane: Lane::Verbatim, event_type: None, entity: None, score: 1.0,
            }).collect(),
            standing: standing.into_iter().map(|text| StandingLine { text, at, author: author(), citation: Some(citation(90)) }).collect(),
            work: work.into_iter().enumerate().map(|(number, summary)| WorkItem {
                category: WorkCategory::Task, summary, at, citation: citation(60 + number),
            }).collect(),
            evidence: evidence.into_iter().enumerate().map(|(number, quote)| EvidenceLine {
                citation: citation(number), at, author: author(), quote,
            }).collect(),
            conflicts: (0..conflicts).map(|number| OpenConflict {
                at,
                sides: ["Northwind", "Contoso"].into_iter().map(|side| ConflictSide {
                    content: format!("\u{201c}Maria works at {side}\u{201d}"), citation: Some(citation(70 + number)),
                }).collect(),
            }).collect(),
            superseded,
            why_not: None,
            ..nothing()
        }
    }
}

/// Every string of a value.
fn strings<'a>(value: &'a Value, all: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => all.push(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, all)),
        Value::Object(members) => members.values().for_each(|member| strings(member, all)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn text_and_structure_each_carry_everything(gathered in gathered(), tokens in 100..8_000_u64) {
        let checkout = assemble(&gathered, tokens, &weight);
        let ToolAnswer { text, structured } = answer(&checkout);
        let mut said = Vec::new();
        strings(&structured, &mut said);
        let shown = &checkout.shown;
        let contents = shown.facts.iter().map(|fact| fact.content.as_str())
            .chain(shown.standing.iter().map(|one| one.text.as_str()))
            .chain(shown.work.iter().map(|item| item.summary.as_str()))
            .chain(shown.evidence.iter().map(|line| line.quote.as_str()))
            .chain(checkout.warnings.iter().map(String::as_str))
            .chain(checkout.quality.reasons.iter().copied());
        for content in contents {
            prop_assert!(text.contains(content), "{content} is not in the text");
            prop_assert!(said.contains(&content), "{content} is not in the structure");
        }
        for citation in checkout.citations() {
            prop_assert!(text.contains(citation));
            prop_assert!(said.iter().any(|said| said.contains(citation)));
        }
        for (list, count) in checkout.left_out.named() {
            let told = format!("{count} {list}");
            prop_assert!(text.contains(&told), "{}", told);
            let member = format!("/left_out/{list}");
            prop_assert_eq!(structured.pointer(&member), Some(&json!(count)));
        }
        let object = structured.as_object().unwrap();
        prop_assert!(schema::check(&structure::schema(), object).is_ok());
    }

    #[test]
    fn text_and_structure_together_keep_to_the_tokens(gathered in gathered(), tokens in 100..8_000_u64) {
        let checkout = assemble(&gathered, tokens, &weight);
        let weight = weight(&checkout);
        prop_assert!(weight as f64 <= 1.15 * tokens as f64 + 200.0, "{weight} for {tokens}");
        // What is left out did not fit: nearly all of the budget is used.
        if checkout.left_out.facts > 0 && tokens > 600 {
            prop_assert!(weight * 2 > tokens, "{weight} for {tokens}");
        }
    }
}

#[test]
fn nothing_known_takes_250_tokens_at_most() {
    let checkout = assemble(&nothing(), TOKENS_DEFAULT, &weight);
    let ToolAnswer { text, structured } = answer(&checkout);
    assert!(weight(&checkout) <= 235, "{}: {text}\n{structured}", weight(&checkout));
}

fn full() -> Gathered {
    let at = nothing().known_at;
    let fact = |content: &str, number: usize, lane: Lane| CurrentFact {
        content: content.to_owned(),
        at,
        citation: Some(citation(number)),
        lane,
        event_type: None,
        entity: None,
        score: 0.9,
    };
    Gathered {
        query: "What is Memory Checkout?".to_owned(),
        facts: vec![fact(
            "Memory Checkout is the model-facing context contract.",
            1882,
            Lane::Graph,
        )],
        evidence: vec![EvidenceLine {
            citation: citation(1882),
            at,
            author: "agent:claude-code".to_owned(),
            quote: "We decided that Memory Checkout is the model-facing context contract."
                .to_owned(),
        }],
        standing: vec![StandingLine {
            text: "Write tests first.".to_owned(),
            at,
            author: "user:alice".to_owned(),
            citation: Some(citation(7)),
        }],
        work: vec![WorkItem {
            category: WorkCategory::Goal,
            summary: "Ship the checkout.".to_owned(),
            at,
            citation: citation(9),
        }],
        superseded: 1,
        relevance: 0.9,
        why_not: None,
        ..nothing()
    }
}

/// The examples of the contract, with citations of this server: a whole one, and one whose evidence was erased.
#[test]
fn full_and_degraded_examples_are_as_written_down() {
    let golden = |gathered: &Gathered| {
        let checkout = assemble(gathered, TOKENS_DEFAULT, &weight);
        let ToolAnswer { text, structured } = answer(&checkout);
        format!("{text}\n\n{}\n", serde_json::to_string_pretty(&structured).unwrap())
    };
    expect_file!["goldens/full.txt"].assert_eq(&golden(&full()));
    let mut degraded = full();
    degraded.facts[0].content = "Memory Checkout is current.".to_owned();
    degraded.facts[0].citation = None;
    degraded.redacted = 1;
    degraded.evidence.clear();
    degraded.standing.clear();
    degraded.work.clear();
    degraded.superseded = 0;
    expect_file!["goldens/degraded.txt"].assert_eq(&golden(&degraded));
    expect_file!["goldens/nothing.txt"].assert_eq(&golden(&nothing()));
}
