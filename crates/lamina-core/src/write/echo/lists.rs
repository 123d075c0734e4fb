//! Words that decide about echoes; English, like everything that is read out of words here.

/// Words by which somebody says that he remembers, and words of time that add nothing to what was dated. Sorted.
pub(super) const FRAMES: &[&str] = &[
    "according",
    "again",
    "ago",
    "already",
    "as",
    "based",
    "context",
    "currently",
    "earlier",
    "everything",
    "know",
    "known",
    "last",
    "let",
    "looks",
    "memory",
    "mention",
    "mentioned",
    "noted",
    "notes",
    "now",
    "ok",
    "okay",
    "previous",
    "previously",
    "recall",
    "recalled",
    "record",
    "recorded",
    "records",
    "remember",
    "remembered",
    "remind",
    "reminder",
    "right",
    "seems",
    "shared",
    "shows",
    "stated",
    "still",
    "sure",
    "today",
    "told",
    "tomorrow",
    "yes",
    "yesterday",
];

/// Words that deny. Sorted.
pub(super) const DENIALS: &[&str] = &[
    "cannot", "declined", "denied", "ended", "longer", "neither", "never", "no", "nobody", "none",
    "nor", "not", "nothing", "quit", "refused", "stopped", "without",
];

/// Words by their numbers.
pub(super) const NUMBERS: &[&str] = &[
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve",
];

/// Words that are near each other and mean the opposite.
pub(super) const OPPOSITES: &[(&[&str], &[&str])] = &[
    (
        &[
            "love", "loves", "loved", "enjoy", "enjoys", "enjoyed", "likes", "liked", "prefers",
            "prefer",
        ],
        &[
            "hate", "hates", "hated", "dislike", "dislikes", "disliked", "avoid", "avoids",
            "avoided",
        ],
    ),
    (&["buy", "buys", "bought", "buying"], &["sell", "sells", "sold", "selling"]),
    (
        &["increase", "increased", "increases", "rose", "raised", "raise", "grew"],
        &[
            "decrease",
            "decreased",
            "decreases",
            "fell",
            "reduced",
            "reduce",
            "cut",
            "lowered",
            "shrank",
        ],
    ),
    (
        &["start", "starts", "started", "begin", "begins", "began", "joined", "joins"],
        &[
            "stop", "stops", "stopped", "end", "ends", "ended", "left", "leaves", "quit", "quits",
            "finished",
        ],
    ),
    (
        &[
            "accept",
            "accepted",
            "accepts",
            "approve",
            "approved",
            "approves",
            "signed",
            "confirmed",
        ],
        &[
            "reject",
            "rejected",
            "rejects",
            "decline",
            "declined",
            "cancelled",
            "canceled",
            "cancels",
            "refused",
        ],
    ),
    (&["open", "opens", "opened"], &["close", "closes", "closed", "shut"]),
    (&["won", "wins", "win"], &["lost", "loses", "lose"]),
    (&["passed", "passes", "succeeded", "works"], &["failed", "fails", "broke", "broken"]),
    (&["hired", "hires"], &["fired", "fires", "dismissed"]),
    (&["married", "marries"], &["divorced", "separated"]),
    (&["early", "earlier"], &["late", "later"]),
    (&["arrived", "arrives", "came", "comes"], &["departed", "departs", "went", "leaves", "left"]),
    (&["cheap", "cheaper"], &["expensive", "dear"]),
    (&["lent", "lends"], &["borrowed", "borrows"]),
    (&["gave", "gives"], &["took", "takes"]),
];
