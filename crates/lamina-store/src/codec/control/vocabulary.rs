//! A vocabulary was registered or changed: it stands in the entry whole, so that the newest one is all
//! that is needed. The head's causes name the entry it replaces.

use lamina_types::layer::Cardinality;
use lamina_types::vocabulary::{Datatype, Vocabulary, VocabularyKind, VocabularyTerm};
use lamina_types::{Micros, RecordedAt, ScopePath};

use super::VERSION;
use crate::codec::CodecError;
use crate::codec::wire::{FieldWriter, array, fields, number, once, parsed, required, string};

const KINDS: [VocabularyKind; 2] = [VocabularyKind::Predicate, VocabularyKind::Relation];
const DATATYPES: [Datatype; 3] = [Datatype::String, Datatype::Integer, Datatype::Entity];
const CARDINALITIES: [Cardinality; 2] = [Cardinality::One, Cardinality::Many];

/// A vocabulary was registered or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VocabularySet {
    /// What it is now.
    pub vocabulary: Vocabulary,
    /// How often it was set, this time included.
    pub version: u64,
    /// When it was first set; `None` the first time.
    pub created: Option<RecordedAt>,
    /// Terms that what was said before is not under any more: they are gone, or mean something else.
    pub withdrawn: Vec<String>,
    /// Terms that it has again.
    pub returned: Vec<String>,
    /// Where it was in force before, if it is somewhere else now: what is withdrawn is so there, as far as
    /// it is not in force there still.
    pub left: Option<Left>,
}

/// Where a vocabulary was in force that is somewhere else now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// In the whole tenant.
    Tenant,
    /// In a scope.
    Scope(ScopePath),
}

impl VocabularySet {
    /// The bytes of the section.
    pub fn encode(&self) -> Vec<u8> {
        let VocabularySet { vocabulary, version, created, withdrawn, returned, left } = self;
        let Vocabulary { name, kind, description, scope, predicates, relations, terms } =
            vocabulary;
        let mut out = FieldWriter::new(VERSION, 1_024);
        out.field(1, name.as_bytes());
        out.field(2, &[*kind as u8]);
        out.optional(3, description.as_deref().map(str::as_bytes));
        out.optional(4, scope.as_ref().map(|scope| scope.as_str().as_bytes()));
        for (tag, list) in [(5, predicates), (6, relations), (7, terms)] {
            for term in list {
                out.field(tag, &encode_term(term));
            }
        }
        out.number(8, *version);
        let created = created.map(|at| at.0.0.to_le_bytes());
        out.optional(9, created.as_ref().map(<[u8; 8]>::as_slice));
        for (tag, terms) in [(10, withdrawn), (11, returned)] {
            for term in terms {
                out.field(tag, term.as_bytes());
            }
        }
        out.optional(
            12,
            left.as_ref().map(|left| match left {
                Left::Tenant => &[][..],
                Left::Scope(scope) => scope.as_str().as_bytes(),
            }),
        );
        out.finish()
    }

    /// Reads the bytes of the section.
    pub fn decode(bytes: &[u8]) -> Result<VocabularySet, CodecError> {
        let (mut name, mut kind, mut description, mut scope) = (None, None, None, None);
        let (mut version, mut created, mut left) = (None, None, None);
        let (mut withdrawn, mut returned) = (Vec::new(), Vec::new());
        let (mut predicates, mut relations, mut terms) = (Vec::new(), Vec::new(), Vec::new());
        let mut fields = fields(bytes, VERSION)?;
        while let Some((tag, value)) = fields.next()? {
            match tag {
                1 => once(&mut name, string(value, "name")?, "name")?,
                2 => once(&mut kind, one_of(value, &KINDS, "kind")?, "kind")?,
                3 => once(&mut description, string(value, "description")?, "description")?,
                4 => once(&mut scope, parsed(value, "scope")?, "scope")?,
                5 => predicates.push(decode_term(value)?),
                6 => relations.push(decode_term(value)?),
                7 => terms.push(decode_term(value)?),
                8 => once(&mut version, number(value, "version")?, "version")?,
                9 => {
                    let at = i64::from_le_bytes(array(value, "created")?);
                    once(&mut created, RecordedAt(Micros(at)), "created")?;
                }
                10 => withdrawn.push(string(value, "withdrawn")?),
                11 => returned.push(string(value, "returned")?),
                12 if value.is_empty() => once(&mut left, Left::Tenant, "left")?,
                12 => once(&mut left, Left::Scope(parsed(value, "left")?), "left")?,
                _ => {}
            }
        }
        let vocabulary = Vocabulary {
            name: required(name, "name")?,
            kind: required(kind, "kind")?,
            description,
            scope,
            predicates,
            relations,
            terms,
        };
        let version = required(version, "version")?;
        Ok(VocabularySet { vocabulary, version, created, withdrawn, returned, left })
    }
}

