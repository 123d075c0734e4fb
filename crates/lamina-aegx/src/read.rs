//! Reading the records of a bundle as typed values, for an import. It does not verify: that is the task
//! of [`crate::verify()`].

use std::io::{self, Read};

use lamina_portable::json::Value;
use lamina_types::stdx::hex;

use crate::digest::{Payload, parse_hash};
use crate::lines::{Lines, read_value};
use crate::model::{BlobReference, Hash, Principal, RecordType};
use crate::report::{Finding, FindingClass, FindingCode, Place};
use crate::shape::{Judge, PayloadShape, RecordShape};
use crate::source::BundleSource;
use crate::verify::VerifyMode;
use crate::{BLOBS, RECORDS};

/// A record of a bundle.
#[derive(Debug, Clone)]
pub struct BundleRecord {
    /// The line that it stands in.
    pub line: u64,
    /// Its id.
    pub id: Hash,
    /// Its type.
    pub kind: RecordType,
    /// The party that acted.
    pub principal: Principal,
    /// The taints. Other writers may have others than [`crate::Taint`].
    pub taint: Vec<String>,
    /// The ids of its parents.
    pub parents: Vec<Hash>,
    /// Its metadata; the time is `ts`.
    pub meta: Value,
    /// Its content.
    pub payload: Payload,
    /// Members that no hash covers.
    pub extensions: Option<Value>,
}

/// Reads the records in their order. A line of a wrong shape is one error, and the next line follows.
pub struct RecordReader<'a> {
    lines: Option<Lines<Box<dyn Read + 'a>>>,
    waiting: Vec<Finding>,
}

impl std::fmt::Debug for RecordReader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RecordReader")
    }
}

impl<'a> RecordReader<'a> {
    /// A reader of the records of this bundle.
    pub fn new(source: &'a dyn BundleSource) -> RecordReader<'a> {
        let index = source.entries().iter().position(|entry| entry.path == RECORDS);
        let opened = index.map(|index| source.open(index));
        let (lines, waiting) = match opened {
            Some(Ok(reader)) => (Some(Lines::new(reader, RECORDS, VerifyMode::Strict)), Vec::new()),
            Some(Err(error)) => {
                (None, vec![unreadable(FindingCode::FileUnreadable, &error.to_string())])
            }
            None => (None, vec![unreadable(FindingCode::FileMissing, "the file is missing")]),
        };
        RecordReader { lines, waiting }
    }
}

fn unreadable(code: FindingCode, message: &str) -> Finding {
    let (class, place) = (FindingClass::Unreadable, Place::file(RECORDS));
    Finding { code, class, place, message: message.to_owned() }
}

impl Iterator for RecordReader<'_> {
    type Item = Result<BundleRecord, Finding>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(finding) = self.waiting.pop() {
            return Some(Err(finding));
        }
        let line = self.lines.as_mut()?.next(&mut self.waiting);
        let Some(line) = line else { return self.waiting.pop().map(Err) };
        let mut judge = Judge::new(VerifyMode::Strict);
        let shape = match read_value(&line.bytes, RECORDS, VerifyMode::Strict) {
            Ok(value) => judge.record(value),
            Err(fault) => {
                judge.faults.push(fault);
                None
            }
        };
        if let Some(fault) = judge.faults.into_iter().next() {
            let member = Some(fault.member).filter(|member| !member.is_empty());
            let place = Place { member, ..Place::line(RECORDS, line.number) };
            let (code, class, message) = (fault.code, fault.class, fault.message);
            return Some(Err(Finding { code, class, place, message }));
        }
        let record = shape.and_then(|shape| typed(shape, line.number));
        Some(record.ok_or_else(|| unreadable(FindingCode::MemberInvalid, "a line has no record")))
    }
}

fn typed(shape: RecordShape, line: u64) -> Option<BundleRecord> {
    let payload = match shape.payload {
        PayloadShape::Inline(value) => Payload::Inline(value),
        PayloadShape::Blob { blob, mime, size } => {
            Payload::Blob(BlobReference { hash: parse_hash(&blob)?, mime, size })
        }
    };
    let parents = shape.parents.iter().map(|parent| parse_hash(parent));
    Some(BundleRecord {
        line,
        id: parse_hash(&shape.stated_id)?,
        kind: RecordType::from_name(&shape.kind)?,
        principal: Principal::from_name(&shape.principal)?,
        taint: shape.taint,
        parents: parents.collect::<Option<_>>()?,
        meta: shape.meta,
        payload,
        extensions: shape.extensions,
    })
}

/// Opens a blob.
pub fn open_blob<'a>(
    source: &'a dyn BundleSource,
    blob: &BlobReference,
) -> io::Result<Box<dyn Read + 'a>> {
    let path = format!("{BLOBS}/{}", hex::encode(&blob.hash));
    let index = source.entries().iter().position(|entry| entry.path == path);
    match index {
        Some(index) => source.open(index),
        None => Err(io::Error::new(io::ErrorKind::NotFound, "the bundle has no such blob")),
    }
}
