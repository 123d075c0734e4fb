//! What a verification found: every error with its code, its place and its class.

use std::fmt;

use crate::verify::VerifyMode;

/// Findings that a report keeps; further ones are counted.
pub const FINDINGS_MAX: usize = 10_000;

/// The class of a finding. The worst class of a report decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingClass {
    /// The bundle can be read, and its evidence does not hold.
    Evidence,
    /// A member is missing, has a wrong type or is not allowed.
    Shape,
    /// A file is missing, is not JSON, or exceeds a limit.
    Unreadable,
}

impl FindingClass {
    /// The exit code of a verifier.
    pub fn exit_code(self) -> u8 {
        match self {
            FindingClass::Evidence => 2,
            FindingClass::Shape => 3,
            FindingClass::Unreadable => 4,
        }
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)+) => {
        /// The kind of an error.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum FindingCode {
            $($(#[$doc])* $variant,)+
        }

        impl FindingCode {
            /// The stable name of the code.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(FindingCode::$variant => $text,)+
                }
            }
        }
    };
}

codes! {
    /// The archive itself is refused.
    Archive = "ARCHIVE",
    /// A required file is missing.
    FileMissing = "FILE_MISSING",
    /// A file could not be read.
    FileUnreadable = "FILE_UNREADABLE",
    /// A file that does not belong to a bundle.
    FileUnexpected = "FILE_UNEXPECTED",
    /// A symbolic link.
    FileLink = "FILE_LINK",
    /// More than a limit allows.
    Limit = "LIMIT",
    /// Bytes that are not JSON.
    Json = "JSON",
    /// A key that occurs twice in one object.
    DuplicateKey = "DUPLICATE_KEY",
    /// Space around a line that JSON does not allow.
    LineSpace = "LINE_SPACE",
    /// A required member is missing.
    MemberMissing = "MEMBER_MISSING",
    /// A member that the format does not have.
    MemberUnknown = "MEMBER_UNKNOWN",
    /// A member of a wrong type or value.
    MemberInvalid = "MEMBER_INVALID",
    /// A time that no calendar has.
    Calendar = "CALENDAR",
    /// A record whose id is not the hash of its content.
    RecordId = "RECORD_ID_MISMATCH",
    /// A parent that is not in the bundle.
    ParentMissing = "PARENT_MISSING",
    /// A record that the audit log does not name.
    RecordNotAudited = "RECORD_NOT_AUDITED",
    /// An entry for a record that is not in the bundle.
    AuditUnknownRecord = "AUDIT_UNKNOWN_RECORD",
    /// An entry at another position than its record.
    AuditOrder = "AUDIT_ORDER",
    /// An entry with another time than its record.
    AuditTime = "AUDIT_TIME",
    /// An entry with a wrong number.
    AuditIndex = "AUDIT_INDEX",
    /// An entry that does not follow the one before it.
    AuditPrevious = "AUDIT_PREVIOUS",
    /// An entry whose hash does not hold.
    AuditHash = "AUDIT_HASH",
    /// The manifest names another end of the audit log.
    AuditHead = "AUDIT_HEAD",
    /// The manifest counts other records.
    RecordCount = "RECORD_COUNT",
    /// The manifest counts other blobs.
    BlobCount = "BLOB_COUNT",
    /// A root that is not in the bundle.
    RootUnknown = "ROOT_UNKNOWN",
    /// A listed root that has parents or is listed too often.
    RootExtra = "ROOT_EXTRA",
    /// A record without parents that is not listed.
    RootMissing = "ROOT_MISSING",
    /// A blob that a record names is missing.
    BlobMissing = "BLOB_MISSING",
    /// A blob that is not what its name says.
    BlobHash = "BLOB_HASH",
    /// A blob of another size than its record says.
    BlobSize = "BLOB_SIZE",
    /// A blob whose name is no hash.
    BlobName = "BLOB_NAME",
    /// A blob that no record names.
    BlobUnreferenced = "BLOB_UNREFERENCED",
    /// A native proof that cannot be read.
    ProofShape = "PROOF_SHAPE",
    /// A native proof that covers other records or another manifest.
    ProofCoverage = "PROOF_COVERAGE",
    /// A link of the native chain that does not hold.
    ProofChain = "PROOF_CHAIN",
    /// An event of the scope without a record.
    ProofEventMissing = "PROOF_EVENT_MISSING",
    /// A record of an event that the chain does not have.
    ProofEventUnknown = "PROOF_EVENT_UNKNOWN",
    /// A disclosed section that is not what its head commits to.
    ProofSection = "PROOF_SECTION",
    /// Batches or a checkpoint that do not lead to the signed tip.
    ProofCheckpoint = "PROOF_CHECKPOINT",
}

/// The place of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file in the bundle.
    pub file: String,
    /// The line of the file, from 1.
    pub line: Option<u64>,
    /// The path of the member, such as `/meta/ts`.
    pub member: Option<String>,
}

impl Place {
    /// A whole file.
    pub fn file(name: &str) -> Place {
        Place { file: name.to_owned(), line: None, member: None }
    }

    /// A line of a file.
    pub fn line(name: &str, line: u64) -> Place {
        Place { line: Some(line), ..Place::file(name) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.file.chars().take(120) {
            write!(f, "{}", c.escape_debug())?;
        }
        if let Some(line) = self.line {
            write!(f, " line {line}")?;
        }
        if let Some(member) = &self.member {
            write!(f, " {member}")?;
        }
        Ok(())
    }
}

/// One error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub code: FindingCode,
    /// Its class.
    pub class: FindingClass,
    /// Its place.
    pub place: Place,
    /// One sentence.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.code.as_str(), self.message)
    }
}

/// What a native proof shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofSummary {
    /// The scope, or its pseudonym.
    pub scope: String,
    /// The last position of its chain.
    pub last_seq: u64,
    /// The seal there.
    pub last_seal: [u8; 32],
    /// Events of the scope.
    pub events: u64,
    /// The key that signed the checkpoint, if the proof leads to one.
    pub signed_by: Option<[u8; 32]>,
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How it was judged.
    pub mode: VerifyMode,
    /// The first [`FINDINGS_MAX`] findings.
    pub findings: Vec<Finding>,
    /// All findings.
    pub findings_total: u64,
    /// Lines of records.
    pub records: u64,
    /// Entries of the audit log.
    pub audit_entries: u64,
    /// Blobs.
    pub blobs: u64,
    /// The native proof, if there is one that could be read.
    pub proof: Option<ProofSummary>,
    worst: Option<FindingClass>,
}

impl Report {
    pub(crate) fn new(mode: VerifyMode) -> Report {
        Report {
            mode,
            findings: Vec::new(),
            findings_total: 0,
            records: 0,
            audit_entries: 0,
            blobs: 0,
            proof: None,
            worst: None,
        }
    }

    pub(crate) fn add(&mut self, finding: Finding) {
        self.worst = self.worst.max(Some(finding.class));
        self.findings_total += 1;
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        }
    }

    /// The worst class, if anything was found.
    pub fn worst(&self) -> Option<FindingClass> {
        self.worst
    }

    /// 0, 2, 3 or 4.
    pub fn exit_code(&self) -> u8 {
        self.worst.map_or(0, FindingClass::exit_code)
    }
}
