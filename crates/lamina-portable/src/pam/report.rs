//! The result of a validation: findings with a rule, a file and a place.

use std::fmt;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// True, but not every reader copes with it.
    Note,
    /// Allowed, but probably a mistake.
    Warning,
    /// The bundle breaks a rule of the format.
    Error,
}

impl Level {
    /// The word in a report.
    pub fn name(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// A rule of the format.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Rule {
            /// The name in a report.
            pub fn name(self) -> &'static str {
                match self {
                    $(Rule::$variant => $name,)+
                }
            }
        }
    };
}

rules! {
    /// The file is strict JSON.
    Json = "json",
    /// The file is small enough to be read.
    Size = "size",
    /// `schema` names one of the three documents.
    SchemaId = "schema-id",
    /// `schema_version` is one that this reader knows.
    SchemaVersion = "schema-version",
    /// A required member exists.
    Required = "required",
    /// A closed object has no other members.
    UnknownMember = "unknown-member",
    /// A value has the right JSON type.
    Type = "type",
    /// A text is one of a list.
    Enum = "enum",
    /// A text has the form of its field.
    Pattern = "pattern",
    /// A text is an RFC 3339 time or a URI.
    Format = "format",
    /// A text or an array is long enough.
    Length = "length",
    /// A number lies in its range.
    Range = "range",
    /// The items of a set differ.
    UniqueItems = "unique-items",
    /// `custom_type` stands with the type `custom` and only there.
    CustomType = "custom-type",
    /// `content_hash` is the hash of the content.
    ContentHash = "content-hash",
    /// `total_memories` is the number of memories.
    IntegrityTotal = "integrity-total",
    /// `checksum` is the hash of the memories.
    IntegrityChecksum = "integrity-checksum",
    /// The memories have a canonical form.
    NotCanonicalizable = "not-canonicalizable",
    /// Ids differ.
    IdUnique = "id-unique",
    /// A memory has one embedding at most.
    MemoryIdUnique = "memory-id-unique",
    /// Both ends of a relation exist.
    XrefRelation = "xref-relation",
    /// `conversation_ref` is in the index.
    XrefConversation = "xref-conversation",
    /// `superseded_by` exists.
    XrefSuperseded = "xref-superseded",
    /// `derived_memories` exist.
    XrefDerived = "xref-derived",
    /// Provenance and `derived_memories` agree.
    XrefBidirectional = "xref-bidirectional",
    /// Times follow each other.
    Temporal = "temporal",
    /// `status` and `superseded_by` agree.
    Status = "status",
    /// A memory that must stay is not in the export.
    ExportableFalse = "exportable-false",
    /// Parents and children of messages exist.
    Dag = "dag",
    /// Parents and children of messages agree.
    DagBidirectional = "dag-bidirectional",
    /// A vector has as many numbers as it says.
    DimensionsMismatch = "dimensions-mismatch",
    /// The memory of an embedding exists.
    XrefMemory = "xref-memory",
    /// The embedding of a memory exists.
    XrefEmbedding = "xref-embedding",
    /// The index and the conversation file agree.
    ConversationFile = "conv-crossfile",
    /// All documents have one version.
    SchemaVersionMix = "schema-version-mix",
    /// A storage reference stays inside the bundle.
    StorageEscape = "storage-ref-escape",
    /// A storage reference leads to a file of the bundle.
    StorageMissing = "storage-ref-missing",
    /// The bundle has a store.
    StoreMissing = "memory-store-missing",
    /// A delta names its base.
    IncrementalFields = "incremental-fields",
    /// A platform is a product, not a company.
    PlatformNaming = "platform-naming",
    /// The signature has everything that it signs, in the form of the format.
    SignatureFields = "signature-fields",
    /// The signature verifies.
    Signature = "signature",
    /// The signature is not older than the export.
    SignedAt = "signed-at",
    /// The hashes in the manifest of a bundle are those of its parts.
    Manifest = "bundle-manifest",
    /// The published toolkit computes the same checksum.
    ToolkitChecksum = "toolkit-checksum",
}

/// One violation and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub level: Level,
    /// The rule.
    pub rule: Rule,
    /// The file in the bundle.
    pub file: String,
    /// The JSON pointer of the value; empty for the whole document.
    pub place: String,
    /// The violation in words.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { level, rule, file, place, message } = self;
        write!(f, "{}: {file}", level.name())?;
        if !place.is_empty() {
            write!(f, "#{}", crate::quote(place))?;
        }
        write!(f, ": {message} [{}]", rule.name())
    }
}

/// How far a signature was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SignatureState {
    /// There is none.
    #[default]
    Unsigned,
    /// It verifies.
    Verified,
    /// It does not verify, or lacks something that it signs.
    Failed,
}

/// The findings about a bundle.
#[derive(Debug, Clone, Default)]
pub struct Report {
    findings: Vec<Finding>,
    counts: [u64; 3],
    /// The state of the store's signature.
    pub signature: SignatureState,
    /// The key that signed, as `did:key`, where it is an Ed25519 key.
    pub signer: Option<String>,
    /// Memories in the store.
    pub memories: u64,
    /// Conversation files.
    pub conversations: u64,
}

impl Report {
    /// Findings that a report keeps; further ones are counted.
    pub const FINDINGS_MAX: usize = 1_000;

    /// The findings, in the order of the files.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// How many findings of a level there are, kept or not.
    pub fn count(&self, level: Level) -> u64 {
        self.counts.get(level as usize).copied().unwrap_or_default()
    }

    /// Whether the bundle breaks no rule.
    pub fn is_valid(&self) -> bool {
        self.count(Level::Error) == 0
    }

    pub(super) fn push(&mut self, finding: Finding) {
        if let Some(count) = self.counts.get_mut(finding.level as usize) {
            *count += 1;
        }
        if self.findings.len() < Report::FINDINGS_MAX {
            self.findings.push(finding);
        }
    }
}

/// Collects the findings of one file.
pub(super) struct FileFindings<'a> {
    pub(super) report: &'a mut Report,
    pub(super) file: &'a str,
}

impl FileFindings<'_> {
    pub(super) fn add(
        &mut self,
        level: Level,
        rule: Rule,
        place: &str,
        message: impl Into<String>,
    ) {
        let finding = Finding {
            level,
            rule,
            file: self.file.to_owned(),
            place: place.to_owned(),
            message: message.into(),
        };
        self.report.push(finding);
    }

    pub(super) fn error(&mut self, rule: Rule, place: &str, message: impl Into<String>) {
        self.add(Level::Error, rule, place, message);
    }

    pub(super) fn warn(&mut self, rule: Rule, place: &str, message: impl Into<String>) {
        self.add(Level::Warning, rule, place, message);
    }
}
