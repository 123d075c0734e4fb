//! The vocabulary of records: types, principals and taints.

/// A SHA-256 hash: the id of a record, the hash of an entry, the name of a blob.
pub type Hash = [u8; 32];

/// The hash before the first entry of an audit log.
pub const ZERO_HASH: Hash = [0; 32];

macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl $name {
            /// All of them, in the order of the format.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// Its name in a bundle.
            pub fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)+
                }
            }

            /// The one with this name.
            pub fn from_name(name: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|item| item.name() == name)
            }
        }
    };
}

names! {
    /// The kind of an action that a record is evidence of.
    RecordType {
        /// A session began.
        SessionStart = "SessionStart",
        /// Words in a session.
        SessionMessage = "SessionMessage",
        /// A tool was called.
        ToolCall = "ToolCall",
        /// A tool answered.
        ToolResult = "ToolResult",
        /// A document was read.
        FileRead = "FileRead",
        /// A file was written.
        FileWrite = "FileWrite",
        /// A file or a memory was removed.
        FileDelete = "FileDelete",
        /// A rule was to be changed.
        ControlPlaneChangeRequest = "ControlPlaneChangeRequest",
        /// A memory was to be written.
        MemoryCommitRequest = "MemoryCommitRequest",
        /// A guard allowed or denied.
        GuardDecision = "GuardDecision",
        /// A state was recorded.
        Snapshot = "Snapshot",
        /// A state was restored.
        Rollback = "Rollback",
        /// A request left the machine. Reference verifiers refuse this type.
        NetworkRequest = "NetworkRequest",
    }
}

names! {
    /// The party that acted.
    Principal {
        /// The person.
        User = "USER",
        /// The system itself.
        System = "SYS",
        /// A web source.
        Web = "WEB",
        /// A tool.
        Tool = "TOOL",
        /// A skill or another agent.
        Skill = "SKILL",
        /// A channel such as mail.
        Channel = "CHANNEL",
        /// Any other party.
        External = "EXTERNAL",
    }
}

names! {
    /// A reason not to trust a record. A record has its own taints and those of its parents.
    Taint {
        /// From an untrusted party.
        Untrusted = "UNTRUSTED",
        /// Suspected to carry instructions.
        InjectionSuspect = "INJECTION_SUSPECT",
        /// Through a proxy.
        ProxyDerived = "PROXY_DERIVED",
        /// May hold a secret.
        SecretRisk = "SECRET_RISK",
        /// From another session.
        CrossSession = "CROSS_SESSION",
        /// From a tool.
        ToolOutput = "TOOL_OUTPUT",
        /// From a skill.
        SkillOutput = "SKILL_OUTPUT",
        /// From the web.
        WebDerived = "WEB_DERIVED",
    }
}

/// A set of taints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TaintSet(u8);

impl TaintSet {
    /// No taint.
    pub const NONE: TaintSet = TaintSet(0);

    /// From an untrusted party, and nothing else.
    pub const UNTRUSTED: TaintSet = TaintSet(1 << Taint::Untrusted as u8);

    /// The set of these taints.
    pub fn new(taints: &[Taint]) -> TaintSet {
        TaintSet(taints.iter().fold(0, |bits, taint| bits | (1 << *taint as u8)))
    }

    /// All taints of both sets.
    #[must_use]
    pub fn union(self, other: TaintSet) -> TaintSet {
        TaintSet(self.0 | other.0)
    }

    /// Whether the set holds this taint.
    pub fn contains(self, taint: Taint) -> bool {
        self.0 & (1 << taint as u8) != 0
    }

    /// The taints in the order of the format.
    pub fn iter(self) -> impl Iterator<Item = Taint> {
        Taint::ALL.iter().copied().filter(move |taint| self.contains(*taint))
    }
}

/// Where the bytes of a record are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlobReference {
    /// The name of the blob: the hash of its bytes.
    pub hash: Hash,
    /// The media type.
    pub mime: String,
    /// How many bytes it has.
    pub size: u64,
}
