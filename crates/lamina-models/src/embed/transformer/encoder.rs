//! The encoder: layers of attention over the tokens of each text, all texts of a batch in one matrix.

use ndarray::{Array1, Array2, ArrayView1, ArrayViewMut2, Axis, Slice};

use super::ModelError;
use super::config::{Activation, Config};
use super::tensors::Tensors;

const NAME: &str = "model.safetensors";

#[derive(Debug)]
pub(super) struct Encoder {
    words: Array2<f32>,
    positions: Array2<f32>,
    kind: Array1<f32>,
    norm: Norm,
    layers: Vec<Layer>,
    heads: usize,
    activation: Activation,
}

#[derive(Debug)]
struct Layer {
    /// Questions, keys and values, one after the other.
    asks: Linear,
    mixed: Linear,
    attended: Norm,
    wide: Linear,
    narrow: Linear,
    done: Norm,
}

#[derive(Debug)]
struct Linear {
    weight: Array2<f32>,
    bias: Array1<f32>,
}

#[derive(Debug)]
struct Norm {
    weight: Array1<f32>,
    bias: Array1<f32>,
    epsilon: f32,
}

impl Encoder {
    pub(super) fn read(tensors: &Tensors<'_>, config: &Config) -> Result<Encoder, ModelError> {
        let hidden = config.hidden;
        let table = |name: &str| rows(tensors.table(name, hidden)?, hidden);
        let kinds = table("embeddings.token_type_embeddings.weight")?;
        let kind = kinds.outer_iter().next().map(|row| row.to_owned());
        let positions = table("embeddings.position_embeddings.weight")?;
        if positions.nrows() < config.tokens_max {
            return Err(ModelError::bad(NAME, "has fewer positions than `config.json` says"));
        }
        Ok(Encoder {
            words: table("embeddings.word_embeddings.weight")?,
            positions,
            kind: kind.ok_or_else(|| ModelError::bad(NAME, "has no token types"))?,
            norm: Norm::read(tensors, "embeddings.LayerNorm", config)?,
            layers: (0..config.layers)
                .map(|number| Layer::read(tensors, &format!("encoder.layer.{number}"), config))
                .collect::<Result<_, _>>()?,
            heads: config.heads,
            activation: config.activation,
        })
    }

    /// The outputs of all tokens, text after text.
    pub(super) fn run(&self, texts: &[Vec<u32>]) -> Array2<f32> {
        let hidden = self.kind.len();
        let count = texts.iter().map(Vec::len).sum();
        let mut x = Array2::<f32>::zeros((count, hidden));
        let placed = texts.iter().flat_map(|text| text.iter().enumerate());
        for (mut row, (position, token)) in x.outer_iter_mut().zip(placed) {
            // A token that the table does not have says nothing.
            if (*token as usize) < self.words.nrows() {
                row += &self.words.row(*token as usize);
            }
            row += &self.positions.row(position);
            row += &self.kind;
        }
        self.norm.apply(&mut x);
        let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
        for layer in &self.layers {
            let mixed = attend(&layer.asks.apply(&x), &lengths, self.heads);
            x += &layer.mixed.apply(&mixed);
            layer.attended.apply(&mut x);
            let mut wide = layer.wide.apply(&x);
            activate(self.activation, &mut wide);
            x += &layer.narrow.apply(&wide);
            layer.done.apply(&mut x);
        }
        x
    }
}

impl Layer {
    fn read(tensors: &Tensors<'_>, at: &str, config: &Config) -> Result<Layer, ModelError> {
        let hidden = config.hidden;
        let mut weights = Vec::with_capacity(3 * hidden * hidden);
        let mut biases = Vec::with_capacity(3 * hidden);
        for part in ["query", "key", "value"] {
            let name = |end: &str| format!("{at}.attention.self.{part}.{end}");
            weights.extend(tensors.numbers(&name("weight"), &[hidden, hidden])?);
            biases.extend(tensors.numbers(&name("bias"), &[hidden])?);
        }
        let wide = format!("{at}.intermediate.dense");
        let width = tensors.table(&format!("{wide}.weight"), hidden)?.len() / hidden;
        Ok(Layer {
            asks: Linear { weight: rows(weights, hidden)?, bias: biases.into() },
            mixed: Linear::read(tensors, &format!("{at}.attention.output.dense"), hidden, hidden)?,
            attended: Norm::read(tensors, &format!("{at}.attention.output.LayerNorm"), config)?,
            wide: Linear::read(tensors, &wide, width, hidden)?,
            narrow: Linear::read(tensors, &format!("{at}.output.dense"), hidden, width)?,
            done: Norm::read(tensors, &format!("{at}.output.LayerNorm"), config)?,
        })
    }
}

