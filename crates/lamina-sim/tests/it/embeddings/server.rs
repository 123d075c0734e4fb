//! A server of embeddings that does as a test tells it: well, slowly, or badly in many ways. It speaks both
//! protocols over a real socket, and remembers what it was asked.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// Numbers of its vectors.
pub(crate) const DIMS: usize = 48;

/// How it behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    Well,
    /// Takes so long for each call about more than one text, which is not a question.
    Slowly(u64),
    NeverAnswers,
    ServerError,
    Busy,
    Unauthorized,
    HtmlPage,
    MalformedJson,
    HangsUpInTheBody,
    OneVectorMissing,
    OtherLengths,
    NotNumbers,
    ErrorBody,
    HugeBody,
    Redirects,
}

pub(crate) const BAD: &[Manner] = &[
    Manner::ServerError,
    Manner::Busy,
    Manner::Unauthorized,
    Manner::HtmlPage,
    Manner::MalformedJson,
    Manner::HangsUpInTheBody,
    Manner::OneVectorMissing,
    Manner::OtherLengths,
    Manner::NotNumbers,
    Manner::ErrorBody,
    Manner::HugeBody,
    Manner::Redirects,
    Manner::NeverAnswers,
];

/// What it was asked.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) model: String,
    pub(crate) texts: Vec<String>,
}

#[derive(Debug)]
pub(crate) struct Embeddings {
    address: SocketAddr,
    manner: Arc<Mutex<Manner>>,
    asked: Arc<Mutex<Vec<Call>>>,
}

impl Embeddings {
    /// Its threads end with the test program.
    pub(crate) fn start() -> Embeddings {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let manner = Arc::new(Mutex::new(Manner::Well));
        let asked: Arc<Mutex<Vec<Call>>> = Arc::default();
        let (shared, calls) = (Arc::clone(&manner), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shared, calls) = (Arc::clone(&shared), Arc::clone(&calls));
                std::thread::spawn(move || serve(stream, &shared, &calls));
            }
        });
        Embeddings { address, manner, asked }
    }

    pub(crate) fn behave(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    pub(crate) fn asked(&self) -> Vec<Call> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// The vector of a text: its words, each in a place of its own that depends on the model.
pub(crate) fn vector(model: &str, text: &str) -> Vec<f32> {
    let mut sum = vec![0.0_f32; DIMS];
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let hash = model
            .bytes()
            .chain(word.to_lowercase().bytes())
            .fold(7_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        for (place, sum) in (0..).zip(sum.iter_mut()) {
            *sum += f32::from((hash.rotate_left(place) & 0xff) as u8) / 256.0 - 0.5;
        }
    }
    sum
}

fn serve(mut stream: TcpStream, manner: &Mutex<Manner>, asked: &Mutex<Vec<Call>>) {
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let Some(call) = call(&mut stream) else { return };
    asked.lock().unwrap().push(call.clone());
    let manner = *manner.lock().unwrap();
    // Whoever asked may have hung up in the middle: that is its good right.
    let _ = answer(&mut stream, manner, &call);
}

fn call(stream: &mut TcpStream) -> Option<Call> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if !matches!(stream.read(&mut byte), Ok(1)) {
            return None;
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    })?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    let body: Value = serde_json::from_slice(&body).ok()?;
    let texts = body["input"].as_array()?.iter();
    Some(Call {
        path: head.split(' ').nth(1)?.to_owned(),
        head: head.clone(),
        model: body["model"].as_str()?.to_owned(),
        texts: texts.filter_map(|text| text.as_str().map(str::to_owned)).collect(),
    })
}

fn good(call: &Call, manner: Manner) -> Value {
    let mut vectors: Vec<Value> =
        call.texts.iter().map(|text| json!(vector(&call.model, text))).collect();
    match manner {
        Manner::OneVectorMissing => drop(vectors.pop()),
        Manner::OtherLengths => vectors = call.texts.iter().map(|_| json!([])).collect(),
        Manner::NotNumbers => vectors = call.texts.iter().map(|_| json!(["x", null])).collect(),
        _ => {}
    }
    if call.path.ends_with("/api/embed") {
        return json!({"model": call.model, "embeddings": vectors});
    }
    // Backwards: whoever reads it has to look at the numbers.
    let data: Vec<Value> = vectors
        .into_iter()
        .enumerate()
        .rev()
        .map(|(index, embedding)| json!({"object": "embedding", "index": index, "embedding": embedding}))
        .collect();
    json!({"object": "list", "data": data, "model": call.model})
}

fn answer(stream: &mut TcpStream, manner: Manner, call: &Call) -> std::io::Result<()> {
    let mut send = |status: &str, kind: &str, body: &str| {
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n");
        let more = if status.starts_with("302") { "Location: http://127.0.0.1:1/\r\n" } else { "" };
        stream.write_all(format!("{head}{more}\r\n{body}").as_bytes())
    };
    let json_kind = "application/json";
    let text = good(call, manner).to_string();
    match manner {
        Manner::Slowly(ms) => {
            if call.texts.len() > 1 {
                std::thread::sleep(Duration::from_millis(ms));
            }
            send("200 OK", json_kind, &text)
        }
        Manner::Well | Manner::OneVectorMissing | Manner::OtherLengths | Manner::NotNumbers => {
            send("200 OK", json_kind, &text)
        }
        Manner::NeverAnswers => stream.read(&mut [0]).map(drop),
        Manner::ServerError => send("500 Internal Server Error", json_kind, "{}"),
        Manner::Busy => send("429 Too Many Requests", json_kind, "{}"),
        Manner::Unauthorized => send("401 Unauthorized", json_kind, "{}"),
        Manner::HtmlPage => send("200 OK", "text/html", "<html>Sign in to the network</html>"),
        Manner::MalformedJson => send("200 OK", json_kind, &text[..text.len() / 2]),
        Manner::HangsUpInTheBody => stream.write_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{\"data\":",
        ),
        Manner::ErrorBody => send("200 OK", json_kind, r#"{"error": {"message": "no"}}"#),
        Manner::HugeBody => stream.write_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999999999999\r\n\r\n{",
        ),
        Manner::Redirects => send("302 Found", json_kind, "{}"),
    }
}
