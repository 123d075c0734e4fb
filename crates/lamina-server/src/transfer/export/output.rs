//! The bytes of an export on their way: collected in a buffer, sent in pieces, compressed if asked for.

use std::io::{self, Write};
use std::sync::Arc;

use bytes::Bytes;
use lamina_portable::gzip::GzipWriter;
use parking_lot::Mutex;
use tokio::sync::mpsc;

/// Bytes of a piece, about.
const PIECE_BYTES: usize = 64 << 10;
/// Pieces that wait for the receiver.
pub(crate) const PIECES_WAITING_MAX: usize = 8;

/// Whether bytes are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    /// As they are.
    None,
    /// As a gzip stream.
    Gzip,
}

/// Where pieces go. The receiver ends the export by going away.
#[derive(Debug, Clone)]
pub(crate) struct PieceSender {
    pub(crate) pieces: mpsc::Sender<io::Result<Bytes>>,
    pub(crate) compression: Compression,
}

/// Bytes that were written and not sent yet.
#[derive(Debug, Clone, Default)]
pub(super) struct PieceBuffer(Arc<Mutex<Vec<u8>>>);

impl PieceBuffer {
    /// A piece that is large enough to be sent.
    pub(super) fn full(&self) -> Option<Bytes> {
        let mut bytes = self.0.lock();
        (bytes.len() >= PIECE_BYTES).then(|| std::mem::take(&mut *bytes).into())
    }

    /// All that is left.
    pub(super) fn rest(&self) -> Bytes {
        std::mem::take(&mut *self.0.lock()).into()
    }
}

impl Write for PieceBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes into a buffer, compressed or not.
#[derive(Debug)]
pub(super) enum PieceWriter {
    Plain(PieceBuffer),
    Gzip(Box<GzipWriter<PieceBuffer>>),
}

impl PieceWriter {
    pub(super) fn new(buffer: PieceBuffer, compression: Compression) -> PieceWriter {
        match compression {
            Compression::None => PieceWriter::Plain(buffer),
            Compression::Gzip => PieceWriter::Gzip(Box::new(GzipWriter::new(buffer))),
        }
    }

    /// Writes the end of the stream.
    pub(super) fn finish(self) -> io::Result<()> {
        match self {
            PieceWriter::Plain(_) => Ok(()),
            PieceWriter::Gzip(writer) => writer.finish().map(drop),
        }
    }
}

impl Write for PieceWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            PieceWriter::Plain(buffer) => buffer.write(bytes),
            PieceWriter::Gzip(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            PieceWriter::Plain(buffer) => buffer.flush(),
            // A flushed gzip stream is larger; its end comes with `finish`.
            PieceWriter::Gzip(_) => Ok(()),
        }
    }
}
