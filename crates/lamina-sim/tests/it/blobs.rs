//! `/v1/blobs`: multipart and raw, sizes at the edge, metadata, deletion (R107, R331, R332, C36, C45).

use std::io::Cursor;

use image::{ImageFormat, Rgb, RgbImage};
use lamina_sim::client::Request;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::harness::{Api, Own, check_id, string};
use crate::tokens::Team;

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn raw(kind: &str, bytes: impl Into<Vec<u8>>) -> Request {
    Request::new("POST", "/v1/blobs").header("Content-Type", kind).bytes(bytes)
}

fn multipart(kind: &str, bytes: &[u8]) -> Request {
    let mut body = format!(
        "--edge\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\nContent-Type: {kind}\r\n\r\n"
    )
    .into_bytes();
    body.extend_from_slice(bytes);
    body.extend_from_slice(b"\r\n--edge--\r\n");
    raw("multipart/form-data; boundary=edge", body)
}

fn upload(api: &mut Api, kind: &str, bytes: &[u8]) -> String {
    string(&api.send(&raw(kind, bytes)).made(), "blob_id")
}

#[test]
fn r331_c36_raw_and_multipart_uploads_answer_alike() {
    let mut api = Api::shared("blob");
    let bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    for request in [raw("image/x-unknown", bytes.clone()), multipart("image/x-unknown", &bytes)] {
        let answer = api.send(&request).made();
        let id = string(&answer, "blob_id");
        check_id(&id, "blob");
        assert_eq!(answer["size_bytes"], 70_000);
        assert_eq!(answer["content_type"], "image/x-unknown");
        assert_eq!(answer["sha256"], sha256(&bytes));
        let read = api.get(&format!("/v1/blobs/{id}")).response;
        assert_eq!(read.status, 200);
        assert_eq!(read.header("content-type"), Some("image/x-unknown"), "R332");
        assert_eq!(read.header("content-length"), Some("70000"));
        assert!(read.body == bytes, "the bytes come back as they went in");
    }
}

#[test]
fn an_empty_blob_and_one_without_a_type_are_blobs() {
    let mut api = Api::shared("blob-empty");
    let id = upload(&mut api, "text/plain", b"");
    let read = api.get(&format!("/v1/blobs/{id}")).response;
    assert_eq!((read.status, read.body.len()), (200, 0));
    let answer = api.send(&Request::new("POST", "/v1/blobs").bytes("x")).made();
    assert_eq!(answer["content_type"], "application/octet-stream");
}

/// C45: 413 with an envelope, and the last byte that fits does fit.
#[test]
fn c45_the_size_limit_is_exact_for_both_ways() {
    let own = Own::start_with(&[("LAMINA_LIMITS_BLOB_BYTES", "5000")]);
    let mut api = own.api("blob-size");
    let bytes = vec![7u8; 5_001];
    for make in [raw_of as fn(&[u8]) -> Request, multipart_of] {
        let answer = api.send(&make(&bytes[..5_000])).made();
        assert_eq!(answer["size_bytes"], 5_000);
        let error = api.send(&make(&bytes)).fails(413, "BLOB_TOO_LARGE");
        assert!(error.to_string().contains("5000"), "{error}");
    }
    // Many times the limit, and without saying so in advance.
    api.send(&raw_of(&vec![1u8; 3_000_000])).fails(413, "BLOB_TOO_LARGE");
    let mut head = b"POST /v1/blobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: a/b\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..4 {
        head.extend_from_slice(b"800\r\n");
        head.extend_from_slice(&[b'x'; 0x800]);
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"0\r\n\r\n");
    let response = api.client.send_raw(&head).unwrap();
    assert_eq!(response.status, 413, "{}", response.text());
    assert_eq!(response.json().unwrap()["error_code"], "BLOB_TOO_LARGE");
    // Nothing of the refused ones is left behind.
    own.api("after").write("still healthy");
    let directory = own.stop();
    let output = lamina_sim::process::run(
        &crate::harness::binary(),
        &["check", "--data", crate::harness::data(directory.path()).to_str().unwrap()],
    )
    .unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn raw_of(bytes: &[u8]) -> Request {
    raw("application/octet-stream", bytes)
}

fn multipart_of(bytes: &[u8]) -> Request {
    multipart("application/octet-stream", bytes)
}

