//! Which of those who bear one and the same name is meant.
//!
//! What kind of thing is spoken of is evidence and no part of the name: "Acme" of which nothing is known
//! is the company Acme if there is one. Two that are certainly of different sorts stay two.

use lamina_types::EntityId;
use lamina_types::layer::extraction::EntityKind;

/// Somebody or something that bears a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bearer {
    /// Its id.
    pub id: EntityId,
    /// What it is.
    pub kind: EntityKind,
    /// It is called so in the scope in which the name is said.
    pub here: bool,
}

/// The one that is meant by a name that is said of this kind of thing; none if it is somebody new. Of
/// several that could be meant equally the first.
pub fn meant(kind: EntityKind, bearers: &[Bearer]) -> Option<usize> {
    let known = |here: bool| {
        let of = bearers.iter().enumerate().filter(move |(_, bearer)| bearer.here == here);
        of.filter(move |(_, bearer)| bearer.kind != EntityKind::Thing && agree(kind, bearer.kind))
    };
    for here in [true, false] {
        let Some((first, bearer)) = known(here).next() else { continue };
        // Said of nothing in particular while a person and a company are called so: nobody can tell.
        if known(here).all(|(_, other)| is_same_sort(bearer.kind, other.kind)) {
            return Some(first);
        }
        break;
    }
    let unknown = |here: bool| {
        let is_it = |bearer: &Bearer| bearer.here == here && bearer.kind == EntityKind::Thing;
        bearers.iter().position(is_it)
    };
    unknown(true).or_else(|| unknown(false))
}

/// Whether a name that is said of one kind can mean something of another. An identifier belongs to
/// whoever has it.
pub fn agree(said: EntityKind, known: EntityKind) -> bool {
    said == EntityKind::Identifier
        || said == EntityKind::Thing
        || known == EntityKind::Thing
        || is_same_sort(said, known)
}

/// Whether two known kinds can be of one thing. A company and what it makes are called the same, and
/// are spoken of as one.
pub fn is_same_sort(one: EntityKind, other: EntityKind) -> bool {
    let makes = [EntityKind::Organization, EntityKind::Product];
    one == other || (makes.contains(&one) && makes.contains(&other))
}
