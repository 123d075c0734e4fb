//! What is compressed inside of an uploaded file: gzip, ZIP (and with it office documents), and the streams of
//! a PDF. Other formats are searched as they are.

use std::io::Read as _;

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// Bytes that one stream may come to: what is made to burst is not unpacked to its end.
const UNPACKED_BYTES_MAX: u64 = 1 << 30;
/// Streams of one file that are looked into.
const STREAMS_MAX: usize = 100_000;

/// Something that was unpacked.
pub(super) struct Unpacked {
    pub(super) bytes: Vec<u8>,
    pub(super) how: &'static str,
    /// Where in the file it stands.
    pub(super) position: u64,
}

/// Unpacks what is compressed in these bytes. An error says why not all of it was.
pub(super) fn unpack(bytes: &[u8], unpacked: &mut dyn FnMut(Unpacked)) -> Result<(), &'static str> {
    if bytes.starts_with(&[0x1F, 0x8B]) {
        let unpacked_bytes = all(MultiGzDecoder::new(bytes))?;
        unpacked(Unpacked { bytes: unpacked_bytes, how: "gzip", position: 0 });
        return Ok(());
    }
    let (mark, how): (&[u8], _) = match () {
        () if bytes.starts_with(b"PK\x03\x04") => (b"PK\x03\x04", "ZIP"),
        () if bytes.starts_with(b"%PDF") => (b"stream", "PDF"),
        () => return Ok(()),
    };
    let mut streams = 0;
    for at in aho_corasick::AhoCorasick::new([mark])
        .expect("one short pattern")
        .find_iter(bytes)
        .map(|hit| hit.start())
    {
        streams += 1;
        if streams > STREAMS_MAX {
            return Err("it has too many compressed parts to look into all");
        }
        let rest = bytes.get(at..).unwrap_or_default();
        let bytes = match how {
            "ZIP" => zipped(rest)?,
            // A stream that is not compressed was searched with the file.
            _ => {
                let body = rest.get(mark.len()..).unwrap_or_default();
                let body = body.strip_prefix(b"\r").unwrap_or(body);
                all(ZlibDecoder::new(body.strip_prefix(b"\n").unwrap_or(body)))?
            }
        };
        if !bytes.is_empty() {
            unpacked(Unpacked { bytes, how, position: at as u64 });
        }
    }
    Ok(())
}

/// The file after a local header of a ZIP.
fn zipped(header: &[u8]) -> Result<Vec<u8>, &'static str> {
    let number = |at: usize| {
        let two = header.get(at..).and_then(|rest| rest.first_chunk::<2>());
        usize::from(two.map_or(0, |two| u16::from_le_bytes(*two)))
    };
    let (flags, method) = (number(6), number(8));
    if flags & 1 != 0 {
        return Err("a file in it is encrypted");
    }
    let body = header.get(30 + number(26) + number(28)..).unwrap_or_default();
    match method {
        // Stored as it is, and searched with the file.
        0 => Ok(Vec::new()),
        8 => all(DeflateDecoder::new(body)),
        _ => Err("a file in it is compressed in a way that is not understood"),
    }
}

/// As much as can be unpacked: a stream that breaks off was readable up to there.
fn all(from: impl std::io::Read) -> Result<Vec<u8>, &'static str> {
    let mut bytes = Vec::new();
    let _broken = from.take(UNPACKED_BYTES_MAX).read_to_end(&mut bytes);
    match bytes.len() as u64 {
        UNPACKED_BYTES_MAX => Err("a part of it is too large when it is unpacked"),
        _ => Ok(bytes),
    }
}
