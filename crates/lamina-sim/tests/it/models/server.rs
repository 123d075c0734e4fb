//! A provider of a language model that does as a test tells it: well, or badly in many ways. It speaks
//! the three protocols, and everything it says goes over a real socket.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// How it behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    Well,
    NeverAnswers,
    DripsSlowly,
    BusyWithRetryAfter,
    BusyForever,
    ServerError,
    Overloaded,
    Unauthorized,
    NotFound,
    RequestTooLarge,
    Redirects,
    HangsUpAtOnce,
    HangsUpInTheHead,
    HangsUpInTheBody,
    PromisesMoreThanItSends,
    NotHttp,
    HeadersWithoutEnd,
    BrokenChunks,
    HugeBody,
    AbsurdLength,
    HtmlPage,
    EmptyBody,
    MalformedJson,
    DeepJson,
    ErrorBody,
    NoChoices,
    Refusal,
    ContentFilter,
    CutByTokens,
    EmptyContent,
    ProseContent,
    PartialContent,
    NotANumber,
    WrongShape,
    NullEvents,
    OtherEvents,
    EveryEventTwice,
    OneEventMissing,
    ClaimsAreText,
    InventedQuotes,
    WordsOfAnotherEvent,
    UnknownRelation,
    ThousandsOfClaims,
    AbsurdUsage,
    NegativeUsage,
    NoUsage,
}

/// What it was asked.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) path: String,
    pub(crate) head: String,
    pub(crate) body: Value,
    /// Ids and texts.
    pub(crate) events: Vec<(String, String)>,
}

/// The provider.
#[derive(Debug)]
pub(crate) struct Provider {
    pub(crate) address: SocketAddr,
    manner: Arc<Mutex<Manner>>,
    asked: Arc<Mutex<Vec<Question>>>,
}