fn encode_term(term: &VocabularyTerm) -> Vec<u8> {
    // Destructured, so that an added field does not compile until it has a tag.
    let VocabularyTerm {
        id,
        label,
        aliases,
        category,
        definition,
        datatype,
        values,
        cardinality,
        active,
        valid_from,
        valid_to,
        replaced_by,
    } = term;
    let mut out = FieldWriter::new(VERSION, 64);
    out.field(1, id.as_bytes());
    let words = [
        (2, label),
        (3, category),
        (4, definition),
        (5, valid_from),
        (6, valid_to),
        (7, replaced_by),
    ];
    for (tag, word) in words {
        out.optional(tag, word.as_deref().map(str::as_bytes));
    }
    for (tag, list) in [(8, aliases), (9, values)] {
        for word in list {
            out.field(tag, word.as_bytes());
        }
    }
    if let Some(datatype) = datatype {
        out.field(10, &[*datatype as u8]);
    }
    if let Some(cardinality) = cardinality {
        out.field(11, &[*cardinality as u8]);
    }
    if !active {
        out.field(12, &[]);
    }
    out.finish()
}

fn decode_term(bytes: &[u8]) -> Result<VocabularyTerm, CodecError> {
    let mut term = VocabularyTerm::new(String::new());
    let mut id = None;
    let mut fields = fields(bytes, VERSION)?;
    while let Some((tag, value)) = fields.next()? {
        match tag {
            1 => once(&mut id, string(value, "id")?, "id")?,
            2 => once(&mut term.label, string(value, "label")?, "label")?,
            3 => once(&mut term.category, string(value, "category")?, "category")?,
            4 => once(&mut term.definition, string(value, "definition")?, "definition")?,
            5 => once(&mut term.valid_from, string(value, "valid_from")?, "valid_from")?,
            6 => once(&mut term.valid_to, string(value, "valid_to")?, "valid_to")?,
            7 => once(&mut term.replaced_by, string(value, "replaced_by")?, "replaced_by")?,
            8 => term.aliases.push(string(value, "alias")?),
            9 => term.values.push(string(value, "value")?),
            10 => {
                let datatype = one_of(value, &DATATYPES, "datatype")?;
                once(&mut term.datatype, datatype, "datatype")?;
            }
            11 => {
                let cardinality = one_of(value, &CARDINALITIES, "cardinality")?;
                once(&mut term.cardinality, cardinality, "cardinality")?;
            }
            12 => term.active = false,
            _ => {}
        }
    }
    Ok(VocabularyTerm { id: required(id, "id")?, ..term })
}

/// The value with this number.
fn one_of<T: Copy + Numbered>(
    value: &[u8],
    all: &[T],
    field: &'static str,
) -> Result<T, CodecError> {
    let [wanted] = array(value, field)?;
    let found = all.iter().copied().find(|one| one.number() == wanted);
    found.ok_or(CodecError::Malformed { field })
}

trait Numbered {
    fn number(self) -> u8;
}

impl Numbered for VocabularyKind {
    fn number(self) -> u8 {
        self as u8
    }
}

impl Numbered for Datatype {
    fn number(self) -> u8 {
        self as u8
    }
}

impl Numbered for Cardinality {
    fn number(self) -> u8 {
        self as u8
    }
}

#[cfg(test)]
mod tests;
