//! The questions on which JSON readers disagree, each with a name.

/// What a second member of the same name means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DuplicateKeys {
    /// An error that names the key.
    Refuse,
    /// The later value stands.
    LastWins,
}

/// What `NaN`, `Infinity` and `-Infinity` mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NonFinite {
    /// An error.
    Refuse,
    /// A number token.
    Accept,
}

/// What an escaped surrogate without its partner means.
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

    /// Refuses whatever two readers could understand differently. For everything that is imported.
    pub const STRICT: ReadPolicy = ReadPolicy {
        duplicates: DuplicateKeys::Refuse,
        non_finite: NonFinite::Refuse,
        surrogates: LoneSurrogates::Refuse,
        depth_max: 128,
    };

    /// What Python's reader accepts, to a smaller depth. For logs that Python hashed.
    pub const PYTHON: ReadPolicy = ReadPolicy {
        duplicates: DuplicateKeys::LastWins,
        non_finite: NonFinite::Accept,
        surrogates: LoneSurrogates::Keep,
        depth_max: 256,
    };

    /// What the reference reader of AEGX bundles accepts in free objects.
    pub const AEGX: ReadPolicy = ReadPolicy {
        duplicates: DuplicateKeys::LastWins,
        non_finite: NonFinite::Refuse,
        surrogates: LoneSurrogates::Refuse,
        depth_max: 127,
    };
}
