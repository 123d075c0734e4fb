//! HTTP/2 with prior knowledge: the same answers, many at once on one connection.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2::{self, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::harness::{Api, unique_key};

type Sender = SendRequest<Full<Bytes>>;

async fn connect(api: &Api) -> Sender {
    let socket = TcpStream::connect(api.client.address()).await.unwrap();
    let (sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(socket)).await.unwrap();
    // Ends with the runtime of the test.
    tokio::spawn(connection);
    sender
}

async fn send(
    sender: &mut Sender,
    request: http::Request<Full<Bytes>>,
) -> (http::response::Parts, Bytes) {
    let (head, body) = sender.send_request(request).await.unwrap().into_parts();
    (head, body.collect().await.unwrap().to_bytes())
}

fn request(api: &Api, method: &str, target: &str, body: &Value) -> http::Request<Full<Bytes>> {
    let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
    http::Request::builder()
        .method(method)
        .uri(format!("http://{}{target}", api.client.address()))
        .header("content-type", "application/json")
        .body(Full::new(body))
        .unwrap()
}

#[tokio::test(flavor = "current_thread")]
async fn a_write_and_a_read_over_http2() {
    let mut api = Api::shared("http2");
    let mut sender = connect(&api).await;
    let envelope = api.envelope("over two");
    let target = "/v1/experience?wait=settled";
    let (head, body) = send(&mut sender, request(&api, "POST", target, &envelope)).await;
    assert_eq!(head.version, http::Version::HTTP_2);
    assert_eq!(head.status, 200);
    assert!(head.headers.contains_key("x-cortex-request-id"));
    assert_eq!(head.headers["x-cortex-stability"], "stable");
    let id =
        serde_json::from_slice::<Value>(&body).unwrap()["event_id"].as_str().unwrap().to_owned();
    let target = format!("/v1/events/{id}");
    let (head, body) = send(&mut sender, request(&api, "GET", &target, &Value::Null)).await;
    assert_eq!(head.status, 200);
    let over_two: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(over_two, api.event(&id), "the same over HTTP/1.1");
}

#[tokio::test(flavor = "current_thread")]
async fn errors_have_the_same_envelope_over_http2() {
    let api = Api::shared("http2");
    let mut sender = connect(&api).await;
    for (method, target, body, status, code) in [
        ("GET", "/v1/nothing", Value::Null, 404, "NOT_FOUND"),
        ("DELETE", "/v1/experience", Value::Null, 405, "METHOD_NOT_ALLOWED"),
        ("POST", "/v1/experience", json!([1]), 422, "INVALID_BODY"),
    ] {
        let (head, body) = send(&mut sender, request(&api, method, target, &body)).await;
        assert_eq!(head.status, status, "{target}");
        let error: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(error["error_code"], code);
        assert_eq!(error["request_id"], head.headers["x-cortex-request-id"].to_str().unwrap());
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_hundred_writes_share_one_connection() {
    let mut api = Api::shared("http2-many");
    let sender = connect(&api).await;
    let writes: Vec<_> = (0..100)
        .map(|number| {
            let mut envelope = api.envelope(&format!("n{number}"));
            envelope["idempotency_key"] = json!(unique_key());
            let request = request(&api, "POST", "/v1/experience", &envelope);
            let mut sender = sender.clone();
            tokio::spawn(async move { send(&mut sender, request).await.0.status })
        })
        .collect();
    for write in writes {
        assert_eq!(write.await.unwrap(), 202);
    }
    let scope = api.scope.clone();
    assert_eq!(api.list(&format!("scope={scope}&limit=1000")).len(), 100);
}
