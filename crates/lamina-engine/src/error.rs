//! Why a request, or opening the data directory, failed.

use std::io;
use std::path::PathBuf;

use lamina_core::policy::Denial;
use lamina_store::blob::BlobFault;
use lamina_store::keys::KeyError;
use lamina_store::ledger::LedgerError;
use lamina_store::log::LogError;
use lamina_store::view::ViewError;
use lamina_store::view::check::CheckError;
use lamina_types::{BlobId, ErrorCode, ScopePath};

use crate::write::room;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such thing, or not in this tenant.
    #[error("not found")]
    NotFound,
    /// It was erased.
    #[error("deleted")]
    Deleted,
    /// The permit does not reach that far.
    #[error("not permitted")]
    Denied(#[from] Denial),
    /// The permit is for another scope. A bug of the caller of this crate, not of the client.
    #[error("the permit does not cover the scope")]
    OutsidePermit,
    /// The same key came with another body.
    #[error("the idempotency key was used with another body")]
    IdempotencyConflict {
        /// Which item of a bulk write.
        index: usize,
    },
    /// The content refers to a blob that is not there.
    #[error("the content refers to a blob that does not exist")]
    UnknownBlob {
        /// Which item of a bulk write.
        index: usize,
        /// Which of the blobs it refers to, in order.
        blob: usize,
    },
    /// The blob is larger than allowed.
    #[error("a blob has at most {max} bytes")]
    BlobTooLarge {
        /// The limit.
        max: u64,
    },
    /// The source of an import is larger than allowed.
    #[error("the source of an import has at most {max} bytes")]
    ImportTooLarge {
        /// The limit.
        max: u64,
    },
    /// An erasure of its target ended the import.
    #[error("an erasure of its target ended the import")]
    ImportStopped,
    /// A descending read would visit too many scopes.
    #[error("a descending read visits at most {max} scopes")]
    TooManyScopes {
        /// The limit.
        max: usize,
    },
    /// An event still refers to the blob.
    #[error("the blob is referred to by {events} events")]
    BlobInUse {
        /// How many.
        events: u64,
    },
    /// There are as many of these as there may be.
    #[error("the limit {limit} is reached")]
    LimitReached {
        /// The name of the limit.
        limit: &'static str,
    },
    /// The scope is registered already.
    #[error("the scope is registered already")]
    ScopeExists,
    /// A sweep of retention runs.
    #[error("a sweep of retention is running")]
    SweepRunning,
    /// The tables are being compacted.
    #[error("a compaction is running")]
    CompactionRunning,
    /// There is a vocabulary of this name in this place.
    #[error("there is a vocabulary of this name")]
    VocabularyExists,
    /// The scope has records, and nobody said what becomes of them.
    #[error("the scope has {events} records")]
    ScopeHasRecords {
        /// How many, counted up to a million.
        events: u64,
    },
    /// A legal hold keeps the words that were to go.
    #[error("a legal hold on {scope} keeps them")]
    Held {
        /// The scope that it is on.
        scope: ScopePath,
    },
    /// The conflict was decided otherwise, or there is nothing left to decide.
    #[error("the conflict is not open")]
    ConflictNotOpen,
    /// A decision names a record that it cannot be about.
    #[error("`{field}` names no record that the conflict can be decided with")]
    NoSuchSide {
        /// Where it is named.
        field: &'static str,
    },
    /// A time in words that is none.
    #[error("`{text}` is not a time")]
    UnparseableTime {
        /// The words.
        text: String,
    },
    /// What it was merged into was itself merged since, and has to be split off first.
    #[error("the entity that it was merged into was merged further")]
    EntityMergedFurther,
    /// No preview of this caller, or one that has expired.
    #[error("there is no such preview")]
    UnknownPreview,
    /// The preview matched other events or records than the request selects.
    #[error("the preview is of another selection")]
    OtherSelection,
    /// What a preview showed is not what there is any more.
    #[error("what the preview showed is not what there is any more")]
    PreviewDrifted,
    /// Specified, but not built yet.
    #[error("{what} is not built yet")]
    NotBuilt {
        /// What.
        what: &'static str,
    },
    /// A key could not be made or read.
    #[error("the keys cannot be used")]
    Keys(#[source] Box<KeyError>),
    /// The entry or the batch exceeds a limit of the log.
    #[error("the write exceeds the limit {limit}")]
    TooLarge {
        /// The name of the limit.
        limit: &'static str,
    },
    /// The log takes no writes now.
    #[error("the log takes no writes")]
    LogUnavailable(#[source] Box<LogError>),
    /// What was to be taken back could not be noted where a restore would find it.
    #[error("the ledger of erasures cannot be written")]
    LedgerUnavailable {
        /// Whether it was done all the same, and is only not noted.
        is_done: bool,
    },
    /// The views are out of order; the log is intact.
    #[error("the views cannot be read or written")]
    ViewsUnavailable(#[source] Box<ViewError>),
    /// The search index is out of order; the log is intact.
    #[error("the search index cannot be read or written")]
    SearchUnavailable(#[source] Box<lamina_index::Error>),
    /// There is no search index: it cannot be opened.
    #[error("the search index cannot be opened")]
    NoIndex,
    /// The views stopped earlier; the log is intact.
    #[error("the views stopped: {reason}")]
    ViewsStopped {
        /// What stopped them.
        reason: String,
    },
    /// A read of the log failed.
    #[error("the log cannot be read")]
    LogUnreadable(#[source] Box<LogError>),
    /// A blob file failed.
    #[error("the blob store failed")]
    BlobStore(#[source] io::Error),
    /// The file of a blob is missing or has other bytes than were uploaded.
    #[error("the blob {id} is damaged")]
    BlobDamaged {
        /// The blob.
        id: BlobId,
        /// What is wrong with its file.
        #[source]
        fault: BlobFault,
    },
    /// The engine is closing.
    #[error("shutting down")]
    ShuttingDown,
    /// Stored bytes do not decode though their checksums hold.
    #[error("a stored record cannot be read: {what}")]
    Undecodable {
        /// What it was.
        what: &'static str,
    },
}

impl Error {
    /// Whether stored bytes of the log are damaged.
    pub fn is_damage(&self) -> bool {
        matches!(self, Error::LogUnreadable(error) if error.is_damage())
    }

    /// The public code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Error::NotFound => ErrorCode::NotFound,
            Error::Deleted => ErrorCode::ResourceDeleted,
            Error::Denied(_) => ErrorCode::PolicyDenied,
            Error::IdempotencyConflict { .. } => ErrorCode::IdempotencyConflict,
            Error::UnknownBlob { .. } => ErrorCode::InvalidEnvelope,
            Error::BlobTooLarge { .. } => ErrorCode::BlobTooLarge,
            Error::BlobInUse { .. } => ErrorCode::BlobInUse,
            Error::BlobDamaged { .. } => ErrorCode::BlobDamaged,
            Error::LogUnreadable(error) if error.is_damage() => ErrorCode::RecordDamaged,
            Error::TooManyScopes { .. } | Error::LimitReached { .. } => ErrorCode::InvalidParameter,
            Error::TooLarge { .. } | Error::ImportTooLarge { .. } => ErrorCode::BodyTooLarge,
            Error::ImportStopped => ErrorCode::ResourceDeleted,
            Error::LogUnavailable(_) | Error::LedgerUnavailable { .. } => ErrorCode::WalUnavailable,
            Error::ViewsUnavailable(_)
            | Error::SearchUnavailable(_)
            | Error::NoIndex
            | Error::ViewsStopped { .. } => ErrorCode::DerivedLayerUnavailable,
            Error::ShuttingDown => ErrorCode::Overloaded,
            Error::ScopeExists => ErrorCode::ScopeRegistrationExists,
            Error::VocabularyExists => ErrorCode::VocabularyExists,
            Error::SweepRunning => ErrorCode::RetentionSweepRunning,
            Error::CompactionRunning => ErrorCode::WalCompactionRunning,
            Error::ScopeHasRecords { .. } => ErrorCode::ScopeHasRecords,
            Error::ConflictNotOpen => ErrorCode::ConflictNotOpen,
            Error::NoSuchSide { .. } => ErrorCode::InvalidBody,
            Error::UnparseableTime { .. } => ErrorCode::UnparseableTemporal,
            Error::EntityMergedFurther => ErrorCode::EntityMergedFurther,
            Error::UnknownPreview | Error::OtherSelection => ErrorCode::UnknownPreviewId,
            Error::PreviewDrifted => ErrorCode::PreviewDrifted,
            Error::Held { .. } => ErrorCode::LegalHold,
            Error::NotBuilt { .. } => ErrorCode::NotImplemented,
            Error::OutsidePermit
            | Error::LogUnreadable(_)
            | Error::BlobStore(_)
            | Error::Keys(_)
            | Error::Undecodable { .. } => ErrorCode::Internal,
        }
    }
}

impl From<lamina_index::Error> for Error {
    fn from(error: lamina_index::Error) -> Error {
        Error::SearchUnavailable(Box::new(error))
    }
}

impl From<ViewError> for Error {
    fn from(error: ViewError) -> Error {
        if error.is_full() {
            return room::refusal();
        }
        Error::ViewsUnavailable(Box::new(error))
    }
}

impl From<LogError> for Error {
    fn from(error: LogError) -> Error {
        match error {
            LogError::TooLarge { limit } => Error::TooLarge { limit },
            LogError::NoSuchEntry { .. } => Error::NotFound,
            other => Error::LogUnreadable(Box::new(other)),
        }
    }
}

/// Why a data directory could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Another process has it open.
    #[error("{} is in use by another process", path.display())]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// It is not a data directory, or one of a newer version.
    #[error("{}: {what}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The log is damaged or cannot be read.
    #[error("the log cannot be opened")]
    Log(#[from] LogError),
    /// A key is missing, unreadable or too open.
    #[error("the keys cannot be opened")]
    Keys(#[source] KeyError),
    /// The views cannot be opened, even empty.
    #[error("the views cannot be opened")]
    Views(#[from] ViewError),
    /// The key-value engine cannot be opened, even empty.
    #[error("the view store cannot be opened")]
    ViewStore(#[source] io::Error),
    /// The views cannot be compared with the log.
    #[error("the views cannot be checked")]
    Check(#[from] CheckError),
    /// The ledger of erasures cannot be read, or belongs to another log.
    #[error("the ledger of erasures cannot be used")]
    Ledger(#[from] LedgerError),
    /// The ledger knows of erasures that the directory does not: it is an older copy.
    #[error("{} is older than the ledger {}", data.display(), ledger.display())]
    BehindLedger {
        /// The directory.
        data: PathBuf,
        /// The ledger.
        ledger: PathBuf,
    },
    /// A backup cannot be made or used.
    #[error("{}: {what}", path.display())]
    Backup {
        /// The backup, or a file of it.
        path: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// The disk answered with an error.
    #[error("{} cannot be {doing}", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
}
