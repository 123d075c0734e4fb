//! Entry points for tests that send arbitrary bytes.

use serde_json::Value;

use super::lines::{Line, next_line};
use super::rpc::{self, Incoming, Message, Unreadable};
use super::{era, fixed, profile::Profile, tools};

/// Reads a stream of lines and answers each. Panics where an answer is not one line of JSON.
pub fn stream(bytes: &[u8]) {
    let mut input = bytes;
    while let Ok(Some(line)) = next_line(&mut input) {
        let Line::Message(line) = line else { continue };
        let Some(answer) = answer_line(&line) else { continue };
        assert!(!answer.contains('\n'), "{answer}");
        let answer: Result<Value, _> = serde_json::from_str(&answer);
        assert!(answer.is_ok_and(|answer| answer.is_object() || answer.is_array()));
    }
}

/// Reads a line and answers it as far as no memory is needed. Returns the answer, if it has one.
pub fn answer_line(line: &[u8]) -> Option<String> {
    match rpc::read(line) {
        Err(unreadable) => Some(unreadable.error.answer(&unreadable.id).to_string()),
        Ok(Incoming::Single(message)) => Some(answer_message(Ok(message))?.to_string()),
        Ok(Incoming::Batch(messages)) => {
            let answers: Vec<Value> = messages.into_iter().filter_map(answer_message).collect();
            (!answers.is_empty()).then(|| Value::from(answers).to_string())
        }
    }
}

fn answer_message(message: Result<Message, Box<Unreadable>>) -> Option<Value> {
    let request = match message {
        Err(unreadable) => return Some(unreadable.error.answer(&unreadable.id)),
        Ok(Message::Notification(_) | Message::Answer) => return None,
        Ok(Message::Request(request)) => request,
    };
    let answered = match era::of_line(&request) {
        Err(error) => Err(error),
        Ok(era) => {
            fixed::answer(&request, era, Profile::Slim).unwrap_or_else(|| checked(&request, era))
        }
    };
    Some(match answered {
        Ok(result) => rpc::answer(&request.id, result),
        Err(error) => error.answer(&request.id),
    })
}

/// Holds a call of a tool against its schema.
fn checked(request: &rpc::Request, era: era::Era) -> Result<serde_json::Value, rpc::RpcError> {
    let name = request.params.get("name").and_then(serde_json::Value::as_str);
    let (Some(name), "tools/call") = (name, request.method.as_str()) else {
        return Err(era::unknown_method(&request.method, era));
    };
    let tool = tools::named(name, Profile::Slim)?;
    let arguments = request.params.get("arguments").and_then(serde_json::Value::as_object);
    let arguments = arguments.cloned().unwrap_or_default();
    Ok(match tools::check(tool, &arguments) {
        Ok(()) => serde_json::json!({}),
        Err(failure) => failure.result(),
    })
}