/// R107: images are indexed by a hash of how they look.
#[test]
fn r107_images_get_a_perceptual_hash_that_survives_rescaling() {
    let mut api = Api::shared("blob-image");
    let hash = |api: &mut Api, picture: &RgbImage, format: ImageFormat, kind: &str| {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, format).unwrap();
        let answer = api.send(&raw(kind, bytes.into_inner())).made();
        let hash = answer["perceptual_hash"].as_str().unwrap_or_else(|| panic!("{answer}"));
        u64::from_str_radix(hash, 16).unwrap_or_else(|_| panic!("16 hex digits, not {hash}"))
    };
    let gradient = |width: u32, height: u32| {
        RgbImage::from_fn(width, height, |x, y| {
            Rgb([(x * 255 / width) as u8, (y * 255 / height) as u8, 40])
        })
    };
    let checks = RgbImage::from_fn(64, 64, |x, y| {
        let on = (x / 8 + y / 8) % 2 == 0;
        Rgb([if on { 255 } else { 0 }; 3])
    });
    let small = hash(&mut api, &gradient(48, 48), ImageFormat::Png, "image/png");
    let large = hash(&mut api, &gradient(200, 200), ImageFormat::Png, "image/png");
    let lossy = hash(&mut api, &gradient(120, 120), ImageFormat::Jpeg, "image/jpeg");
    let other = hash(&mut api, &checks, ImageFormat::Png, "image/png");
    let distance = |a: u64, b: u64| (a ^ b).count_ones();
    assert!(distance(small, large) <= 8, "{small:x} {large:x}");
    assert!(distance(small, lossy) <= 10, "{small:x} {lossy:x}");
    assert!(distance(small, other) > 10, "{small:x} {other:x}");
}

#[test]
fn what_only_claims_to_be_an_image_is_stored_without_a_hash() {
    let mut api = Api::shared("blob-fake");
    let mut bomb = Vec::new();
    // A PNG head that announces 60000 x 60000 pixels and then ends.
    bomb.extend_from_slice(b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR\x00\x00\xea\x60\x00\x00\xea\x60\x08\x02\x00\x00\x00");
    for bytes in [b"not a picture".to_vec(), bomb, vec![0xFF, 0xD8, 0xFF]] {
        let answer = api.send(&raw("image/png", bytes.clone())).made();
        assert!(answer.get("perceptual_hash").is_none_or(Value::is_null), "{answer}");
        let id = string(&answer, "blob_id");
        assert!(api.get(&format!("/v1/blobs/{id}")).response.body == bytes);
    }
}

#[test]
fn a_blob_can_be_deleted_until_an_event_needs_it() {
    let mut api = Api::shared("blob-delete");
    let free = upload(&mut api, "text/plain", b"12345");
    let answer = api.delete(&format!("/v1/blobs/{free}")).ok(200);
    assert_eq!(answer["blob_id"], free);
    assert_eq!(answer["bytes_deleted"], 5);
    for method in ["GET", "DELETE"] {
        let request = Request::new(method, &format!("/v1/blobs/{free}"));
        let answer = api.send(&request);
        assert!(matches!(answer.response.status, 404 | 410), "{method}");
    }
    let used = upload(&mut api, "text/plain", b"in use");
    let mut envelope = api.envelope("see attachment");
    envelope["content"]["media"] = json!([{"blob_id": used}]);
    api.write_envelope(&envelope);
    api.delete(&format!("/v1/blobs/{used}")).fails(409, "BLOB_IN_USE");
    assert_eq!(api.get(&format!("/v1/blobs/{used}")).response.body, b"in use");
    // A deleted blob cannot be referred to any more.
    envelope["content"]["media"] = json!([{"blob_id": free}]);
    envelope["idempotency_key"] = json!(crate::harness::unique_key());
    api.post("/v1/experience", &envelope).fails(422, "INVALID_ENVELOPE");
}

#[test]
fn unknown_and_malformed_blob_ids() {
    let mut api = Api::shared("blob-ids");
    let unknown = "blob_01890000000070008000000000000000";
    api.get(&format!("/v1/blobs/{unknown}")).fails(404, "NOT_FOUND");
    api.delete(&format!("/v1/blobs/{unknown}")).fails(404, "NOT_FOUND");
    let event = api.write("x");
    for bad in [event.as_str(), "blob_", "blob_..%2F..%2Fkeys", "..", "%2e%2e%2f", "blob_%00"] {
        for method in ["GET", "DELETE"] {
            let answer = api.send(&Request::new(method, &format!("/v1/blobs/{bad}")));
            let status = answer.response.status;
            assert!(matches!(status, 404 | 422), "{method} {bad}: {status}");
        }
    }
}

#[test]
fn a_broken_multipart_body_is_refused() {
    let mut api = Api::shared("blob-multipart");
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("multipart/form-data", b"--edge\r\n".to_vec()),
        ("multipart/form-data; boundary=edge", b"".to_vec()),
        ("multipart/form-data; boundary=edge", b"no boundary at all".to_vec()),
        (
            "multipart/form-data; boundary=edge",
            b"--edge\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\nnever ends".to_vec(),
        ),
        (
            "multipart/form-data; boundary=edge",
            b"--edge\r\nContent-Disposition: form-data; name=\"other\"\r\n\r\nx\r\n--edge--\r\n"
                .to_vec(),
        ),
    ];
    for (kind, body) in cases {
        let shown = String::from_utf8_lossy(&body).into_owned();
        let answer = api.send(&raw(kind, body));
        let status = answer.response.status;
        assert!(matches!(status, 400 | 415 | 422), "{kind} {shown}: {}", answer.response.text());
    }
}

