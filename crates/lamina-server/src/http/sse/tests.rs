//! Frames as a client sees them, and when a stream ends.

use std::collections::VecDeque;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use tokio::sync::watch;

use super::{Next, Source, frame, response};

/// Says what it has and then waits for ever.
struct Script(VecDeque<Next>);

impl Source for Script {
    async fn next(&mut self) -> Next {
        match self.0.pop_front() {
            Some(next) => next,
            None => std::future::pending().await,
        }
    }
}

fn script(said: impl IntoIterator<Item = Next>) -> Script {
    Script(said.into_iter().collect())
}

#[test]
fn a_frame_is_four_lines() {
    let bytes = frame(Some("lce_1"), "captured", b"{\"a\":1}");
    assert_eq!(bytes, "id: lce_1\nevent: captured\ndata: {\"a\":1}\n\n");
    let bytes = frame(None, "lagging", b"{}");
    assert_eq!(bytes, "event: lagging\ndata: {}\n\n");
}

#[tokio::test]
async fn a_stream_opens_at_once_and_ends_after_the_last_frame() {
    let (_open, closing) = watch::channel(false);
    let source = script([
        Next::Frame(Bytes::from("one\n\n")),
        Next::Last(Bytes::from("two\n\n")),
        Next::Frame(Bytes::from("never\n\n")),
    ]);
    let response = response(source, closing);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(body, "retry: 1000\n\none\n\ntwo\n\n");
}

#[tokio::test(start_paused = true)]
async fn a_quiet_stream_says_that_it_is_still_there() {
    let (_open, closing) = watch::channel(false);
    let mut body = response(script([]), closing).into_body();
    for expected in ["retry: 1000\n\n", ": still here\n\n", ": still here\n\n"] {
        let said = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(said, expected);
    }
}

#[tokio::test]
async fn a_stream_ends_when_the_server_closes() {
    let (close, closing) = watch::channel(false);
    let mut body = response(script([]), closing).into_body();
    assert!(body.frame().await.is_some(), "opens");
    close.send(true).unwrap();
    assert!(body.frame().await.is_none(), "ends");
}
