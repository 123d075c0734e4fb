//! The questions on which JSON readers disagree, each with a name.

/// The treatment of a second member of the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DuplicateKeys {
    /// An error that names the key.
    Refuse,
    /// The later value stands.
    LastWins,
}

/// The treatment of `NaN`, `Infinity` and `-Infinity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NonFinite {
    /// An error.
    Refuse,
    /// A number token.
    Accept,
}

/// The treatment of an escaped surrogate without its partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoneSurrogates {
    /// An error.
    Refuse,
    /// Kept as the unit it is.
    Keep,
}

/// How a reader decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadPolicy {
    /// A second member of the same name.
    pub duplicates: DuplicateKeys,
    /// `NaN` and the infinities.
    pub non_finite: NonFinite,
    /// Half of a surrogate pair.
    pub surrogates: LoneSurrogates,
    /// Arrays and objects inside each other.
    pub depth_max: usize,
}

impl ReadPolicy {
    /// Digits of an integer; Python stops there too.
    pub const INTEGER_DIGITS_MAX: usize = 4_300;

    /// Refuses input that two readers could understand differently. Used for every import.
    pub const STRICT: ReadPolicy = ReadPolicy {
        duplicates: DuplicateKeys::Refuse,
        non_finite: NonFinite::Refuse,
        surrogates: LoneSurrogates::Refuse,
        depth_max: 128,
    };

    /// Accepts the JSON of Python's reader, to a smaller depth. Used for logs that Python hashed.
    pub const PYTHON: ReadPolicy = ReadPolicy {
        duplicates: DuplicateKeys::LastWins,
        non_finite: NonFinite::Accept,
        surrogates: LoneSurrogates::Keep,
        depth_max: 256,
    };

    /// Accepts the JSON of the reference reader of AEGX bundles.
    #[cfg(feature = "aegx")]
    pub const AEGX: ReadPolicy = ReadPolicy {
        duplicates: DuplicateKeys::LastWins,
        non_finite: NonFinite::Refuse,
        surrogates: LoneSurrogates::Refuse,
        depth_max: 127,
    };
}
