//! What feedback does to the order: of things that fit about equally, the one that was useful comes first.
//!
//! It is a share of what a record has by itself, so that nothing which does not fit is lifted by it, and it saturates:
//! however many say so, it decides between near ties and nothing else.

/// The most that feedback adds or takes, as a share.
pub const REINFORCED_MAX: f64 = 0.15;

/// The share that is added to a score, given how many more found it useful than not. One voice has half of the
/// most.
pub fn reinforced(net: i64) -> f64 {
    let net = net as f64;
    REINFORCED_MAX * net / (1.0 + net.abs())
}

#[cfg(test)]
mod tests;
