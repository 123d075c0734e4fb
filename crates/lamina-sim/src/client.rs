//! A small HTTP/1.1 client over a plain socket.
//!
//! Tests must be able to send what no library would: broken bytes, half a body, a body that trickles.
//! So the client writes and reads the wire itself, hides nothing (headers stay a list, in order), and
//! every wait ends at a deadline.

mod chunked;
mod deadline;
mod stream;

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;

use chunked::Chunked;
pub use deadline::Deadline;
pub use stream::{EventStream, Next, StreamEvent};

/// How long a test waits for an answer before it calls the server stuck.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// More head than this is not an answer of our server.
const HEAD_BYTES_MAX: usize = 256 * 1_024;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// `GET`, `POST`, or anything that a test wants to see refused.
    pub method: String,
    /// Path and query, sent as they are.
    pub target: String,
    /// In the order they are sent; `Host` and `Content-Length` are added unless they are here.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body; `None` sends no `Content-Length`.
    pub body: Option<Vec<u8>>,
}

/// What came back.
#[derive(Debug, Clone)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Names in lower case, in the order they came.
    pub headers: Vec<(String, String)>,
    /// The decoded body.
    pub body: Vec<u8>,
}

/// One connection at a time, kept alive between requests.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    timeout: Duration,
    connection: Option<Connection>,
}

impl Request {
    /// A request without a body.
    pub fn new(method: &str, target: &str) -> Request {
        Request {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: Vec::new(),
            body: None,
        }
    }

    /// A `GET`.
    pub fn get(target: &str) -> Request {
        Request::new("GET", target)
    }

    /// A `POST` of a JSON value.
    pub fn post(target: &str, body: &Value) -> Request {
        Request::new("POST", target).json(body)
    }

    /// The same with a JSON body.
    pub fn json(self, body: &Value) -> Request {
        self.header("Content-Type", "application/json").bytes(body.to_string().into_bytes())
    }

    /// The same with these bytes as body.
    pub fn bytes(mut self, body: impl Into<Vec<u8>>) -> Request {
        self.body = Some(body.into());
        self
    }

    /// The same with one more header.
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Request {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(found, _)| found.eq_ignore_ascii_case(name))
    }

    /// The head as it goes over the wire.
    pub fn head(&self, address: SocketAddr) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.target).into_bytes();
        if !self.has("host") {
            head.extend(format!("Host: {address}\r\n").into_bytes());
        }
        if let Some(body) = &self.body
            && !self.has("content-length")
            && !self.has("transfer-encoding")
        {
            head.extend(format!("Content-Length: {}\r\n", body.len()).into_bytes());
        }
        for (name, value) in &self.headers {
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(b": ");
            head.extend_from_slice(value);
            head.extend_from_slice(b"\r\n");
        }
        head.extend_from_slice(b"\r\n");
        head
    }
}

