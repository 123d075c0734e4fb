//! What became of records when something was taken back, in bytes: the same in lifecycle rows and in
//! the views.

use lamina_types::lifecycle::{DEPENDANTS_NAMED_MAX, Dependants, Derived, Fate, Fated};
use lamina_types::{BeliefId, ConceptId, EpisodeId, FactId};

use crate::codec::CodecError;
use crate::codec::wire::{Cursor, put_varint};

const MALFORMED: CodecError = CodecError::Malformed { field: "dependants" };

/// Appends them.
pub fn put_dependants(out: &mut Vec<u8>, dependants: &Dependants) {
    for fate in Fate::ALL {
        let Fated { count, named } = dependants.of(fate);
        put_varint(out, u64::from(*count));
        put_varint(out, named.len() as u64);
        for record in named {
            let (layer, id) = match record {
                Derived::Episode(id) => (1, id.as_bytes()),
                Derived::Fact(id) => (2, id.as_bytes()),
                Derived::Belief(id) => (3, id.as_bytes()),
                Derived::Concept(id) => (4, id.as_bytes()),
            };
            out.push(layer);
            out.extend_from_slice(id);
        }
    }
}

/// Reads them.
pub fn dependants(from: &mut Cursor<'_>) -> Result<Dependants, CodecError> {
    let mut dependants = Dependants::default();
    for fate in Fate::ALL {
        let count = u32::try_from(from.varint()?).map_err(|_| MALFORMED)?;
        let named = from.varint()?;
        if named > DEPENDANTS_NAMED_MAX as u64 || named > u64::from(count) {
            return Err(MALFORMED);
        }
        let named = (0..named).map(|_| {
            let layer = from.byte()?;
            let id = from.array()?;
            Ok(match layer {
                1 => Derived::Episode(EpisodeId::from_bytes(id)),
                2 => Derived::Fact(FactId::from_bytes(id)),
                3 => Derived::Belief(BeliefId::from_bytes(id)),
                4 => Derived::Concept(ConceptId::from_bytes(id)),
                _ => return Err(MALFORMED),
            })
        });
        let named = named.collect::<Result<Vec<Derived>, CodecError>>()?;
        *dependants.of_mut(fate) = Fated { count, named };
    }
    Ok(dependants)
}

#[cfg(test)]
mod tests;
