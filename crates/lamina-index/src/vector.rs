//! Meaning as numbers: vectors of one space, kept per scope, compared exactly.
//!
//! A scope's vectors lie next to each other in memory and are all compared: at the sizes that a scope
//! has, that is faster than any graph, never misses, and a filter costs nothing. Vectors are kept as
//! bytes; the model that made them and their dimension are kept with them, and a question from another
//! space is refused rather than answered with noise.

mod rows;
mod state;
mod cache;
mod scan;
mod beside;
mod store;
mod inspect;

pub(crate) use beside::Beside;
pub(crate) use cache::{Block, Budget};
pub(crate) use inspect::{inspect, verify};
pub(crate) use scan::nearest;
pub use scan::{VectorHit, VectorQuery};
pub(crate) use state::LAYOUT;
pub(crate) use store::Store;

/// Dimensions of a vector at most.
pub const DIMS_MAX: u16 = 4_096;

/// Which model made a vector, and how many numbers it has. Vectors of two spaces are never compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Space {
    /// The model's name and version.
    pub model: String,
    /// Numbers of one vector.
    pub dims: u16,
}

/// A direction: a vector of length 1, each number kept in a byte.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    values: Box<[i8]>,
    /// What a byte is worth; makes the length 1.
    scale: f32,
}

impl Vector {
    /// The direction of these numbers; none if they are all zero or not numbers.
    pub fn of(values: &[f32]) -> Option<Vector> {
        let largest = values.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
        if !largest.is_finite() || largest <= 0.0 {
            return None;
        }
        let step = 127.0 / largest;
        // Rounding keeps the largest at 127 exactly; the cast cannot saturate. What is not a number
        // becomes 0.
        let values = values.iter().map(|value| (value * step).round() as i8).collect();
        Vector::of_bytes(values)
    }

    /// The direction of these bytes; none if they are all zero.
    pub fn of_bytes(values: Box<[i8]>) -> Option<Vector> {
        let square = dot(&values, &values);
        if square == 0 {
            return None;
        }
        Some(Vector { scale: scale_of(square), values })
    }

    /// Its numbers, one byte each, as they are stored.
    pub fn bytes(&self) -> &[i8] {
        &self.values
    }

    /// How many numbers it has.
    pub fn dims(&self) -> usize {
        self.values.len()
    }

    /// What a byte is worth.
    pub(crate) fn scale(&self) -> f32 {
        self.scale
    }

    /// How far two directions agree: 1 for the same, 0 for nothing in common.
    pub fn cosine(&self, other: &Vector) -> f32 {
        cosine_of(self, &other.values, other.scale)
    }
}

/// The same with a vector that is kept as its bytes and what they are worth.
#[inline(always)]
pub(crate) fn cosine_of(one: &Vector, values: &[i8], scale: f32) -> f32 {
    dot(&one.values, values) as f32 * one.scale * scale
}

/// A vector that many others are compared with.
#[derive(Debug)]
pub(crate) struct Wide {
    /// As wide as what products of bytes are made from.
    values: Box<[i16]>,
    scale: f32,
}

impl Wide {
    pub(crate) fn of(vector: &Vector) -> Wide {
        Wide { values: vector.values.iter().copied().map(i16::from).collect(), scale: vector.scale }
    }

    /// The cosine with a vector that is kept as its bytes and what they are worth: the same as
    /// [`Vector::cosine`] to the last bit.
    #[inline(always)]
    pub(crate) fn cosine(&self, values: &[i8], scale: f32) -> f32 {
        // Of a length that is known the compiler makes half as many instructions.
        let known = <&[i16; USUAL]>::try_from(&*self.values).ok().zip(values.try_into().ok());
        let sum = match known {
            Some((left, right)) => products::<USUAL>(left, right),
            None => some_products(&self.values, values),
        };
        sum as f32 * self.scale * scale
    }
}

impl Wide {
    /// The cosines with all of these, in order, with the widest instructions that this processor has.
    pub(crate) fn cosines<'r>(
        &self,
        rows: impl Iterator<Item = (&'r [i8], f32)>,
        cosines: &mut Vec<f32>,
    ) {
        Wide::each_cosine(&[self], rows, cosines);
    }

    /// The same of several: for each row the cosines with all of them.
    pub(crate) fn each_cosine<'r>(
        all: &[&Wide],
        rows: impl Iterator<Item = (&'r [i8], f32)>,
        cosines: &mut Vec<f32>,
    ) {
        cosines.clear();
        fearless_simd::dispatch!(fearless_simd::Level::new(), _ => compare(all, rows, cosines));
    }
}

impl Wide {
    /// The cosine of each row with the one that it names.
    pub(crate) fn cosines_of<'r>(
        all: &[Wide],
        rows: impl Iterator<Item = (usize, &'r [i8], f32)>,
        cosines: &mut Vec<f32>,
    ) {
        cosines.clear();
        fearless_simd::dispatch!(fearless_simd::Level::new(), _ => compare_with(all, rows, cosines));
    }
}

/// Dimensions of the built-in embedder.
const USUAL: usize = 256;

/// Plain loops on purpose, here and in what they call: what is handed to an iterator as a closure is not always made part
/// of the caller, and then wide instructions are not used.
#[inline(always)]
fn compare<'r>(all: &[&Wide], rows: impl Iterator<Item = (&'r [i8], f32)>, cosines: &mut Vec<f32>) {
    for (values, scale) in rows {
        for one in all {
            cosines.push(one.cosine(values, scale));
        }
    }
}

#[inline(always)]
fn compare_with<'r>(
    all: &[Wide],
    rows: impl Iterator<Item = (usize, &'r [i8], f32)>,
    cosines: &mut Vec<f32>,
) {
    for (which, values, scale) in rows {
        if let Some(one) = all.get(which) {
            cosines.push(one.cosine(values, scale));
        }
    }
}

#[inline(always)]
fn products<const DIMS: usize>(left: &[i16; DIMS], right: &[i8; DIMS]) -> i32 {
    let mut sum = 0;
    for (left, right) in left.iter().zip(right) {
        sum += i32::from(*left) * i32::from(*right);
    }
    sum
}

#[inline(always)]
fn some_products(left: &[i16], right: &[i8]) -> i32 {
    let mut sum = 0;
    for (left, right) in left.iter().zip(right) {
        sum += i32::from(*left) * i32::from(*right);
    }
    sum
}

fn scale_of(square: i32) -> f32 {
    (1.0 / f64::from(square).sqrt()) as f32
}

/// The sum of products. Exact: at most 4,096 products below 2^14 stay far below 2^31, so the order in
/// which the compiler adds them does not matter and it may use wide instructions.
#[inline(always)]
fn dot(left: &[i8], right: &[i8]) -> i32 {
    left.iter().zip(right).map(|(left, right)| i32::from(*left) * i32::from(*right)).sum()
}

#[cfg(test)]
mod tests;
