//! The client is the judge of the server, so the judge is tested first.

use super::chunked::Chunked;
use super::{parse_head, stream};

#[test]
fn a_head_is_status_and_headers_in_order() {
    let (status, headers) =
        parse_head("HTTP/1.1 405 Method Not Allowed\r\nAllow: GET\r\nX-B:  y\r\n\r\n").unwrap();
    assert_eq!(status, 405);
    let expected = [("allow", "GET"), ("x-b", "y")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(headers, expected);
    assert!(parse_head("not http\r\n\r\n").is_err());
    assert!(parse_head("HTTP/1.1 200 OK\r\nno colon here\r\n\r\n").is_err());
}

#[test]
fn chunks_decode_the_same_wherever_they_are_cut() {
    let wire =
        b"4\r\nWiki\r\n6;ext=1\r\npedia \r\nB\r\nin \r\nchunks\r\n0\r\nTrailer: x\r\n\r\nnext";
    let body_end = wire.len() - "next".len();
    for cut in 0..=wire.len() {
        let mut decoder = Chunked::default();
        let mut out = Vec::new();
        let used = decoder.feed(&wire[..cut], &mut out).unwrap();
        let rest = [&wire[used..cut], &wire[cut..]].concat();
        let more = decoder.feed(&rest, &mut out).unwrap();
        assert_eq!(out, b"Wikipedia in \r\nchunks", "cut at {cut}");
        assert_eq!(used + more, body_end, "cut at {cut}");
        assert!(decoder.is_done());
    }
}

#[test]
fn what_is_not_chunked_is_an_error() {
    for wire in ["zz\r\n", "2\r\nabc\r\n", "-1\r\n"] {
        let mut decoder = Chunked::default();
        assert!(decoder.feed(wire.as_bytes(), &mut Vec::new()).is_err(), "{wire}");
    }
}

#[test]
fn stream_fields_are_read_and_comments_are_not_events() {
    let event = stream::parse("event: captured\nid: lce_1\ndata: {\"a\":\ndata: 1}\n\n").unwrap();
    assert_eq!(event.event, "captured");
    assert_eq!(event.id.as_deref(), Some("lce_1"));
    assert_eq!(event.data, "{\"a\":\n1}");
    assert_eq!(stream::parse(": keep-alive\n\n"), None);
    assert_eq!(stream::parse("retry: 1000\n\n"), None);
}
