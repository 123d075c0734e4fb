//! Entities and values of facts, as lines of an export write them.

use lamina_engine::read::facts::FactObject;
use lamina_portable::export::{ExportTerm, ExportThing};
use lamina_portable::json::Value;
use lamina_types::layer::{EntityKind, Object, Term};

use crate::http::{kind_word, term_name};

/// A term by its name and kind, as a decision names it on another server.
pub(crate) fn term_value(term: &Term, kind: EntityKind) -> Value {
    Value::object([("name", Value::from(term_name(term))), ("kind", Value::from(kind_word(kind)))])
}

/// The kind of thing that a term says.
fn term_kind(term: &Term) -> Option<EntityKind> {
    match term {
        Term::Actor(_) => Some(EntityKind::Person),
        Term::Named { kind, .. } => Some(*kind),
        Term::Of { .. } => None,
    }
}

/// A thing of a fact.
pub(super) fn thing(id: String, term: &Term) -> ExportThing {
    let kind = term_kind(term).map(|kind| kind_word(kind).to_owned());
    ExportThing { id, name: term_name(term), kind }
}

/// The object of a fact.
pub(super) fn export_term(object: &FactObject) -> ExportTerm {
    match (&object.object, object.entity) {
        (Object::Entity(term), Some(id)) => ExportTerm::Thing(thing(id.to_string(), term)),
        (other, _) => {
            let (datatype, value) = literal(other);
            ExportTerm::Literal { datatype: datatype.to_owned(), value }
        }
    }
}

/// The object of a claim without ids: equal on every server.
pub(crate) fn object_value(object: &FactObject) -> Value {
    let (datatype, value) = literal(&object.object);
    Value::object([("datatype", Value::from(datatype)), ("value", value)])
}

fn literal(object: &Object) -> (&'static str, Value) {
    match object {
        Object::Entity(term) => ("entity", Value::from(term_name(term))),
        Object::Text(text) => ("string", Value::from(text.as_str())),
        Object::Date(date) => ("date", Value::from(date.as_str())),
        Object::Bool(yes) => ("boolean", Value::Bool(*yes)),
        Object::Number { value, unit: None } => ("number", Value::from(value.as_str())),
        Object::Number { value, unit: Some(unit) } => {
            let members = [("value", value), ("unit", unit)];
            ("number", Value::object(members.map(|(key, text)| (key, Value::from(text.as_str())))))
        }
        Object::Money { amount, currency } => {
            let members = [("amount", amount), ("currency", currency)];
            ("money", Value::object(members.map(|(key, text)| (key, Value::from(text.as_str())))))
        }
    }
}
