//! A declared belief as the fold knows it, with its words or without.

use lamina_store::codec::CodecError;
use lamina_store::codec::control::BeliefDeclared;
use lamina_store::entry::{Entry, SectionState};
use lamina_store::view::derived::Rows;
use lamina_store::view::{Tag, ViewError};
use lamina_types::layer::Object;
use lamina_types::stdx::hex;

use super::{Hash, Words, hash, kept};
use crate::derive::beliefs::declared::{SUBJECT, folded};

/// What the words of a declaration are known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    /// The name of what it is about, if it has one.
    pub(crate) subject: Option<Tag>,
    pub(crate) predicate: Tag,
    /// What is believed.
    pub(crate) value: Tag,
}

/// Reads a declaration, from its section or from what was kept of it; `None` if nothing was.
pub(crate) fn read(
    rows: &Rows<'_, '_>,
    entry: &Entry,
) -> Result<Option<(BeliefDeclared, Known)>, ViewError> {
    let (offset, tenant) = (entry.head.offset, entry.head.tenant);
    let unreadable = |source: CodecError| ViewError::Entry { offset, source };
    if let SectionState::Live(bytes) = &entry.what {
        let what = BeliefDeclared::decode(bytes).map_err(unreadable)?;
        let known = known(&hash(rows, tenant), &what)?;
        return Ok(Some((what, known)));
    }
    let Some(bytes) = rows.residue(offset) else { return Ok(None) };
    let what = BeliefDeclared::decode(bytes).map_err(unreadable)?;
    let known = Known {
        subject: what.subject_name.as_deref().map(kept::tag).transpose()?,
        predicate: kept::tag(&what.predicate)?,
        value: kept::tag(&what.statement)?,
    };
    Ok(Some((what, known)))
}

/// What is kept of a declaration that is erased.
pub(crate) fn without_words(
    hash: &Hash<'_>,
    what: &BeliefDeclared,
) -> Result<BeliefDeclared, ViewError> {
    let Known { subject, predicate, value } = known(hash, what)?;
    Ok(BeliefDeclared {
        statement: hex::encode(&value),
        subject_name: subject.map(|tag| hex::encode(&tag)),
        predicate: hex::encode(&predicate),
        ..what.clone()
    })
}

fn known(hash: &Hash<'_>, what: &BeliefDeclared) -> Result<Known, ViewError> {
    let subject = what.subject_name.as_deref();
    let subject = subject.map(|name| hash(SUBJECT, &[folded(name).as_bytes()])).transpose()?;
    let words = Object::Text(what.statement.clone());
    // Whoever says nothing believes nothing in particular: the hash of no words.
    let value = Words::Said.value(hash, &words)?;
    let value = value.map_or_else(|| super::text_of(hash, ""), Ok)?;
    Ok(Known { subject, predicate: Words::Said.predicate(hash, &what.predicate)?, value })
}
