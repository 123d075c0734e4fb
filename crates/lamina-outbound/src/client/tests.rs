//! Against real servers on this machine that misbehave.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream as Socket};
use std::thread::JoinHandle;

use super::*;
use crate::endpoint::PlainHttp;

/// Longer than any machine takes.
const LONG: Duration = Duration::from_secs(60);
const BODY_BYTES_MAX: usize = 1_000;

/// Takes one connection, reads the head of the question, and does what the test says.
fn server(act: impl FnOnce(Socket, String) + Send + 'static) -> (SocketAddr, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && socket.read(&mut byte).is_ok_and(|count| count > 0) {
            head.push(byte[0]);
        }
        act(socket, String::from_utf8_lossy(&head).into_owned());
    });
    (address, thread)
}

/// A server that says this and hangs up.
fn saying(text: impl Into<Vec<u8>>) -> SocketAddr {
    let text = text.into();
    server(move |mut socket, _| {
        // The client may have hung up in the middle, which some tests want.
        let _ = socket.write_all(&text);
    })
    .0
}

fn client(total: Duration) -> Client {
    let bounds = Bounds { connect: LONG, total, body_bytes: BODY_BYTES_MAX };
    Client::new(Roots::System, bounds).unwrap()
}

fn endpoint(scheme: &str, address: SocketAddr) -> Endpoint {
    Endpoint::parse(&format!("{scheme}://{address}/keys?a=b"), PlainHttp::Loopback).unwrap()
}

async fn ask(address: SocketAddr) -> Result<Answer, Error> {
    client(LONG).send(Request::get(endpoint("http", address))).await
}

#[tokio::test]
async fn an_answer_comes_back_whole() {
    let (address, thread) = server(|mut socket, head| {
        assert!(head.starts_with("GET /keys?a=b HTTP/1.1\r\n"), "{head}");
        assert!(head.contains(&format!("host: {}\r\n", socket.local_addr().unwrap())), "{head}");
        assert!(head.contains("x-key: v\r\n"), "{head}");
        let text = "HTTP/1.1 200 OK\r\nCache-Control: max-age=5\r\nTransfer-Encoding: chunked\r\n\r\n\
                    3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        socket.write_all(text.as_bytes()).unwrap();
    });
    let request = Request::get(endpoint("http", address)).header("X-Key", "v").unwrap();
    let answer = client(LONG).send(request).await.unwrap().success().unwrap();
    assert_eq!((answer.status, &*answer.body), (200, b"abcde".as_slice()));
    assert_eq!(answer.header("cache-control"), Some("max-age=5"));
    thread.join().unwrap();
}

