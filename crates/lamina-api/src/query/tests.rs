//! Queries as decoded pairs: what is read, what is refused.

use expect_test::expect;
use proptest::prelude::*;

use crate::error::ApiError;
use crate::v1::events::EventsQuery;
use crate::v1::lifecycle::{LifecycleQuery, StreamQuery};

fn pairs(query: &str) -> Vec<(String, String)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

fn verdict<T>(result: Result<T, ApiError>) -> String {
    match result {
        Ok(_) => "ok".to_owned(),
        Err(error) => {
            format!("{} {} {}", error.status, error.code.as_str(), error.field().unwrap_or("-"))
        }
    }
}

#[test]
fn a_query_without_filters() {
    let query = EventsQuery::parse(&pairs("scope=org:acme/user:alice&unknown=1")).unwrap();
    expect![[r#"
        EventsQuery {
            scope: org:acme/user:alice,
            view: Local,
            since: None,
            until: None,
            recorded_since: None,
            recorded_until: None,
            as_of: None,
            observed_actor: None,
            modality: None,
            labels: [],
            sort: Observed,
            order: Desc,
            limit: 50,
            cursor: None,
        }"#]]
    .assert_eq(&format!("{query:#?}"));
}

#[test]
fn a_query_with_every_filter() {
    let query = EventsQuery::parse(&pairs(
        "scope=user:a&view=descend&since=2026-05-01&until=2026-05-13T15:42:00 02:00&recorded_since=2026-05-01T00:00:00Z\
         &recorded_until=2026-06-01&as_of=2026-05-20&actor=user:priya@acme&modality=document&labels=b, a,,b&labels=c\
         &sort=recorded&order=asc&limit=1000&cursor=50",
    ))
    .unwrap();
    expect![[r#"
        EventsQuery {
            scope: user:a,
            view: Descend,
            since: Some(
                ValidAt(
                    Micros(
                        1777593600000000,
                    ),
                ),
            ),
            until: Some(
                ValidAt(
                    Micros(
                        1778679720000000,
                    ),
                ),
            ),
            recorded_since: Some(
                RecordedAt(
                    Micros(
                        1777593600000000,
                    ),
                ),
            ),
            recorded_until: Some(
                RecordedAt(
                    Micros(
                        1780272000000000,
                    ),
                ),
            ),
            as_of: Some(
                RecordedAt(
                    Micros(
                        1779235200000000,
                    ),
                ),
            ),
            observed_actor: Some(
                user:priya@acme,
            ),
            modality: Some(
                "document",
            ),
            labels: [
                "a",
                "b",
                "c",
            ],
            sort: Recorded,
            order: Asc,
            limit: 1000,
            cursor: Some(
                "50",
            ),
        }"#]]
    .assert_eq(&format!("{query:#?}"));
}

#[test]
fn events_queries_that_are_refused() {
    let many: String = (0..65).map(|n| format!("l{n},")).collect();
    for (query, expected) in [
        ("", "400 MISSING_REQUIRED_FIELD scope"),
        ("scope=", "422 INVALID_SCOPE_GRAMMAR scope"),
        ("scope=alice", "422 INVALID_SCOPE_GRAMMAR scope"),
        ("scope=user:a&scope=user:b", "422 INVALID_PARAMETER scope"),
        ("scope=user:a&view=up", "422 INVALID_PARAMETER view"),
        ("scope=user:a&view=", "ok"),
        ("scope=user:a&since=yesterday", "422 INVALID_TIMESTAMP since"),
        ("scope=user:a&until=2026-05-13T15:42:00", "422 INVALID_TIMESTAMP until"),
        ("scope=user:a&recorded_since=1", "422 INVALID_TIMESTAMP recorded_since"),
        ("scope=user:a&recorded_until=1", "422 INVALID_TIMESTAMP recorded_until"),
        ("scope=user:a&as_of=1", "422 INVALID_TIMESTAMP as_of"),
        ("scope=user:a&observed_actor=bob", "422 INVALID_PARAMETER observed_actor"),
        ("scope=user:a&actor=bob", "422 INVALID_PARAMETER actor"),
        ("scope=user:a&actor=user:b&observed_actor=user:c", "422 INVALID_PARAMETER actor"),
        ("scope=user:a&actor=user:b&observed_actor=user:b", "ok"),
        ("scope=user:a&modality=a\u{0}", "422 INVALID_PARAMETER modality"),
        (&format!("scope=user:a&labels={many}"), "422 INVALID_PARAMETER labels"),
        ("scope=user:a&labels=a\u{7}", "422 INVALID_PARAMETER labels"),
        ("scope=user:a&labels=", "ok"),
        ("scope=user:a&sort=size", "422 INVALID_PARAMETER sort"),
        ("scope=user:a&order=up", "422 INVALID_PARAMETER order"),
        ("scope=user:a&limit=0", "422 INVALID_PARAMETER limit"),
        ("scope=user:a&limit=1001", "422 INVALID_PARAMETER limit"),
        ("scope=user:a&limit=-1", "422 INVALID_PARAMETER limit"),
        ("scope=user:a&limit=ten", "422 INVALID_PARAMETER limit"),
        ("scope=user:a&limit=", "422 INVALID_PARAMETER limit"),
        ("scope=user:a&limit=500", "ok"),
        ("scope=user:a&limit=99999999999999999999999", "422 INVALID_PARAMETER limit"),
    ] {
        assert_eq!(verdict(EventsQuery::parse(&pairs(query))), expected, "{query}");
    }
}

#[test]
fn a_cursor_belongs_to_its_filters() {
    let mac = |message: &[u8]| -> [u8; 32] {
        let mut tag = [7_u8; 32];
        for (at, byte) in message.iter().enumerate() {
            tag[at % 32] = tag[at % 32].rotate_left(3) ^ byte;
        }
        tag
    };
    let parse = |query: &str| EventsQuery::parse(&pairs(query)).unwrap();
    let first = parse("scope=user:a&labels=x,y&limit=5");
    let cursor = first.next_cursor(b"position", &mac);
    let again = |query: &str| parse(&format!("{query}&cursor={cursor}")).start(&mac);
    assert!(again("scope=user:a&labels=y,x&limit=7").is_ok(), "limit and order of labels are free");
    for other in [
        "scope=user:b&labels=x,y",
        "scope=user:a&labels=x",
        "scope=user:a&labels=x,y&view=holistic",
        "scope=user:a&labels=x,y&order=asc",
        "scope=user:a&labels=x,y&sort=recorded",
        "scope=user:a&labels=x,y&since=2026-01-01",
        "scope=user:a&labels=x,y&until=2026-01-01",
        "scope=user:a&labels=x,y&as_of=2026-01-01",
        "scope=user:a&labels=x,y&modality=document",
        "scope=user:a&labels=x,y&actor=user:b",
    ] {
        assert_eq!(verdict(again(other)), "422 INVALID_CURSOR cursor", "{other}");
    }
    let list = LifecycleQuery::parse(&pairs("scope=user:a")).unwrap();
    let cursor = list.next_cursor(b"position", &mac);
    let other = LifecycleQuery::parse(&pairs(&format!("scope=user:b&cursor={cursor}"))).unwrap();
    assert_eq!(verdict(other.start(&mac)), "422 INVALID_CURSOR cursor");
    let same =
        LifecycleQuery::parse(&pairs(&format!("scope=user:a&cursor={cursor}&limit=3"))).unwrap();
    assert!(same.start(&mac).is_ok());
}

#[test]
fn lifecycle_queries() {
    let id = "0190a1b2c3d47e5f8a9b0c1d2e3f4a5b";
    let at = |query: &str| query.replace('#', id);
    for (query, expected) in [
        ("", "ok"),
        ("scope=user:a&event_id=evt_#&batch_id=batch_#", "ok"),
        ("scope=a", "422 INVALID_SCOPE_GRAMMAR scope"),
        ("since_lifecycle_id=lce_#", "ok"),
        ("since_lifecycle_id=evt_#", "422 INVALID_ID since_lifecycle_id"),
        ("since_lifecycle_id=lce_1", "422 INVALID_ID since_lifecycle_id"),
        ("event_id=lce_#", "422 INVALID_ID event_id"),
        ("job_id=evt_#", "422 INVALID_ID job_id"),
        ("import_id=exp_#", "422 INVALID_ID import_id"),
        ("export_id=imp_#", "422 INVALID_ID export_id"),
        ("erasure_id=ervw_#", "422 INVALID_ID erasure_id"),
        ("batch_id=#", "422 INVALID_ID batch_id"),
        ("events=captured,consolidated", "ok"),
        ("events=captured,lagging,policy_changed", "ok"),
        ("events=captured,exploded", "422 INVALID_PARAMETER events"),
        ("events=", "ok"),
    ] {
        let query = at(query);
        assert_eq!(verdict(StreamQuery::parse(&pairs(&query), None)), expected, "{query}");
        assert_eq!(verdict(LifecycleQuery::parse(&pairs(&query))), expected, "{query}");
    }
    assert_eq!(LifecycleQuery::parse(&[]).unwrap().limit, 100);
}

#[test]
fn the_header_of_a_reconnect_wins() {
    let old = "lce_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b";
    let new = "lce_0190a1b2c3d47e5f8a9b0c1d2e3f4a5c";
    let query = pairs(&format!("since_lifecycle_id={old}"));
    let since = |header| StreamQuery::parse(&query, header).unwrap().since.unwrap().to_string();
    assert_eq!(since(None), old);
    assert_eq!(since(Some("")), old);
    assert_eq!(since(Some(new)), new);
    let error = StreamQuery::parse(&query, Some("evt_0190a1b2c3d47e5f8a9b0c1d2e3f4a5b"));
    assert_eq!(verdict(error), "422 INVALID_ID Last-Event-ID");
}

proptest! {
    #[test]
    fn reading_never_panics(query in prop::collection::vec(
        ("(scope|view|since|until|as_of|actor|labels|limit|cursor|events|event_id|order)", ".{0,24}"), 0..6)
    ) {
        let _ = EventsQuery::parse(&query);
        let _ = LifecycleQuery::parse(&query);
        let _ = StreamQuery::parse(&query, query.first().map(|(_, value)| value.as_str()));
    }
}
