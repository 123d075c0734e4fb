//! The JSON of the metrics says the same as their text.

use serde_json::json;

use super::samples;

#[test]
fn lines_become_objects() {
    let text = "# HELP a_total Help\n# TYPE a_total counter\na_total 3\n\n\
                b_seconds_bucket{route=\"/v1/events/{id}\",le=\"+Inf\"} 4.5\n\
                c{odd=\"a \\\"quoted\\\" line\\nand {braces}, commas\"} 1e-7\n";
    assert_eq!(
        samples(text),
        [
            json!({"name": "a_total", "labels": {}, "value": 3.0}),
            json!({"name": "b_seconds_bucket", "labels": {"route": "/v1/events/{id}", "le": "+Inf"}, "value": 4.5}),
            json!({"name": "c", "labels": {"odd": "a \"quoted\" line\nand {braces}, commas"}, "value": 1e-7}),
        ]
    );
}
