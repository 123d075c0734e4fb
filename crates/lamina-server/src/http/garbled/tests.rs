//! A bare refusal is explained, an answer of ours is not touched.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

const BARE: &[u8] = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\n\r\n";

async fn what_arrives(asked: Asked, written: &[u8], room: usize) -> String {
    let (near, mut far) = tokio::io::duplex(room);
    let mut near = Garbled::new(near, asked, Env::real());
    let reader = tokio::spawn(async move {
        let mut arrived = String::new();
        far.read_to_string(&mut arrived).await.unwrap();
        arrived
    });
    near.write_all(written).await.unwrap();
    near.shutdown().await.unwrap();
    drop(near);
    reader.await.unwrap()
}

#[tokio::test]
async fn a_bare_refusal_gets_the_envelope_however_slowly_it_is_taken() {
    for room in [7, 4_096] {
        let arrived = what_arrives(Asked::new(Busy::new()), BARE, room).await;
        let (head, body) = arrived.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n"), "{head}");
        assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
        assert!(body.contains("HEADERS_TOO_LARGE"), "{body}");
    }
}

/// What a client stored can look like anything.
#[tokio::test]
async fn what_our_code_answers_is_left_alone() {
    let asked = Asked::new(Busy::new());
    asked.note();
    assert_eq!(what_arrives(asked, BARE, 4_096).await.as_bytes(), BARE);
}

/// Between two requests nothing is asked: when the answer is given up and out, and not before.
#[tokio::test]
async fn a_refusal_after_an_answer_is_explained() {
    let busy = Busy::new();
    let (near, mut far) = tokio::io::duplex(4_096);
    let asked = Asked::new(busy.clone());
    let mut near = Garbled::new(near, asked.clone(), Env::real());
    asked.note();
    let held = busy.begin();
    for part in [&b"HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n"[..], BARE] {
        near.write_all(part).await.unwrap();
        near.flush().await.unwrap();
    }
    drop(held);
    // The rest of the answer may look like anything too.
    near.write_all(BARE).await.unwrap();
    near.flush().await.unwrap();
    near.write_all(BARE).await.unwrap();
    near.shutdown().await.unwrap();
    drop(near);
    let mut arrived = String::new();
    far.read_to_string(&mut arrived).await.unwrap();
    let bare = std::str::from_utf8(BARE).unwrap();
    assert_eq!(arrived.matches(bare).count(), 2, "{arrived}");
    assert_eq!(arrived.matches("\"error_code\"").count(), 1, "{arrived}");
}

#[tokio::test]
async fn other_words_of_the_connection_are_left_alone() {
    let words = "HTTP/1.1 100 Continue\r\n\r\n";
    assert_eq!(what_arrives(Asked::new(Busy::new()), words.as_bytes(), 4_096).await, words);
}
