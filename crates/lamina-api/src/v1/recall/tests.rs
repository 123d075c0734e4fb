//! What a recall may ask, at the edges.

use lamina_types::recall::{CitationMode, Detail, Field, Filter, Layer, PackView, Test};
use lamina_types::{ErrorCode, limits};

use super::RecallRequest;

fn read(body: &str) -> Result<lamina_types::recall::Recall, crate::ApiError> {
    RecallRequest::read(body.as_bytes())
}

fn refused(body: &str) -> (ErrorCode, u16, String) {
    let error = read(body).unwrap_err();
    (error.code, error.status, error.field().unwrap_or_default().to_owned())
}

#[test]
fn the_least_there_can_be() {
    let recall = read(r#"{"scope":"user:ada"}"#).unwrap();
    assert_eq!(recall.view, PackView::Holistic, "R434");
    assert_eq!((recall.query.as_str(), recall.detail), ("", Detail::None));
    assert_eq!(recall.citation_mode, CitationMode::StructuredOnly);
    assert!(recall.filter.is_open() && recall.include.is_empty());
}

#[test]
fn what_the_published_client_sends() {
    let body = r#"{"scope":"user:ada","view":"holistic","diagnostics":"none","query":"*",
        "include":["events","facts"],"filters":{"metadata":{"labels":["a","b"],"modality":"conversation"}},
        "budgets":{"max_tokens":4000,"per_layer_limits":{"events":0,"facts":20}},
        "temporal":{"valid_during":["1970-01-01T00:00:00Z","9999-12-31T00:00:00Z"]}}"#;
    let recall = read(body).unwrap();
    assert_eq!(recall.query, "", "`*` asks for the latest");
    assert_eq!(recall.include, [Layer::Events, Layer::Facts]);
    assert_eq!(recall.layer_limits, [Some(0), None, Some(20), None, None]);
    assert_eq!(recall.filter.names(), ["labels.in", "modality.in"]);
    assert!(recall.temporal.valid_during.is_some());
}

#[test]
fn a_tree_of_filters() {
    let body = r#"{"scope":"user:ada","filters":{"AND":[
        {"observed_actor":{"in":["user:ada"]}},
        {"OR":[{"confidence":{"gte":0.6}},{"NOT":{"modality":"document"}}]},
        {"observed_at":{"lt":"2026-01-01"}}]}}"#;
    let recall = read(body).unwrap();
    assert_eq!(
        recall.filter.names(),
        ["observed_actor.in", "confidence.gte", "modality.in", "observed_at.lt"]
    );
    let Filter::All(parts) = &recall.filter else { panic!("an `AND`") };
    let actor =
        Filter::All(vec![Filter::Is(Field::ObservedActor, Test::In(vec!["user:ada".to_owned()]))]);
    assert_eq!(parts.first(), Some(&actor));
}

