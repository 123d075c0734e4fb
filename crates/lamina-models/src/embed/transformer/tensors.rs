//! Named arrays of numbers in one file (safetensors): eight bytes of length, JSON that says where what is,
//! and the numbers.

use serde_json::{Map, Value};

use super::ModelError;

const NAME: &str = "model.safetensors";

pub(super) struct Tensors<'a> {
    head: Map<String, Value>,
    data: &'a [u8],
    /// What stands before every name.
    prefix: &'static str,
}

impl<'a> Tensors<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Result<Tensors<'a>, ModelError> {
        let bad = || ModelError::bad(NAME, "is cut off, or is no file of tensors");
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(bad)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| bad())?;
        let (head, data) = rest.split_at_checked(length).ok_or_else(bad)?;
        let head: Map<String, Value> = serde_json::from_slice(head).map_err(|_| bad())?;
        let prefix = match head.keys().any(|name| name.starts_with("bert.")) {
            true => "bert.",
            false => "",
        };
        Ok(Tensors { head, data, prefix })
    }

    /// The numbers of a tensor of this shape.
    pub(super) fn numbers(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let name = format!("{}{name}", self.prefix);
        let found = self.shaped(&name)?;
        if found != shape {
            return Err(ModelError::bad(
                NAME,
                format!("has `{name}` as {found:?}, not as {shape:?}"),
            ));
        }
        self.read(&name)
    }

    /// The rows of a table with rows of this length.
    pub(super) fn table(&self, name: &str, width: usize) -> Result<Vec<f32>, ModelError> {
        let name = format!("{}{name}", self.prefix);
        match self.shaped(&name)?.as_slice() {
            [_, found] if *found == width => self.read(&name),
            _ => Err(ModelError::bad(NAME, format!("has `{name}` in a shape that does not fit"))),
        }
    }

    fn shaped(&self, name: &str) -> Result<Vec<usize>, ModelError> {
        let shape = self.head.get(name).and_then(|tensor| tensor.get("shape")?.as_array());
        let shape = shape.ok_or_else(|| ModelError::bad(NAME, format!("has no `{name}`")))?;
        let size = |size: &Value| size.as_u64().and_then(|size| usize::try_from(size).ok());
        let shape: Option<Vec<usize>> = shape.iter().map(size).collect();
        shape.ok_or_else(|| ModelError::bad(NAME, format!("has no shape for `{name}`")))
    }

    fn read(&self, name: &str) -> Result<Vec<f32>, ModelError> {
        let bad = || ModelError::bad(NAME, format!("does not hold `{name}` as it says"));
        let tensor = self.head.get(name).ok_or_else(bad)?;
        let at = |which: usize| tensor.get("data_offsets")?.get(which)?.as_u64();
        let at = |which: usize| at(which).and_then(|at| usize::try_from(at).ok()).ok_or_else(bad);
        let bytes = self.data.get(at(0)?..at(1)?).ok_or_else(bad)?;
        let shape = self.shaped(name)?;
        let count = shape.iter().try_fold(1_usize, |product, size| product.checked_mul(*size));
        let numbers: Vec<f32> = match tensor.get("dtype").and_then(Value::as_str) {
            Some("F32") => chunks::<4>(bytes).map(f32::from_le_bytes).collect(),
            Some("F16") => {
                chunks::<2>(bytes).map(|half| half_to_f32(u16::from_le_bytes(half))).collect()
            }
            Some("BF16") => {
                let wide =
                    |half: [u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(half)) << 16);
                chunks::<2>(bytes).map(wide).collect()
            }
            _ => {
                return Err(ModelError::bad(
                    NAME,
                    format!("has `{name}` in numbers that are not known"),
                ));
            }
        };
        if Some(numbers.len()) != count || numbers.iter().any(|number| !number.is_finite()) {
            return Err(bad());
        }
        Ok(numbers)
    }
}

fn chunks<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> {
    bytes.chunks_exact(N).filter_map(|chunk| chunk.first_chunk::<N>().copied())
}

/// Half precision: 1 sign, 5 exponent, 10 fraction.
fn half_to_f32(half: u16) -> f32 {
    let (sign, exponent, fraction) = (half >> 15, (half >> 10) & 0x1f, half & 0x3ff);
    let magnitude = match exponent {
        0 => f32::from(fraction) * 2.0_f32.powi(-24),
        31 => f32::INFINITY,
        _ => (1.0 + f32::from(fraction) / 1_024.0) * 2.0_f32.powi(i32::from(exponent) - 15),
    };
    if sign == 1 { -magnitude } else { magnitude }
}
