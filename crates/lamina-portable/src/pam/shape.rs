//! The shape of a document: which members it has, of which types, in which forms.

use std::collections::BTreeSet;

use super::forms::TextForm;
use super::report::{FileFindings, Level, Rule};
use crate::json::{JsonText, Member, Value};
use crate::quote;

/// The shape of a value.
pub(super) enum Shape {
    Text(TextForm),
    Bool,
    /// A number of these bounds.
    Fraction,
    Number,
    /// An integer of at least this.
    Count(i64),
    Array(&'static ArrayShape),
    Object(&'static ObjectShape),
    /// An object or a text.
    ObjectOrText,
}

pub(super) struct ArrayShape {
    pub(super) item: Shape,
    pub(super) items_min: usize,
    pub(super) items: Items,
}

#[derive(PartialEq, Eq)]
pub(super) enum Items {
    Any,
    Unique,
}

pub(super) struct ObjectShape {
    pub(super) fields: &'static [Field],
    pub(super) others: Others,
}

/// The treatment of members that the shape does not name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    Refused,
    Allowed,
}

pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) presence: Presence,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    Optional,
    /// Optional, and `null` says the same as nothing.
    Nullable,
}

pub(super) const fn required(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, presence: Presence::Required }
}

pub(super) const fn optional(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, presence: Presence::Optional }
}

pub(super) const fn nullable(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, presence: Presence::Nullable }
}

/// Checks values against shapes.
pub(super) struct ShapeCheck<'a, 'b> {
    pub(super) findings: &'a mut FileFindings<'b>,
    /// The level of names from a later minor version: an error in the version that is known.
    pub(super) unknown: Level,
    pub(super) place: String,
}

impl ShapeCheck<'_, '_> {
    pub(super) fn object(&mut self, value: &Value, shape: &ObjectShape) {
        let Some(members) = value.as_object() else { return self.wrong_type(value, "an object") };
        for field in shape.fields {
            let found = members.iter().find(|member| member.key.as_str() == Some(field.name));
            match found {
                Some(member) => self.inside(field.name, |check| check.field(&member.value, field)),
                None if field.presence == Presence::Required => {
                    let message = format!("`{}` is missing", field.name);
                    self.findings.error(Rule::Required, &self.place, message);
                }
                None => {}
            }
        }
        if shape.others == Others::Refused {
            self.other_members(members, shape);
        }
    }

    fn other_members(&mut self, members: &[Member], shape: &ObjectShape) {
        for Member { key, .. } in members {
            let is_known = shape.fields.iter().any(|field| key.as_str() == Some(field.name));
            if !is_known {
                let message = format!("`{}` is not a member here", quote(&key.to_lossy()));
                self.findings.add(self.unknown, Rule::UnknownMember, &self.place, message);
            }
        }
    }

    fn field(&mut self, value: &Value, field: &Field) {
        if value.is_null() && field.presence == Presence::Nullable {
            return;
        }
        self.value(value, &field.shape);
    }

    fn value(&mut self, value: &Value, shape: &Shape) {
        match (shape, value) {
            (Shape::Text(form), Value::String(text)) => self.text(text, *form),
            (Shape::Text(_), _) => self.wrong_type(value, "a string"),
            (Shape::Bool, Value::Bool(_)) => {}
            (Shape::Bool, _) => self.wrong_type(value, "true or false"),
            (Shape::Number, Value::Number(_)) => {}
            (Shape::Fraction, Value::Number(token)) => {
                if !(0.0..=1.0).contains(&token.to_f64()) {
                    let message = format!("{} is not between 0 and 1", quote(token.as_str()));
                    self.findings.error(Rule::Range, &self.place, message);
                }
            }
            (Shape::Number | Shape::Fraction, _) => self.wrong_type(value, "a number"),
            (Shape::Count(least), Value::Number(token)) => {
                let number = token.to_f64();
                if number.fract() != 0.0 {
                    return self.wrong_type(value, "an integer");
                }
                #[expect(clippy::cast_precision_loss, reason = "the bounds are 0 and 1")]
                if number < *least as f64 {
                    let message = format!("{} is less than {least}", quote(token.as_str()));
                    self.findings.error(Rule::Range, &self.place, message);
                }
            }
            (Shape::Count(_), _) => self.wrong_type(value, "an integer"),
            (Shape::Array(shape), Value::Array(items)) => self.array(items, shape),
            (Shape::Array(_), _) => self.wrong_type(value, "an array"),
            (Shape::Object(shape), _) => self.object(value, shape),
            (Shape::ObjectOrText, Value::Object(_) | Value::String(_)) => {}
            (Shape::ObjectOrText, _) => self.wrong_type(value, "an object or a string"),
        }
    }

    fn array(&mut self, items: &[Value], shape: &ArrayShape) {
        if items.len() < shape.items_min {
            let message = format!("the array has fewer than {} items", shape.items_min);
            self.findings.error(Rule::Length, &self.place, message);
        }
        let mut seen = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            self.inside(&index.to_string(), |check| check.value(item, &shape.item));
            if shape.items == Items::Unique
                && let Some(text) = item.as_str()
                && !seen.insert(text)
            {
                let message = format!("`{}` occurs twice", quote(text));
                self.findings.error(Rule::UniqueItems, &self.place, message);
            }
        }
    }

    fn text(&mut self, text: &JsonText, form: TextForm) {
        let Some(text) = text.as_str() else {
            return self.findings.error(Rule::Type, &self.place, "half of a surrogate pair");
        };
        if let TextForm::OneOf(names) = form {
            if !names.contains(&text) {
                let message = format!("`{}` is not one of {}", quote(text), names.join(", "));
                self.findings.add(self.unknown, Rule::Enum, &self.place, message);
            }
            return;
        }
        if let Some(expected) = form.fault(text) {
            let rule = match form {
                TextForm::NonEmpty => Rule::Length,
                TextForm::DateTime | TextForm::Uri => Rule::Format,
                _ => Rule::Pattern,
            };
            self.findings.error(rule, &self.place, format!("`{}` {expected}", quote(text)));
        }
    }

    fn wrong_type(&mut self, value: &Value, expected: &str) {
        let message = format!("expected {expected}, found {}", value.type_name());
        self.findings.error(Rule::Type, &self.place, message);
    }

    fn inside(&mut self, name: &str, check: impl FnOnce(&mut Self)) {
        let length = self.place.len();
        self.place.push('/');
        self.place.push_str(name);
        check(self);
        self.place.truncate(length);
    }
}