/// The type comes back as it was given, so it must not be able to smuggle headers.
#[test]
fn a_content_type_cannot_break_out_of_its_header() {
    let mut api = Api::shared("blob-type");
    let long = format!("text/{}", "x".repeat(2_000));
    for kind in ["text/plain; charset=utf-8", "application/vnd.ü+json", long.as_str(), "nonsense"]
    {
        let answer = api.send(&raw(kind, "x"));
        let status = answer.response.status;
        if matches!(status, 200 | 201) {
            let id = string(&answer.response.json().unwrap(), "blob_id");
            let read = api.get(&format!("/v1/blobs/{id}")).response;
            assert_eq!(read.all("content-type").count(), 1, "{kind}");
        } else {
            assert!(matches!(status, 400 | 415 | 422), "{kind}: {status}");
        }
    }
    let read = {
        let id = upload(&mut api, "text/html", b"<script>alert(1)</script>");
        api.get(&format!("/v1/blobs/{id}")).response
    };
    assert_eq!(read.header("x-content-type-options"), Some("nosniff"));
}

/// R197, R210: the header makes an upload repeatable.
#[test]
fn r197_r210_an_upload_sent_again_is_the_same_blob() {
    let own = Own::start();
    let mut api = own.api("blob-key");
    let key = crate::harness::unique_key();
    let keyed = |request: Request| request.header("X-Cortex-Idempotency-Key", &key);
    let first = api.send(&keyed(raw("text/plain", "words"))).made();
    let again = api.send(&keyed(raw("text/plain", "words")));
    assert_eq!(again.response.header("x-cortex-replay"), Some("true"));
    assert_eq!(again.made(), first);
    let form = api.send(&keyed(multipart("text/plain", b"words")));
    assert_eq!(form.made()["blob_id"], first["blob_id"], "the bytes count, not how they came");
    for other in [raw("text/plain", "others"), raw("text/html", "words")] {
        api.send(&keyed(other)).fails(409, "IDEMPOTENCY_CONFLICT");
    }
    let unkeyed = api.send(&raw("text/plain", "words"));
    assert_eq!(unkeyed.response.header("x-cortex-replay"), None);
    assert_ne!(unkeyed.made()["blob_id"], first["blob_id"]);
    let bob = keyed(raw("text/plain", "words")).header("X-Cortex-Actor", "user:bob");
    assert_ne!(api.send(&bob).made()["blob_id"], first["blob_id"], "R429: keys are the caller's");
    // A write may use the same key: it is another family.
    let mut envelope = api.envelope("hello");
    envelope["idempotency_key"] = json!(key);
    api.post("/v1/experience", &envelope).ok(202);
    let long = raw("text/plain", "x").header("X-Cortex-Idempotency-Key", "k".repeat(65));
    api.send(&long).fails_at(422, "INVALID_PARAMETER", "X-Cortex-Idempotency-Key");
    let scope = api.scope.clone();
    let own = own.crash();
    let mut api = own.api("blob-key");
    api.scope = scope;
    let again = api.send(&keyed(raw("text/plain", "words")));
    assert_eq!(again.response.header("x-cortex-replay"), Some("true"), "also after a crash");
    assert_eq!(again.made(), first);
    let id = string(&first, "blob_id");
    api.delete(&format!("/v1/blobs/{id}")).ok(200);
    let anew = api.send(&keyed(raw("text/plain", "words")));
    assert_eq!(anew.response.header("x-cortex-replay"), None);
    assert_ne!(anew.made()["blob_id"], first["blob_id"], "what was removed can be uploaded anew");
}