impl Provider {
    /// Its threads end with the test program.
    pub(crate) fn start() -> Provider {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let manner = Arc::new(Mutex::new(Manner::Well));
        let asked: Arc<Mutex<Vec<Question>>> = Arc::default();
        let (shared, questions) = (Arc::clone(&manner), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shared, questions) = (Arc::clone(&shared), Arc::clone(&questions));
                std::thread::spawn(move || serve(stream, &shared, &questions));
            }
        });
        Provider { address, manner, asked }
    }

    pub(crate) fn behave(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    pub(crate) fn asked(&self) -> Vec<Question> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

fn serve(mut stream: TcpStream, manner: &Mutex<Manner>, asked: &Mutex<Vec<Question>>) {
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let Some(question) = question(&mut stream) else { return };
    asked.lock().unwrap().push(question.clone());
    let manner = *manner.lock().unwrap();
    // Whoever asked may have hung up in the middle: that is its good right.
    let _ = answer(&mut stream, manner, &question);
}

fn question(stream: &mut TcpStream) -> Option<Question> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if !matches!(stream.read(&mut byte), Ok(1)) {
            return None;
        }
        if head.is_empty() && !byte[0].is_ascii_alphabetic() {
            // Somebody wants TLS, and is told in the clear that there is none.
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
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
    let messages = body["messages"].as_array()?;
    let shown: Value = serde_json::from_str(messages.last()?["content"].as_str()?).ok()?;
    let text = |event: &Value, name: &str| event[name].as_str().unwrap_or_default().to_owned();
    let events = shown["events"].as_array()?.iter();
    let events = events.map(|event| (text(event, "id"), text(event, "text"))).collect();
    let path = head.split(' ').nth(1)?.to_owned();
    Some(Question { path, head, body, events })
}

/// What it finds in a text: where people live, in German, in words that the rules do not know.
fn claims(text: &str) -> Vec<Value> {
    let place = text.strip_prefix("Zuhause bin ich in ").and_then(|rest| rest.split('.').next());
    place
        .map(|place| claim("lives_in", place, &format!("Zuhause bin ich in {place}")))
        .into_iter()
        .collect()
}

fn claim(predicate: &str, quote: &str, clause: &str) -> Value {
    json!({
        "subject": "speaker", "subject_relation": null, "subject_kind": "person",
        "predicate": predicate, "quote": quote, "clause": clause, "effect": "holds",
        "since": null, "until": null, "confidence": 0.9,
    })
}

fn entry(id: &str, claims: &[Value]) -> Value {
    json!({"id": id, "claims": claims})
}

/// The model's own words.
fn output(manner: Manner, events: &[(String, String)]) -> String {
    let good: Vec<Value> = events.iter().map(|(id, text)| entry(id, &claims(text))).collect();
    let each = |claims: &[Value]| -> Vec<Value> {
        events.iter().map(|(id, _)| entry(id, claims)).collect()
    };
    let listed = match manner {
        Manner::EmptyContent => return String::new(),
        Manner::ProseContent => return "Certainly! I found the following facts:".to_owned(),
        Manner::PartialContent => {
            let whole = json!({ "events": good }).to_string();
            return whole.get(..whole.len() / 2).unwrap_or_default().to_owned();
        }
        Manner::NotANumber => {
            let whole = json!({ "events": each(&[claim("likes", "Acme", "I work at Acme")]) });
            return whole.to_string().replace("0.9", "NaN");
        }
        Manner::WrongShape => return json!({"facts": good}).to_string(),
        Manner::NullEvents => return json!({"events": null}).to_string(),
        Manner::OtherEvents => {
            let mut all = vec![entry("e1", &[claim("lives_in", "Atlantis", "I live in Atlantis")])];
            all.extend(good);
            all
        }
        Manner::EveryEventTwice => {
            let lies = each(&[claim("lives_in", "Atlantis", "I live in Atlantis")]);
            good.into_iter().chain(lies).collect()
        }
        Manner::OneEventMissing if events.len() > 1 => good.into_iter().skip(1).collect(),
        Manner::ClaimsAreText => {
            events.iter().map(|(id, _)| json!({"id": id, "claims": "none"})).collect()
        }
        Manner::InventedQuotes => each(&[
            claim("lives_in", "Atlantis", "I live in Atlantis"),
            claim("works_at", "Initech", "I work at Acme"),
            claim("age", "Acme", "I work at Acme"),
            claim("works_at", "", ""),
        ]),
        Manner::WordsOfAnotherEvent => {
            each(&[claim("lives_in", "Kiel", "Zuhause bin ich in Kiel")])
        }
        Manner::UnknownRelation => each(&[claim("owes_money_to", "Acme", "I work at Acme")]),
        Manner::ThousandsOfClaims => {
            each(&vec![claim("lives_in", "Atlantis", "I live in Atlantis"); 200])
        }
        _ => good,
    };
    json!({ "events": listed }).to_string()
}

/// The body of an answer in the protocol of the question.
fn body(manner: Manner, question: &Question) -> Value {
    let said = output(manner, &question.events);
    let usage = |input: &str, output: &str| match manner {
        Manner::AbsurdUsage => json!({input: u64::MAX, output: u64::MAX}),
        Manner::NegativeUsage => json!({input: -5, output: -5}),
        Manner::NoUsage => Value::Null,
        _ => json!({input: 700, output: 60}),
    };
    match question.path.as_str() {
        "/v1/messages" => json!({
            "type": "message", "role": "assistant", "stop_reason": "tool_use",
            "content": [{
                "type": "tool_use", "id": "toolu_1", "name": "record_claims",
                "input": serde_json::from_str::<Value>(&said).unwrap_or(Value::Null),
            }],
            "usage": usage("input_tokens", "output_tokens"),
        }),
        "/api/chat" => json!({
            "model": "m", "done": true, "done_reason": "stop",
            "message": {"role": "assistant", "content": said},
            "prompt_eval_count": 700, "eval_count": 60,
        }),
        _ => {
            let refusal = (manner == Manner::Refusal).then_some("I cannot help with that.");
            let end = match manner {
                Manner::CutByTokens => "length",
                Manner::ContentFilter => "content_filter",
                _ => "stop",
            };
            let message = json!({"role": "assistant", "content": said, "refusal": refusal});
            let choices = match manner {
                Manner::NoChoices => json!([]),
                _ => json!([{"index": 0, "message": message, "finish_reason": end}]),
            };
            json!({"choices": choices, "usage": usage("prompt_tokens", "completion_tokens")})
        }
    }
}

fn answer(stream: &mut TcpStream, manner: Manner, question: &Question) -> std::io::Result<()> {
    let good = body(manner, question).to_string();
    let error = json!({"error": {"message": "no", "type": "some_error"}}).to_string();
    let head = |status: &str, kind: &str, length: usize| {
        format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\r\n")
    };
    let json_head = |length: usize| head("200 OK", "application/json", length);
    let refuse = |stream: &mut TcpStream, status: &str, more: &str| {
        let text = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{more}\r\n{error}",
            error.len()
        );
        stream.write_all(text.as_bytes())
    };
    let half = good.get(..good.len() / 2).unwrap_or_default();
    match manner {
        Manner::NeverAnswers => {
            let mut byte = [0];
            stream.read(&mut byte).map(drop)
        }
        Manner::DripsSlowly => {
            stream.write_all(json_head(good.len()).as_bytes())?;
            for byte in good.as_bytes() {
                stream.write_all(std::slice::from_ref(byte))?;
                std::thread::sleep(Duration::from_millis(100));
            }
            Ok(())
        }
        Manner::BusyWithRetryAfter => refuse(stream, "429 Too Many Requests", "Retry-After: 0\r\n"),
        Manner::BusyForever => refuse(stream, "429 Too Many Requests", "Retry-After: soon\r\n"),
        Manner::ServerError => refuse(stream, "500 Internal Server Error", ""),
        Manner::Overloaded => refuse(stream, "529 Overloaded", ""),
        Manner::Unauthorized => refuse(stream, "401 Unauthorized", ""),
        Manner::NotFound => refuse(stream, "404 Not Found", ""),
        Manner::RequestTooLarge => refuse(stream, "413 Content Too Large", ""),
        Manner::Redirects => refuse(stream, "302 Found", "Location: http://127.0.0.1:1/\r\n"),
        Manner::HangsUpAtOnce => Ok(()),
        Manner::HangsUpInTheHead => stream.write_all(b"HTTP/1.1 200 OK\r\nContent-"),
        Manner::HangsUpInTheBody => {
            stream.write_all(json_head(good.len()).as_bytes())?;
            stream.write_all(half.as_bytes())
        }
        Manner::PromisesMoreThanItSends => {
            stream.write_all(json_head(good.len() + 1_000).as_bytes())?;
            stream.write_all(good.as_bytes())
        }
        Manner::NotHttp => stream.write_all(b"\x16\x03\x01 hello, this is no HTTP at all\r\n\r\n"),
        Manner::HeadersWithoutEnd => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
            for _ in 0..20_000 {
                stream.write_all(b"X-Filler: 0123456789abcdef0123456789abcdef\r\n")?;
            }
            Ok(())
        }
        Manner::BrokenChunks => stream.write_all(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
        ),
        Manner::HugeBody => {
            stream.write_all(json_head(64 << 20).as_bytes())?;
            let piece = vec![b' '; 1 << 20];
            (0..64).try_for_each(|_| stream.write_all(&piece))
        }
        Manner::AbsurdLength => {
            let text = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999999999999\r\n\r\n{";
            stream.write_all(text.as_bytes())
        }
        Manner::HtmlPage => {
            let page = "<html><body>Sign in to the network</body></html>";
            stream.write_all(head("200 OK", "text/html", page.len()).as_bytes())?;
            stream.write_all(page.as_bytes())
        }
        Manner::EmptyBody => stream.write_all(json_head(0).as_bytes()),
        Manner::MalformedJson => {
            stream.write_all(json_head(half.len()).as_bytes())?;
            stream.write_all(half.as_bytes())
        }
        Manner::DeepJson => {
            let deep = "[".repeat(50_000);
            stream.write_all(json_head(deep.len()).as_bytes())?;
            stream.write_all(deep.as_bytes())
        }
        Manner::ErrorBody => {
            stream.write_all(json_head(error.len()).as_bytes())?;
            stream.write_all(error.as_bytes())
        }
        _ => {
            stream.write_all(json_head(good.len()).as_bytes())?;
            stream.write_all(good.as_bytes())
        }
    }
}
