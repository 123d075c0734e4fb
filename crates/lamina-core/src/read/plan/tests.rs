//! Questions and the plans they get.

use super::{Plan, asks_for_present, plan};

#[test]
fn questions_get_their_plans() {
    let cases = [
        ("", Plan::Recent),
        ("Where does Ada work?", Plan::Lookup),
        ("When did Ada move to Oslo?", Plan::When),
        ("How many days did the trip take?", Plan::When),
        ("How many books did I buy?", Plan::Listing),
        ("In what order did I visit the three cities?", Plan::Ordering),
        ("Summarize the discussion about the roof.", Plan::Summary),
        ("Where did Ben live previously?", Plan::History),
        ("Can you suggest a restaurant for tonight?", Plan::Advice),
        ("Have I ever been to Lisbon?", Plan::Check),
        ("东京的会议是什么时候", Plan::Lookup),
    ];
    for (question, expected) in cases {
        assert_eq!(plan(question), expected, "{question}");
    }
}

#[test]
fn names_are_distinct() {
    let plans = [
        Plan::Recent,
        Plan::Lookup,
        Plan::When,
        Plan::History,
        Plan::Listing,
        Plan::Ordering,
        Plan::Summary,
        Plan::Advice,
        Plan::Check,
    ];
    let names: std::collections::BTreeSet<&str> = plans.iter().map(|plan| plan.as_str()).collect();
    assert_eq!(names.len(), plans.len());
    assert_eq!(Plan::Lookup.as_str(), "DIRECT_LOOKUP_RECHECK", "R346");
}

#[test]
fn the_present_is_told_from_the_past() {
    for question in [
        "How many seats does Acme have?",
        "What is the deadline?",
        "What's my budget?",
        "How many books have I read?",
        "Where does Ada work?",
    ] {
        assert!(asks_for_present(question), "{question}");
    }
    for question in [
        "How many seats did Acme buy?",
        "What was the deadline?",
        "Can you tell me what is going on?",
        "Have I ever been to Lisbon?",
        "Why is the sky blue?",
        "",
    ] {
        assert!(!asks_for_present(question), "{question}");
    }
}
