//! The edges of a body: exactly the limit, one more, in pieces, late, cut.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_LENGTH;
use bytes::Bytes;
use futures_util::stream;
use lamina_types::ErrorCode;

use super::{Bounds, read};

const BOUNDS: Bounds = Bounds { bytes: 8, time: Duration::from_secs(5) };

fn pieces(pieces: &[&'static str]) -> Body {
    let pieces: Vec<_> =
        pieces.iter().map(|piece| Ok::<_, Infallible>(Bytes::from(*piece))).collect();
    Body::from_stream(stream::iter(pieces))
}

async fn outcome(headers: &HeaderMap, body: Body, bounds: Bounds) -> Result<Bytes, ErrorCode> {
    read(headers, body, bounds).await.map_err(|error| error.code)
}

#[tokio::test]
async fn the_limit_is_the_largest_body_that_passes() {
    let none = HeaderMap::new();
    for (body, expected) in [
        (Body::empty(), Ok("")),
        (Body::from("12345678"), Ok("12345678")),
        (Body::from("123456789"), Err(ErrorCode::BodyTooLarge)),
        (pieces(&["1234", "", "5678"]), Ok("12345678")),
        (pieces(&["1234", "5678", "9"]), Err(ErrorCode::BodyTooLarge)),
        (pieces(&["123456789"]), Err(ErrorCode::BodyTooLarge)),
    ] {
        let found = outcome(&none, body, BOUNDS).await;
        assert_eq!(found, expected.map(Bytes::from));
    }
}

#[tokio::test]
async fn a_declared_length_over_the_limit_is_refused_without_buffering() {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_LENGTH, "9".parse().unwrap());
    let found = outcome(&headers, Body::from("short"), BOUNDS).await;
    assert_eq!(found, Err(ErrorCode::BodyTooLarge));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_arrive_is_late() {
    let never = stream::pending::<Result<Bytes, Infallible>>();
    let found = outcome(&HeaderMap::new(), Body::from_stream(never), BOUNDS).await;
    assert_eq!(found, Err(ErrorCode::RequestTimeout));
}

#[tokio::test]
async fn a_body_that_breaks_off_is_invalid() {
    let broken = stream::iter([Ok(Bytes::from("12")), Err(std::io::Error::other("reset"))]);
    let found = outcome(&HeaderMap::new(), Body::from_stream(broken), BOUNDS).await;
    assert_eq!(found, Err(ErrorCode::InvalidBody));
}