#[tokio::test]
async fn a_body_is_sent() {
    let (address, thread) = server(|mut socket, head| {
        assert!(head.starts_with("POST /keys?a=b HTTP/1.1\r\n"), "{head}");
        assert!(head.contains("content-length: 7\r\n"), "{head}");
        let mut body = [0; 7];
        socket.read_exact(&mut body).unwrap();
        assert_eq!(&body, br#"{"a":1}"#);
        socket.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
    });
    let request = Request::post_json(endpoint("http", address), r#"{"a":1}"#);
    assert_eq!(client(LONG).send(request).await.unwrap().status, 204);
    thread.join().unwrap();
}

/// Sends pieces with a length, and says what the server read and how the request ended.
async fn put_pieces(length: u64, pieces: &[&'static str]) -> (Vec<u8>, Result<Answer, Error>) {
    let (told, heard) = std::sync::mpsc::channel();
    let (address, thread) = server(move |mut socket, head| {
        if head.is_empty() {
            // The client refused its own body before it sent anything.
            return told.send(Vec::new()).unwrap();
        }
        assert!(head.starts_with("PUT /keys?a=b HTTP/1.1\r\n"), "{head}");
        assert!(head.contains(&format!("content-length: {length}\r\n")), "{head}");
        let mut body = vec![0; usize::try_from(length).unwrap()];
        if socket.read_exact(&mut body).is_ok() {
            socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
        }
        told.send(body).unwrap();
    });
    let (sender, body) = OutboundBody::channel(Some(length));
    let pieces = pieces.to_vec();
    let sending = tokio::spawn(async move {
        for piece in pieces {
            let _ = sender.send(Ok(Bytes::from_static(piece.as_bytes()))).await;
        }
    });
    let answer = client(LONG).send(Request::put(endpoint("http", address), body)).await;
    sending.await.unwrap();
    thread.join().unwrap();
    (heard.recv().unwrap(), answer)
}

#[tokio::test]
async fn streamed_body_of_the_promised_length_arrives() {
    let (read, answer) = put_pieces(6, &["abc", "", "def"]).await;
    assert_eq!((read.as_slice(), answer.unwrap().status), (b"abcdef".as_slice(), 200));
}

#[tokio::test]
async fn streamed_body_of_another_length_fails() {
    for pieces in [["abc", "d"], ["abcd", "efg"]] {
        let (_, answer) = put_pieces(6, &pieces).await;
        assert!(matches!(answer, Err(Error::Protocol(_))), "{pieces:?}: {answer:?}");
    }
}

#[tokio::test]
async fn received_body_has_no_bound_and_a_refusal_has() {
    let body = "x".repeat(5 * BODY_BYTES_MAX);
    let answer = |status: &str| format!("HTTP/1.1 {status}\r\n\r\n{body}");
    let ask = async |address, room: usize| {
        let mut taken = 0;
        let mut sink = |piece: Bytes| {
            taken += piece.len();
            if taken > room { Err(io::Error::other("full")) } else { Ok(()) }
        };
        let request = Request::get(endpoint("http", address));
        let answer = client(LONG).receive(request, &mut sink).await;
        (taken, answer)
    };
    let (taken, whole) = ask(saying(answer("200 OK")), usize::MAX).await;
    assert_eq!((taken, whole.unwrap().body.len()), (5 * BODY_BYTES_MAX, 0));
    let (_, full) = ask(saying(answer("200 OK")), 10).await;
    assert!(matches!(full, Err(Error::Sink(_))), "{full:?}");
    let (taken, refused) = ask(saying(answer("403 Forbidden")), usize::MAX).await;
    assert!(matches!(refused, Err(Error::TooLarge { .. })), "{refused:?}");
    assert_eq!(taken, 0);
}

#[tokio::test]
async fn the_largest_body_is_taken_and_one_byte_more_is_not() {
    let with_length = |bytes: usize| {
        format!("HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n{}", "x".repeat(bytes))
    };
    let answer = ask(saying(with_length(BODY_BYTES_MAX))).await.unwrap();
    assert_eq!(answer.body.len(), BODY_BYTES_MAX);
    let more = ask(saying(with_length(BODY_BYTES_MAX + 1))).await;
    assert!(matches!(more, Err(Error::TooLarge { max: BODY_BYTES_MAX })), "{more:?}");
    // Without a length it shows only while it comes.
    let endless = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(BODY_BYTES_MAX + 1));
    let more = ask(saying(endless)).await;
    assert!(matches!(more, Err(Error::TooLarge { .. })), "{more:?}");
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let many = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(2 * HEAD_BYTES_MAX));
    let refused = ask(saying(many)).await;
    assert!(matches!(refused, Err(Error::Protocol(_))), "{refused:?}");
}

#[tokio::test]
async fn what_is_cut_off_or_is_not_http_is_no_answer() {
    for text in [
        "",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "SSH-2.0-OpenSSH_9.7\r\n",
        "\0\0\0\0garbage\r\n\r\n",
    ] {
        let refused = ask(saying(text)).await;
        assert!(matches!(refused, Err(Error::Protocol(_))), "{text:?}: {refused:?}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let target = elsewhere.local_addr().unwrap();
    let text =
        format!("HTTP/1.1 302 Found\r\nLocation: http://{target}/\r\nContent-Length: 0\r\n\r\n");
    let refused = ask(saying(text)).await.unwrap().success();
    assert!(matches!(refused, Err(Error::Status { status: 302 })), "{refused:?}");
    assert!(elsewhere.accept().is_err(), "nobody came");
}

#[tokio::test]
async fn a_server_that_says_nothing_or_stops_in_the_middle_is_given_up() {
    for text in ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"] {
        let (address, thread) = server(move |mut socket, _| {
            socket.write_all(text.as_bytes()).unwrap();
            // Until the client hangs up.
            let _ = socket.read(&mut [0]);
        });
        let hasty = client(Duration::from_millis(100));
        let refused = hasty.send(Request::get(endpoint("http", address))).await;
        assert!(matches!(refused, Err(Error::Timeout { .. })), "{refused:?}");
        thread.join().unwrap();
    }
}

#[tokio::test]
async fn a_handshake_that_does_not_come_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let bounds = Bounds { connect: Duration::from_millis(100), total: LONG, body_bytes: 1 };
    let refused = client(LONG).bounded(bounds).send(Request::get(endpoint("https", address))).await;
    assert!(matches!(refused, Err(Error::Timeout { what: "take the connection" })), "{refused:?}");
}

#[tokio::test]
async fn nobody_there_and_no_tls_are_told_apart() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = ask(gone).await;
    assert!(matches!(refused, Err(Error::Connect(_))), "{refused:?}");
    // Speaks first, and not TLS.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let thread = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        let _ = socket.read(&mut [0; 4_096]);
    });
    let refused = client(LONG).send(Request::get(endpoint("https", address))).await;
    assert!(matches!(refused, Err(Error::Tls(_))), "{refused:?}");
    thread.join().unwrap();
}

#[test]
fn a_file_without_certificates_is_refused() {
    let bounds = Bounds { connect: LONG, total: LONG, body_bytes: 1 };
    for pem in [
        b"".as_slice(),
        b"nonsense",
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    ] {
        let refused = Client::new(Roots::SystemAnd(pem), bounds);
        assert!(matches!(refused, Err(Error::BadRoots)), "{refused:?}");
    }
}

#[test]
fn headers_are_checked_and_not_shown() {
    let endpoint = Endpoint::parse("https://id.example/", PlainHttp::Loopback).unwrap();
    for (name, value) in [("a b", "c"), ("a", "b\nc"), ("", "c")] {
        let refused = Request::get(endpoint.clone()).header(name, value);
        assert!(matches!(refused, Err(Error::BadHeader)), "{name:?} {value:?}");
    }
    let request = Request::get(endpoint).header("Authorization", "Bearer secret").unwrap();
    assert!(!format!("{request:?}").contains("secret"));
}
