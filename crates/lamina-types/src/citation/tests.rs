//! Citations are read as they are printed, and in the older form.

use proptest::prelude::*;

use super::{CitationError, CitedSeal, EventCitation, ForeignCitation};
use crate::limits::CITATION_CHARS_MAX;

fn cite(scope: &str, number: u64) -> EventCitation {
    EventCitation { scope: scope.parse().unwrap(), number, seal: CitedSeal::Full([0xab; 32]) }
}

#[test]
fn citation_is_printed_with_an_escaped_scope() {
    let full = cite("project:zaxy/session:default", 5);
    let thread = "eventloom://project:zaxy%2Fsession:default/events/5#";
    assert_eq!(full.to_string(), format!("{thread}{}", "ab".repeat(32)));
    assert_eq!(full.clone().shortened().to_string(), format!("{thread}{}", "ab".repeat(6)));
    assert_eq!(full.clone().shortened().shortened(), full.shortened());
}

#[test]
fn citation_with_a_plain_path_is_read_too() {
    let seal = "ab".repeat(32);
    let old = format!("eventloom://org:acme/user:alice/events/7#{seal}");
    assert_eq!(old.parse(), Ok(cite("org:acme/user:alice", 7)));
    let lower = format!("eventloom://org:acme%2fuser:alice/events/7#{seal}");
    assert_eq!(lower.parse(), Ok(cite("org:acme/user:alice", 7)));
}

#[test]
fn text_that_is_no_citation_is_refused() {
    let seal = "ab".repeat(32);
    for text in [
        String::new(),
        "eventloom://".to_owned(),
        format!("eventloom:/user:a/events/7#{seal}"),
        format!("http://user:a/events/7#{seal}"),
        format!("eventloom://user:a/events/7{seal}"),
        format!("eventloom:///events/7#{seal}"),
        format!("eventloom://alice/events/7#{seal}"),
        format!("eventloom://user:a%20b/events/7#{seal}"),
        format!("eventloom://user:a/events/0#{seal}"),
        format!("eventloom://user:a/events/07#{seal}"),
        format!("eventloom://user:a/events/-7#{seal}"),
        format!("eventloom://user:a/events/+7#{seal}"),
        format!("eventloom://user:a/events/#{seal}"),
        format!("eventloom://user:a/events/18446744073709551616#{seal}"),
        format!("eventloom://user:a/events/7#{}", "AB".repeat(32)),
        format!("eventloom://user:a/events/7#{}", "ab".repeat(7)),
        format!("eventloom://user:a/events/7#{}é", "ab".repeat(5)),
        format!("eventloom://user:a/events/7#{}", "ab".repeat(CITATION_CHARS_MAX)),
    ] {
        assert_eq!(text.parse::<EventCitation>(), Err(CitationError), "{text}");
    }
}

#[test]
fn seal_matches_itself_and_its_beginning() {
    let seal = [7; 32];
    assert!(CitedSeal::Full(seal).matches(&seal) && CitedSeal::Short([7; 6]).matches(&seal));
    assert!(!CitedSeal::Full([8; 32]).matches(&seal) && !CitedSeal::Short([8; 6]).matches(&seal));
}

proptest! {
    #[test]
    fn citation_is_read_as_it_is_printed(
        scope in "[a-z]{1,3}:[A-Za-z0-9_-]{1,6}(/[a-z]{1,3}:[A-Za-z0-9_-]{1,6}){0,3}",
        number in 1u64..,
        seal: [u8; 32],
    ) {
        let scope = scope.parse().unwrap();
        let full = EventCitation { scope, number, seal: CitedSeal::Full(seal) };
        prop_assert_eq!(full.to_string().parse(), Ok(full.clone()));
        let short = full.shortened();
        prop_assert!(short.seal.matches(&seal));
        prop_assert_eq!(short.to_string().parse(), Ok(short));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(eventloom://)?\\PC{0,40}(/events/[0-9]{0,3})?(#[0-9a-f]{12})?") {
        let _ = text.parse::<EventCitation>();
    }
}

#[test]
fn foreign_citation_is_read_from_an_origin() {
    let seal = "cd".repeat(32);
    let full = format!("eventloom://zaxy-default/events/5#{seal}");
    let found = |origin: &str| ForeignCitation::of_origin(origin).map(|found| found.short_form());
    let short = format!("eventloom://zaxy-default/events/5#{}", "cd".repeat(6));
    assert_eq!(found(&format!("{{\"seq\":5,\"citation\":\"{full}\"}}")), Some(short.clone()));
    assert_eq!(
        found(&format!("{{\"citation\":\"none\",\"at\":{{\"citation\":\"{full}\"}}}}")),
        Some(short)
    );
    // A text that quotes one has none.
    assert_eq!(found(&format!("{{\"note\":\"{{\\\"citation\\\":\\\"{full}\\\"}}\"}}")), None);
    for bad in ["eventloom:///events/5#", "eventloom://a/b/events/5#", "eventloom://a b/events/5#"]
    {
        assert_eq!(format!("{bad}{seal}").parse::<ForeignCitation>(), Err(CitationError), "{bad}");
    }
    let [full, other]: [ForeignCitation; 2] =
        [full.clone(), full.replace("/5#", "/6#")].map(|text| text.parse().unwrap());
    assert!(full.names(&full) && !other.names(&full));
    let short: ForeignCitation = full.short_form().parse().unwrap();
    assert!(short.names(&full) && full.names(&short));
}
