//! What a person sees of a pack, of an answer, and of nothing.

use serde_json::json;

use super::{Paint, answer, pack, reasons};

const PLAIN: Paint = Paint { colours: false };

#[test]
fn a_pack_shows_days_scores_and_sources() {
    let shown = json!({
        "scope": "user:ada", "view": "holistic",
        "standing": [{"id": "evt_0", "scope": "user:ada", "observed_at": "2025-01-02T10:00:00Z",
            "text": "Always answer\nin French."}],
        "layers": {
            "events": [{"id": "evt_1", "ranked_position": 1, "score": 1.0,
                "content": {"text": "The roof\nleaks.\u{1b}[31m"},
                "context": {"observed_at": "2025-03-14T10:00:00Z"},
                "observed_actor": {"id": "user:ada"}}],
            "facts": [{"id": "fact_1", "ranked_position": 1, "score": 0.5, "subject": {"name": "Acme"},
                "predicate": "count:seats", "object": {"value": 200}, "confidence": 0.9,
                "valid_from": "2025-03-14T10:00:00Z"}],
        },
        "provenance": {
            "trail": [{"phase": "ARIL_classify", "plan": "RECENT", "elapsed_ms": 1.25}],
            "citations": {"fact_1": ["evt_1"]},
        },
    });
    assert_eq!(
        pack(&shown, PLAIN),
        "user:ada  holistic  RECENT  1.2 ms\n\
         \nstanding\n\
         \x20    2025-01-02 10:00  Always answer in French.\n\
         \x20    evt_0\n\
         \nevents\n\
         \x20 1  2025-03-14 10:00  1.00  The roof leaks.[31m\n\
         \x20    evt_1  user:ada\n\
         \nfacts\n\
         \x20 1  2025-03-14 10:00  0.50  Acme has 200 seats (90 % sure)\n\
         \x20    fact_1  from evt_1\n"
    );
    let coloured = pack(&shown, Paint { colours: true });
    assert!(coloured.contains("\u{1b}[36m2025-03-14 10:00\u{1b}[0m"));
    assert!(!coloured.contains("leaks.\u{1b}[31m"), "nobody else's colours");
}

#[test]
fn nothing_says_why() {
    let empty = json!({"scope": "user:ada", "view": "holistic", "layers": {},
        "why_not": {"candidates": 3, "best_score": 0.1, "floor": 0.35}});
    let text = pack(&empty, PLAIN);
    assert!(text.contains("Nothing. 3 records were looked at"), "{text}");
    assert!(reasons(&empty, PLAIN).contains("0.35 is needed"));
}

#[test]
fn an_answer_lists_its_sources() {
    let said = json!({"answer": "On 2025-03-14: \u{201c}It leaks.\u{201d} [1]",
        "answer_model": "extractive", "citations": [
            {"marker": "[1]", "layer": "event", "id": "evt_1", "support_strength": 0.913}]});
    assert_eq!(
        answer(&said, PLAIN),
        "On 2025-03-14: \u{201c}It leaks.\u{201d} [1]\n\n[1] event evt_1  0.91\nby extractive\n"
    );
}
