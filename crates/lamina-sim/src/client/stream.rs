//! Reads a `text/event-stream` with a deadline for every event.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use anyhow::Context;
use serde_json::Value;

use super::chunked::Chunked;
use super::{Connection, Deadline, Response};

/// One event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamEvent {
    /// The `event:` field.
    pub event: String,
    /// The `id:` field.
    pub id: Option<String>,
    /// The `data:` lines, joined.
    pub data: String,
}

/// What a wait for the next event ended with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// An event.
    Event(StreamEvent),
    /// The server closed the stream.
    Closed,
    /// Nothing but comments came in time.
    Quiet,
}

/// An open event stream.
#[derive(Debug)]
pub struct EventStream {
    connection: Connection,
    head: Response,
    decoder: Option<Chunked>,
    text: Vec<u8>,
    ready: VecDeque<StreamEvent>,
    comments: usize,
}

impl StreamEvent {
    /// The data as JSON.
    pub fn json(&self) -> anyhow::Result<Value> {
        serde_json::from_str(&self.data).with_context(|| format!("not JSON: {}", self.data))
    }
}

impl EventStream {
    pub(super) fn new(connection: Connection, head: Response) -> EventStream {
        let chunked = head.header("transfer-encoding") == Some("chunked");
        EventStream {
            connection,
            head,
            decoder: chunked.then(Chunked::default),
            text: Vec::new(),
            ready: VecDeque::new(),
            comments: 0,
        }
    }

    /// The head of the answer.
    pub fn head(&self) -> &Response {
        &self.head
    }

    /// How many comment blocks (keep-alives) came so far.
    pub fn comments(&self) -> usize {
        self.comments
    }

    /// Waits for the next event.
    pub fn next_within(&mut self, timeout: Duration) -> anyhow::Result<Next> {
        let deadline = Deadline::after(timeout);
        loop {
            self.decode()?;
            if let Some(event) = self.ready.pop_front() {
                return Ok(Next::Event(event));
            }
            if self.decoder.as_ref().is_some_and(Chunked::is_done) {
                return Ok(Next::Closed);
            }
            if deadline.passed() {
                return Ok(Next::Quiet);
            }
            match self.connection.fill(&deadline) {
                Ok(true) => {}
                Ok(false) => return Ok(Next::Closed),
                Err(_) if deadline.passed() => return Ok(Next::Quiet),
                Err(error) if timed_out(&error) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn decode(&mut self) -> anyhow::Result<()> {
        match &mut self.decoder {
            Some(decoder) => {
                let used = decoder.feed(&self.connection.pending, &mut self.text)?;
                self.connection.pending.drain(..used);
            }
            None => self.text.append(&mut self.connection.pending),
        }
        while let Some(end) = self.text.windows(2).position(|two| two == b"\n\n") {
            let block: Vec<u8> = self.text.drain(..end + 2).collect();
            let block = String::from_utf8(block).context("an event that is not text")?;
            match parse(&block) {
                Some(event) => self.ready.push_back(event),
                None => self.comments += 1,
            }
        }
        Ok(())
    }
}

fn timed_out(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| {
        matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
    })
}

/// One block of lines; `None` if it holds comments only.
pub(super) fn parse(block: &str) -> Option<StreamEvent> {
    let mut event = StreamEvent::default();
    let mut data: Vec<&str> = Vec::new();
    let mut any = false;
    for line in block.lines().filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "" | "retry" => continue,
            "event" => event.event = value.to_owned(),
            "id" => event.id = Some(value.to_owned()),
            "data" => data.push(value),
            _ => {}
        }
        any = true;
    }
    event.data = data.join("\n");
    any.then_some(event)
}
