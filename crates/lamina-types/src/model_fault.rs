//! What can go wrong with a language model, as a closed list: it is stored, counted and shown by these
//! names.

/// Why a model's answer cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ModelFault {
    /// Nobody answers at the address, or its name is not known.
    Unreachable = 1,
    /// The other end does not prove who it is.
    Tls = 2,
    /// The answer did not come, or not all of it, in time.
    Timeout = 3,
    /// The connection ended in the middle, or what came is not HTTP.
    CutOff = 4,
    /// More bytes than an answer may have.
    TooLarge = 5,
    /// Too many requests: to be asked later.
    Busy = 6,
    /// The server failed.
    ServerError = 7,
    /// The server sends us elsewhere; it is not followed.
    Redirected = 8,
    /// The key is wrong, or there is no such model or path.
    Rejected = 9,
    /// The server does not take this request: too long, or not in a form it knows.
    BadRequest = 10,
    /// Not JSON, by its head or by its bytes.
    NotJson = 11,
    /// Success by its status, an error by its body.
    ErrorBody = 12,
    /// The model will not.
    Refusal = 13,
    /// The model ran out of tokens before it was done.
    Truncated = 14,
    /// An answer that holds nothing.
    Empty = 15,
    /// JSON, but not what was asked for.
    WrongShape = 16,
    /// The answer has nothing about this event.
    Missing = 17,
    /// It would take more than the budget of a whole day.
    Budget = 18,
    /// A policy denies `llm.invoke` where the event is.
    Forbidden = 19,
}

impl ModelFault {
    /// All of them.
    pub const ALL: &'static [ModelFault] = &[
        ModelFault::Unreachable,
        ModelFault::Tls,
        ModelFault::Timeout,
        ModelFault::CutOff,
        ModelFault::TooLarge,
        ModelFault::Busy,
        ModelFault::ServerError,
        ModelFault::Redirected,
        ModelFault::Rejected,
        ModelFault::BadRequest,
        ModelFault::NotJson,
        ModelFault::ErrorBody,
        ModelFault::Refusal,
        ModelFault::Truncated,
        ModelFault::Empty,
        ModelFault::WrongShape,
        ModelFault::Missing,
        ModelFault::Budget,
        ModelFault::Forbidden,
    ];

    /// The name on the wire, in logs and in metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            ModelFault::Unreachable => "unreachable",
            ModelFault::Tls => "tls",
            ModelFault::Timeout => "timeout",
            ModelFault::CutOff => "cut_off",
            ModelFault::TooLarge => "too_large",
            ModelFault::Busy => "busy",
            ModelFault::ServerError => "server_error",
            ModelFault::Redirected => "redirected",
            ModelFault::Rejected => "rejected",
            ModelFault::BadRequest => "bad_request",
            ModelFault::NotJson => "not_json",
            ModelFault::ErrorBody => "error_body",
            ModelFault::Refusal => "refusal",
            ModelFault::Truncated => "truncated",
            ModelFault::Empty => "empty",
            ModelFault::WrongShape => "wrong_shape",
            ModelFault::Missing => "missing",
            ModelFault::Budget => "budget",
            ModelFault::Forbidden => "forbidden",
        }
    }

    /// The fault with this number.
    pub fn from_u8(number: u8) -> Option<ModelFault> {
        ModelFault::ALL.iter().copied().find(|fault| *fault as u8 == number)
    }

    /// Whether it may come from the words that were sent: fewer of them may do better. The others are
    /// the server's, and waiting is what helps.
    pub fn is_about_words(self) -> bool {
        matches!(
            self,
            ModelFault::TooLarge
                | ModelFault::BadRequest
                | ModelFault::NotJson
                | ModelFault::Refusal
                | ModelFault::Truncated
                | ModelFault::Empty
                | ModelFault::WrongShape
                | ModelFault::Missing
                | ModelFault::Budget
        )
    }
}