/// Whoever uploads a blob can take it back; others' are for operators.
#[test]
fn a_blob_is_deleted_by_who_uploaded_it_or_an_operator() {
    let operator = [("LAMINA_AUTH_OPERATORS", "acme/user:root")];
    let team = Team::start_with("on_prem_enterprise", &operator);
    let mut alice = team.caller("acme", "user:alice");
    let mut bob = team.caller("acme", "user:bob");
    let mut root = team.caller("acme", "user:root");
    let mut uploaded = || string(&alice.send(raw("text/plain", "mine")).ok(201), "blob_id");
    let (one, other) = (uploaded(), uploaded());
    let delete = |id: &str| Request::new("DELETE", &format!("/v1/blobs/{id}"));
    bob.send(delete(&one)).fails(404, "NOT_FOUND");
    bob.get(&format!("/v1/blobs/{one}")).fails(404, "NOT_FOUND");
    team.caller("other", "user:alice").send(delete(&one)).fails(404, "NOT_FOUND");
    alice.send(delete(&one)).ok(200);
    root.send(delete(&other)).ok(200);
    bob.get(&format!("/v1/blobs/{other}")).fails(404, "NOT_FOUND");
}

fn referring(scope: &str, blob: &str) -> Value {
    let mut body = crate::harness::envelope(scope, "with a picture");
    body["content"]["media"] = json!([{"blob_id": blob}]);
    body
}

/// A blob is read by its uploader and by readers of a scope with an event that refers to it, and referring
/// to it takes the same right.
#[test]
fn blob_of_a_closed_scope_is_absent_for_everybody_else() {
    let team = Team::start("on_prem_enterprise");
    let mut alice = team.caller("acme", "user:carol");
    let mut bob = team.caller("acme", "user:bob");
    let id = string(&alice.send(raw("text/plain", "her secret")).ok(201), "blob_id");
    let target = format!("/v1/blobs/{id}");
    alice.post("/v1/experience?wait=settled", &referring("user:carol", &id)).ok(200);
    bob.get(&target).fails(404, "NOT_FOUND");
    bob.send(Request::new("DELETE", &target)).fails(404, "NOT_FOUND");
    // Nor does referring to it let anybody in, alone or in a batch.
    let field = "content.media[0].blob_id";
    let stolen = referring("user:bob", &id);
    bob.post("/v1/experience", &stolen).fails_at(422, "INVALID_ENVELOPE", field);
    let batch = json!({"items": [stolen]});
    let field = format!("items[0].{field}");
    bob.post("/v1/experience/bulk", &batch).fails_at(422, "INVALID_ENVELOPE", &field);
    bob.get(&target).fails(404, "NOT_FOUND");
    team.caller("other", "user:carol").get(&target).fails(404, "NOT_FOUND");
    // Where she shares it, readers of that scope have it, and may pass it on.
    alice.post("/v1/experience?wait=settled", &referring("ws:plan", &id)).ok(200);
    assert_eq!(bob.get(&target).response.body, b"her secret");
    bob.post("/v1/experience", &referring("user:bob", &id)).ok(202);
}

/// An erasure of the person who uploaded a blob removes its bytes, whoever else refers to it; a legal hold on a
/// scope that refers to one keeps it, and the certificate says so.
#[test]
fn blob_of_an_erased_person_is_gone_for_everybody_but_under_a_hold() {
    let team = Team::start("on_prem_enterprise");
    let mut admin = team.caller("acme", "user:alice");
    let mut carol = team.caller("acme", "user:carol");
    let mut bob = team.caller("acme", "user:bob");
    let mut share = |bytes: &str, place: &str| {
        let id = string(&carol.send(raw("text/plain", bytes)).ok(201), "blob_id");
        carol.post("/v1/experience?wait=settled", &referring("user:carol", &id)).ok(200);
        carol.post("/v1/experience?wait=settled", &referring(place, &id)).ok(200);
        id
    };
    let (shared, held) = (share("shared", "ws:plan"), share("evidence", "ws:court"));
    let said = bob.post("/v1/experience?wait=settled", &referring("ws:bob", &shared)).ok(200);
    bob.post("/v1/experience?wait=settled", &referring("ws:court", &held)).ok(200);
    let hold = json!({"scope": "ws:court", "reason": "a trial"});
    admin.send(Request::new("PUT", "/v1/admin/legal-holds").json(&hold)).ok(200);
    let erase = json!({"scope": "user:carol", "confirm_all": true});
    let begun = carol.post("/v1/erasures", &erase).ok(202);
    let target = format!("/v1/erasures/{}", string(&begun, "erasure_id"));
    let done = loop {
        let job = carol.get(&target).ok(200);
        if job["status"] == "completed" {
            break job;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let kept = &done["certificate"]["kept"];
    assert_eq!(kept["blobs_under_legal_hold"], 1, "{done}");
    // The event of somebody else stays, and its blob is gone.
    bob.get(&format!("/v1/events/{}", string(&said, "event_id"))).ok(200);
    bob.get(&format!("/v1/blobs/{shared}")).fails(410, "RESOURCE_DELETED");
    assert_eq!(bob.get(&format!("/v1/blobs/{held}")).response.body, b"evidence");
}