impl Linear {
    fn read(tensors: &Tensors<'_>, at: &str, to: usize, from: usize) -> Result<Linear, ModelError> {
        Ok(Linear {
            weight: rows(tensors.numbers(&format!("{at}.weight"), &[to, from])?, from)?,
            bias: tensors.numbers(&format!("{at}.bias"), &[to])?.into(),
        })
    }

    fn apply(&self, x: &Array2<f32>) -> Array2<f32> {
        let mut y = x.dot(&self.weight.t());
        y += &self.bias;
        y
    }
}

impl Norm {
    fn read(tensors: &Tensors<'_>, at: &str, config: &Config) -> Result<Norm, ModelError> {
        let read = |end: &str| tensors.numbers(&format!("{at}.{end}"), &[config.hidden]);
        let (weight, bias) = (read("weight")?.into(), read("bias")?.into());
        Ok(Norm { weight, bias, epsilon: config.epsilon })
    }

    fn apply(&self, x: &mut Array2<f32>) {
        for mut row in x.outer_iter_mut() {
            let count = row.len() as f32;
            let mean = row.sum() / count;
            row -= mean;
            let square = row.fold(0.0, |sum, value| sum + value * value);
            row /= (square / count + self.epsilon).sqrt();
            row *= &self.weight;
            row += &self.bias;
        }
    }
}

/// Each token of a text looks at all tokens of its text, once for every head.
fn attend(asks: &Array2<f32>, lengths: &[usize], heads: usize) -> Array2<f32> {
    let hidden = asks.ncols() / 3;
    let width = hidden / heads;
    let scale = 1.0 / (width as f32).sqrt();
    let mut mixed = Array2::<f32>::zeros((asks.nrows(), hidden));
    let mut start = 0;
    for length in lengths {
        let end = start + length;
        let rows = asks.slice_axis(Axis(0), Slice::from(start..end));
        for head in 0..heads {
            let part = |which: usize| {
                let from = which * hidden + head * width;
                rows.slice_axis(Axis(1), Slice::from(from..from + width))
            };
            let mut seen = part(0).dot(&part(1).t());
            seen *= scale;
            soften(seen.view_mut());
            let from = head * width;
            let mut place = mixed.slice_axis_mut(Axis(0), Slice::from(start..end));
            let mut place = place.slice_axis_mut(Axis(1), Slice::from(from..from + width));
            place.assign(&seen.dot(&part(2)));
        }
        start = end;
    }
    mixed
}

/// Each row becomes shares of one.
fn soften(mut rows: ArrayViewMut2<'_, f32>) {
    for mut row in rows.axis_iter_mut(Axis(0)) {
        let most = largest(row.view());
        row.mapv_inplace(|value| (value - most).exp());
        let sum = row.sum();
        row /= sum;
    }
}

fn largest(row: ArrayView1<'_, f32>) -> f32 {
    row.fold(f32::NEG_INFINITY, |most, value| most.max(*value))
}

fn activate(activation: Activation, x: &mut Array2<f32>) {
    match activation {
        Activation::Gelu => {
            x.mapv_inplace(|x| 0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2)));
        }
        Activation::GeluTanh => x.mapv_inplace(|x| {
            let inner = 0.797_884_6 * (x + 0.044_715 * x * x * x);
            0.5 * x * (1.0 + inner.tanh())
        }),
        Activation::Relu => x.mapv_inplace(|x| x.max(0.0)),
    }
}

/// Abramowitz and Stegun 7.1.26: off by at most 1.5e-7, which is what a 32-bit number can tell.
fn erf(x: f32) -> f32 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let poly = t
        * (0.254_829_6
            + t * (-0.284_496_72 + t * (1.421_413_8 + t * (-1.453_152_1 + t * 1.061_405_4))));
    let y = 1.0 - poly * (-x * x).exp();
    if x < 0.0 { -y } else { y }
}

fn rows(numbers: Vec<f32>, width: usize) -> Result<Array2<f32>, ModelError> {
    let count = numbers.len() / width.max(1);
    Array2::from_shape_vec((count, width), numbers)
        .map_err(|_| ModelError::bad(NAME, "has a table whose rows are not of one length"))
}
