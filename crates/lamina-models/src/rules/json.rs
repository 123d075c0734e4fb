//! JSON documents, typed events and triples: structure is stated, so nothing is guessed.

use lamina_types::layer::extraction::Claim;

use crate::ground::Ungrounded;
use crate::source::Source;

/// Whether a claim stands on a scalar of the document.
pub(crate) fn grounded(_claim: &Claim, _source: &Source<'_>) -> Result<(), Ungrounded> {
    Err(Ungrounded::Object)
}
