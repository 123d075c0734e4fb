//! Wrappers that make derived shapes strict about what stands in for an object.
//!
//! A derived struct also reads an array, field by field; on the wire that is a mistake, so objects
//! are read through [`Obj`]. [`OrText`] is an object that lenient clients may write as one string.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};

/// A `T` that was written as a JSON object.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Obj<T>(pub T);

/// A `T`, or the short form of it.
#[derive(Debug, Clone, PartialEq)]
pub enum OrText<T> {
    /// One string.
    Text(String),
    /// The object.
    Object(T),
}

struct ObjVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjVisitor<T> {
    type Value = Obj<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Obj<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Obj)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Obj<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjVisitor(PhantomData))
    }
}

struct OrTextVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OrTextVisitor<T> {
    type Value = OrText<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<OrText<T>, E> {
        Ok(OrText::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OrText<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(OrText::Object)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OrText<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OrTextVisitor(PhantomData))
    }
}

macro_rules! schema_of_inner {
    ($($wrapper:ident),*) => {
        $(
            /// The contract is the object; the wrapper does not show.
            impl<T: JsonSchema> JsonSchema for $wrapper<T> {
                fn inline_schema() -> bool {
                    T::inline_schema()
                }

                fn schema_name() -> Cow<'static, str> {
                    T::schema_name()
                }

                fn schema_id() -> Cow<'static, str> {
                    T::schema_id()
                }

                fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                    T::json_schema(generator)
                }
            }
        )*
    };
}

schema_of_inner!(Obj, OrText);