#[test]
fn every_range_can_be_written_in_three_ways() {
    for range in [
        r#"["2026-03-01","2026-04-01"]"#,
        r#"{"from":"2026-03","to":"2026-04"}"#,
        r#""2026-03-01..2026-04-01""#,
    ] {
        let body = format!(r#"{{"scope":"user:ada","temporal":{{"valid_during":{range}}}}}"#);
        let (from, to) = read(&body).unwrap().temporal.valid_during.unwrap();
        assert_eq!(to.0.0 - from.0.0, 31 * 86_400 * 1_000_000, "{range}");
    }
}

#[test]
fn what_is_refused() {
    let shape = |field: &str| (ErrorCode::InvalidBody, 422, field.to_owned());
    let with = |rest: &str| format!(r#"{{"scope":"user:ada",{rest}}}"#);
    assert_eq!(refused("{}").0, ErrorCode::MissingRequiredField);
    assert_eq!(refused(r#"{"scope":"nonsense"}"#).0, ErrorCode::InvalidScopeGrammar);
    assert_eq!(refused(&with(r#""layers":["events"]"#)).0, ErrorCode::InvalidBody, "C11");
    assert_eq!(refused(&with(r#""limits":{"total_tokens":5}"#)).0, ErrorCode::InvalidBody, "C10");
    for (variants, field) in [
        (r#"[{"text":""}]"#, "query_variants[0].text"),
        (r#"[{"text":"a"},{"text":"b","language":"?"}]"#, "query_variants[1].language"),
        (r#"[{"text":"a","script":"latin"}]"#, "query_variants[0].script"),
    ] {
        let asked = refused(&with(&format!(r#""query_variants":{variants}"#)));
        assert_eq!((asked.1, asked.2.as_str()), (422, field), "{variants}");
    }
    assert_eq!(refused(&with(r#""language":"no language""#)).2, "language");
    assert_eq!(refused(&with(r#""scripts":["Latn","x"]"#)).2, "scripts[1]");
    let five = [r#"{"text":"a"}"#; 5].join(",");
    assert_eq!(refused(&with(&format!(r#""query_variants":[{five}]"#))).2, "query_variants");
    assert_eq!(refused(&with(r#""view":"sideways""#)), shape("view"));
    assert_eq!(refused(&with(r#""include":["events","dreams"]"#)), shape("include[1]"));
    assert_eq!(refused(&with(r#""relevance_floor":1.5"#)), shape("relevance_floor"));
    assert_eq!(refused(&with(r#""filters":{"colour":"red"}"#)), shape("filters.colour"));
    assert_eq!(refused(&with(r#""filters":{"confidence":{"in":["x"]}}"#)).1, 422);
    assert_eq!(refused(&with(r#""filters":{"metadata":{"subject":"x"}}"#)).1, 422);
    assert_eq!(refused(&with(r#""temporal":{"natural":""}"#)), shape("temporal.natural"));
    assert_eq!(refused(&with(r#""temporal":{"as_of":"soon"}"#)).0, ErrorCode::InvalidTimestamp);
    assert_eq!(
        refused(&with(r#""temporal":{"valid_during":["2026-02-01","2026-01-01"]}"#)),
        shape("temporal.valid_during")
    );
}

#[test]
fn limits_hold_at_their_edges() {
    let asks = |query: usize| {
        let query = "x".repeat(query);
        read(&format!(r#"{{"scope":"user:ada","query":"{query}"}}"#))
    };
    assert!(asks(limits::QUERY_BYTES_MAX).is_ok() && asks(limits::QUERY_BYTES_MAX + 1).is_err());
    let holds = |tokens: u64| {
        read(&format!(r#"{{"scope":"user:ada","budgets":{{"max_tokens":{tokens}}}}}"#))
    };
    assert!(holds(limits::PACK_TOKENS_MAX).is_ok() && holds(limits::PACK_TOKENS_MAX + 1).is_err());
    let records = |most: usize| {
        let limit = format!(r#"{{"per_layer_limits":{{"events":{most}}}}}"#);
        read(&format!(r#"{{"scope":"user:ada","budgets":{limit}}}"#))
    };
    assert!(records(limits::LAYER_RECORDS_MAX).is_ok());
    assert!(records(limits::LAYER_RECORDS_MAX + 1).is_err());
    let values = |count: usize| {
        let values = vec![r#""x""#; count].join(",");
        read(&format!(r#"{{"scope":"user:ada","filters":{{"labels":[{values}]}}}}"#))
    };
    assert!(values(limits::FILTER_VALUES_MAX).is_ok());
    assert!(values(limits::FILTER_VALUES_MAX + 1).is_err());
    let conditions = |count: usize| {
        let conditions = vec![r#"{"intent":"x"}"#; count].join(",");
        read(&format!(r#"{{"scope":"user:ada","filters":{{"OR":[{conditions}]}}}}"#))
    };
    assert!(conditions(limits::FILTERS_MAX).is_ok());
    assert!(conditions(limits::FILTERS_MAX + 1).is_err());
    let phrase = |chars: usize| {
        let phrase = "x".repeat(chars);
        read(&format!(r#"{{"scope":"user:ada","temporal":{{"natural":"{phrase}"}}}}"#))
    };
    assert!(phrase(limits::TEMPORAL_CHARS_MAX).is_ok());
    assert!(phrase(limits::TEMPORAL_CHARS_MAX + 1).is_err());
}