impl Response {
    /// The first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Every header of this name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers
            .iter()
            .filter(move |(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    pub fn json(&self) -> anyhow::Result<Value> {
        serde_json::from_slice(&self.body)
            .with_context(|| format!("status {}, not JSON: {}", self.status, self.text()))
    }
}

impl Client {
    /// A client of the server at this address; connects when it first sends.
    pub fn new(address: SocketAddr) -> Client {
        Client { address, timeout: ANSWER_TIMEOUT, connection: None }
    }

    /// The same with another patience.
    pub fn patient_for(mut self, timeout: Duration) -> Client {
        self.timeout = timeout;
        self
    }

    /// The server it speaks to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sends and reads one answer. A kept connection that the server closed in the meantime is
    /// replaced once; a request that was sent on a fresh connection is never repeated.
    pub fn send(&mut self, request: &Request) -> anyhow::Result<Response> {
        let reused = self.connection.is_some();
        match self.send_once(request) {
            Err(_) if reused => {
                self.connection = None;
                self.send_once(request)
            }
            other => other,
        }
    }

    /// Sends once, whatever happens: the caller decides what an error means.
    pub fn send_once(&mut self, request: &Request) -> anyhow::Result<Response> {
        let head = request.head(self.address);
        let deadline = Deadline::after(self.timeout);
        let mut connection = self.take_connection()?;
        // In one piece: a server that does not want the body may answer and close before a second one
        // comes, and what comes after that makes it take its answer back.
        let mut bytes = head;
        bytes.extend(request.body.iter().flatten());
        let sent = connection.write(&bytes, &deadline);
        // A server that refuses a body early may close before all of it was taken; what it said is
        // the answer.
        let answer = connection.read_response(&request.method, &deadline);
        match (sent, answer) {
            (sent, Ok(response)) => {
                if sent.is_ok() && response.header("connection") != Some("close") {
                    self.connection = Some(connection);
                }
                Ok(response)
            }
            (Err(error), Err(_)) => Err(error).context("the request could not be sent"),
            (Ok(()), Err(error)) => Err(error),
        }
    }

    /// Sends exactly these bytes on a fresh connection and reads one answer.
    pub fn send_raw(&self, bytes: &[u8]) -> anyhow::Result<Response> {
        let deadline = Deadline::after(self.timeout);
        let mut connection = Connection::open(self.address)?;
        let sent = connection.write(bytes, &deadline);
        let answer = connection.read_response("GET", &deadline);
        sent.or_else(|error| if answer.is_ok() { Ok(()) } else { Err(error) })?;
        answer
    }

    /// Sends these bytes, which hold `count` requests without a body to wait for, and reads as many
    /// answers.
    pub fn send_pipelined(&self, bytes: &[u8], count: usize) -> anyhow::Result<Vec<Response>> {
        let deadline = Deadline::after(self.timeout);
        let mut connection = Connection::open(self.address)?;
        connection.write(bytes, &deadline)?;
        (0..count).map(|_| connection.read_response("GET", &deadline)).collect()
    }

    /// Sends a first part, calls `meanwhile`, sends the rest, reads the answer.
    pub fn send_in_two(
        &self,
        first: &[u8],
        meanwhile: impl FnOnce(),
        rest: &[u8],
    ) -> anyhow::Result<Response> {
        let deadline = Deadline::after(self.timeout);
        let mut connection = Connection::open(self.address)?;
        connection.write(first, &deadline)?;
        meanwhile();
        connection.write(rest, &deadline)?;
        connection.read_response("POST", &deadline)
    }

    /// Opens an event stream. An answer that is not one is returned as it is.
    pub fn stream(&self, request: &Request) -> anyhow::Result<Result<EventStream, Response>> {
        let deadline = Deadline::after(self.timeout);
        let mut connection = Connection::open(self.address)?;
        let mut bytes = request.head(self.address);
        bytes.extend(request.body.iter().flatten());
        connection.write(&bytes, &deadline)?;
        let (status, headers) = connection.read_head(&deadline)?;
        let response = Response { status, headers, body: Vec::new() };
        let is_stream = response
            .header("content-type")
            .is_some_and(|kind| kind.starts_with("text/event-stream"));
        if !is_stream {
            let body = connection.read_body(&response, &request.method, &deadline)?;
            return Ok(Err(Response { body, ..response }));
        }
        Ok(Ok(EventStream::new(connection, response)))
    }

    fn take_connection(&mut self) -> anyhow::Result<Connection> {
        match self.connection.take() {
            Some(connection) => Ok(connection),
            None => Connection::open(self.address),
        }
    }
}

/// A socket and the bytes that were read beyond the last answer.
#[derive(Debug)]
struct Connection {
    socket: TcpStream,
    pending: Vec<u8>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Already closed by the other side is as good as closed.
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

impl Connection {
    fn open(address: SocketAddr) -> anyhow::Result<Connection> {
        let socket = TcpStream::connect_timeout(&address, Duration::from_secs(10))
            .with_context(|| format!("cannot connect to {address}"))?;
        socket.set_nodelay(true)?;
        Ok(Connection { socket, pending: Vec::new() })
    }

    fn write(&mut self, mut bytes: &[u8], deadline: &Deadline) -> anyhow::Result<()> {
        while !bytes.is_empty() {
            self.socket.set_write_timeout(Some(deadline.left()?))?;
            match self.socket.write(bytes) {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) if interrupted(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Waits for more bytes; `false` at the end of the stream.
    fn fill(&mut self, deadline: &Deadline) -> anyhow::Result<bool> {
        let mut buffer = [0u8; 64 * 1_024];
        loop {
            self.socket.set_read_timeout(Some(deadline.left()?))?;
            match self.socket.read(&mut buffer) {
                Ok(0) => return Ok(false),
                Ok(count) => {
                    self.pending.extend_from_slice(buffer.get(..count).unwrap_or_default());
                    return Ok(true);
                }
                Err(error) if interrupted(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn read_response(&mut self, method: &str, deadline: &Deadline) -> anyhow::Result<Response> {
        let (status, headers) = self.read_head(deadline)?;
        let mut response = Response { status, headers, body: Vec::new() };
        response.body = self.read_body(&response, method, deadline)?;
        Ok(response)
    }

    /// The status and the headers, past any informational answer.
    fn read_head(&mut self, deadline: &Deadline) -> anyhow::Result<(u16, Vec<(String, String)>)> {
        loop {
            let end = self.find_head_end(deadline)?;
            let rest = self.pending.split_off(end);
            let head = std::mem::replace(&mut self.pending, rest);
            let head = String::from_utf8(head).context("a head that is not text")?;
            let (status, headers) = parse_head(&head)?;
            if !(100..200).contains(&status) {
                return Ok((status, headers));
            }
        }
    }

    fn find_head_end(&mut self, deadline: &Deadline) -> anyhow::Result<usize> {
        loop {
            let found = self.pending.windows(4).position(|four| four == b"\r\n\r\n");
            if let Some(at) = found {
                return Ok(at + 4);
            }
            if self.pending.len() > HEAD_BYTES_MAX {
                bail!("the head of the answer does not end");
            }
            if !self.fill(deadline)? {
                bail!("the server closed the connection before it answered");
            }
        }
    }

    fn read_body(
        &mut self,
        head: &Response,
        method: &str,
        deadline: &Deadline,
    ) -> anyhow::Result<Vec<u8>> {
        if method == "HEAD" || matches!(head.status, 204 | 304) {
            return Ok(Vec::new());
        }
        if head.header("transfer-encoding") == Some("chunked") {
            return self.read_chunked(deadline);
        }
        if let Some(length) = head.header("content-length") {
            let length: usize = length.parse().context("Content-Length")?;
            while self.pending.len() < length {
                if !self.fill(deadline)? {
                    bail!("the body ended after {} bytes", self.pending.len());
                }
            }
            let rest = self.pending.split_off(length);
            return Ok(std::mem::replace(&mut self.pending, rest));
        }
        while self.fill(deadline)? {}
        Ok(std::mem::take(&mut self.pending))
    }

    fn read_chunked(&mut self, deadline: &Deadline) -> anyhow::Result<Vec<u8>> {
        let mut decoder = Chunked::default();
        let mut body = Vec::new();
        loop {
            let used = decoder.feed(&self.pending, &mut body)?;
            self.pending.drain(..used);
            if decoder.is_done() {
                return Ok(body);
            }
            if !self.fill(deadline)? {
                bail!("the chunked body ended early");
            }
        }
    }
}

fn interrupted(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Interrupted
}

fn parse_head(head: &str) -> anyhow::Result<(u16, Vec<(String, String)>)> {
    let mut lines = head.split("\r\n");
    let status_line = lines.next().unwrap_or_default();
    let status = status_line
        .strip_prefix("HTTP/1.1 ")
        .or_else(|| status_line.strip_prefix("HTTP/1.0 "))
        .and_then(|rest| rest.get(..3))
        .and_then(|digits| digits.parse().ok())
        .with_context(|| format!("not a status line: {status_line}"))?;
    let headers = lines
        .filter(|line| !line.is_empty())
        .map(|line| {
            let (name, value) =
                line.split_once(':').with_context(|| format!("not a header: {line}"))?;
            Ok((name.trim().to_ascii_lowercase(), value.trim().to_owned()))
        })
        .collect::<anyhow::Result<_>>()?;
    Ok((status, headers))
}

#[cfg(test)]
mod tests;
