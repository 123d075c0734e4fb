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
        let arrived = what_arrives(Asked::default(), BARE, room).await;
        let (head, body) = arrived.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n"), "{head}");
        assert!(head.contains(&format!("content-length: {}", body.len())), "{head}");
        assert!(body.contains("HEADERS_TOO_LARGE"), "{body}");
    }
}

/// What a client stored can look like anything.
#[tokio::test]
async fn what_our_code_answers_is_left_alone() {
    let asked = Asked::default();
    asked.note();
    assert_eq!(what_arrives(asked, BARE, 4_096).await.as_bytes(), BARE);
}

#[tokio::test]
async fn other_words_of_the_connection_are_left_alone() {
    let words = "HTTP/1.1 100 Continue\r\n\r\n";
    assert_eq!(what_arrives(Asked::default(), words.as_bytes(), 4_096).await, words);
}
