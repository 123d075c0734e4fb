//! A model of two layers that a few lines make up, and what a directory can lack.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{ModelError, Transformer};

const HIDDEN: usize = 8;
const WIDE: usize = 16;
const VOCABULARY: &str = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n,\nviolin\n##s\ncafe\nthe\n中\n";

/// Numbers that look like weights, and are the same everywhere.
fn numbers(count: usize, seed: &mut u32) -> Vec<f32> {
    let mut next = || {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (*seed >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn tensors(words: usize) -> Vec<(String, Vec<usize>)> {
    let mut all = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![words, HIDDEN]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![12, HIDDEN]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, HIDDEN]),
        ("embeddings.LayerNorm.weight".to_owned(), vec![HIDDEN]),
        ("embeddings.LayerNorm.bias".to_owned(), vec![HIDDEN]),
    ];
    for layer in 0..2 {
        let mut dense = |name: &str, to: usize, from: usize| {
            all.push((format!("encoder.layer.{layer}.{name}.weight"), vec![to, from]));
            all.push((format!("encoder.layer.{layer}.{name}.bias"), vec![to]));
        };
        dense("attention.self.query", HIDDEN, HIDDEN);
        dense("attention.self.key", HIDDEN, HIDDEN);
        dense("attention.self.value", HIDDEN, HIDDEN);
        dense("attention.output.dense", HIDDEN, HIDDEN);
        dense("intermediate.dense", WIDE, HIDDEN);
        dense("output.dense", HIDDEN, WIDE);
        for name in ["attention.output.LayerNorm", "output.LayerNorm"] {
            all.push((format!("encoder.layer.{layer}.{name}.weight"), vec![HIDDEN]));
            all.push((format!("encoder.layer.{layer}.{name}.bias"), vec![HIDDEN]));
        }
    }
    all
}

fn safetensors() -> Vec<u8> {
    let (mut head, mut data, mut seed) = (serde_json::Map::new(), Vec::new(), 7);
    for (name, shape) in tensors(10) {
        let start = data.len();
        for number in numbers(shape.iter().product(), &mut seed) {
            data.extend_from_slice(&number.to_le_bytes());
        }
        let tensor = json!({"dtype": "F32", "shape": shape, "data_offsets": [start, data.len()]});
        head.insert(name, tensor);
    }
    let head = Value::Object(head).to_string();
    [&(head.len() as u64).to_le_bytes(), head.as_bytes(), &data].concat()
}

fn directory() -> BTreeMap<&'static str, Vec<u8>> {
    let config = json!({
        "model_type": "bert", "hidden_size": HIDDEN, "num_hidden_layers": 2,
        "num_attention_heads": 2, "intermediate_size": WIDE, "max_position_embeddings": 12,
        "layer_norm_eps": 1e-12, "hidden_act": "gelu",
    });
    let bytes = |value: Value| value.to_string().into_bytes();
    BTreeMap::from([
        ("config.json", bytes(config)),
        ("vocab.txt", VOCABULARY.as_bytes().to_vec()),
        ("model.safetensors", safetensors()),
        ("tokenizer_config.json", bytes(json!({"do_lower_case": true}))),
    ])
}

fn load(files: &BTreeMap<&'static str, Vec<u8>>) -> Result<Transformer, ModelError> {
    Transformer::load(&|name| Ok(files.get(name).cloned()))
}

/// The same by plain loops, one text at a time: nothing of how the encoder goes about it.
fn slowly(texts: &[&[u32]]) -> Vec<Vec<f32>> {
    let (mut seed, mut weights) = (7, BTreeMap::new());
    for (name, shape) in tensors(10) {
        weights.insert(name, numbers(shape.iter().product(), &mut seed));
    }
    let get = |name: &str| weights.get(name).unwrap().clone();
    let linear = |x: &[f32], at: &str| -> Vec<f32> {
        let (weight, bias) = (get(&format!("{at}.weight")), get(&format!("{at}.bias")));
        let row = |(row, bias): (&[f32], &f32)| {
            row.iter().zip(x).map(|(one, other)| one * other).sum::<f32>() + bias
        };
        weight.chunks(x.len()).zip(&bias).map(row).collect()
    };
    let norm = |x: &[f32], at: &str| -> Vec<f32> {
        let (weight, bias) = (get(&format!("{at}.weight")), get(&format!("{at}.bias")));
        let mean = x.iter().sum::<f32>() / x.len() as f32;
        let variance = x.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / x.len() as f32;
        let one = |((x, weight), bias): ((&f32, &f32), &f32)| {
            (x - mean) / variance.sqrt() * weight + bias
        };
        x.iter().zip(&weight).zip(&bias).map(one).collect()
    };
    let add = |one: &[f32], other: &[f32]| -> Vec<f32> {
        one.iter().zip(other).map(|(one, other)| one + other).collect()
    };
    let row = |name: &str, at: usize| get(name)[at * HIDDEN..(at + 1) * HIDDEN].to_vec();
    let gelu = |x: f32| {
        // The integral of the bell curve, summed up in small steps.
        let steps = 2_000;
        let width = f64::from(x) / f64::from(steps);
        let bell = |at: f64| (-at * at / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let area: f64 = (0..steps).map(|step| bell((f64::from(step) + 0.5) * width) * width).sum();
        (f64::from(x) * (0.5 + area)) as f32
    };
    let mut vectors = Vec::new();
    for text in texts {
        let mut x: Vec<Vec<f32>> = (0..)
            .zip(*text)
            .map(|(position, token)| {
                let word = row("embeddings.word_embeddings.weight", *token as usize);
                let placed = add(&word, &row("embeddings.position_embeddings.weight", position));
                let kind = row("embeddings.token_type_embeddings.weight", 0);
                norm(&add(&placed, &kind), "embeddings.LayerNorm")
            })
            .collect();
        for layer in 0..2 {
            let at = format!("encoder.layer.{layer}");
            let part = |name: &str| -> Vec<Vec<f32>> {
                x.iter().map(|x| linear(x, &format!("{at}.attention.self.{name}"))).collect()
            };
            let (query, keys, values) = (part("query"), part("key"), part("value"));
            let mut next = Vec::new();
            for (x, query) in x.iter().zip(&query) {
                let mut mixed = Vec::new();
                for head in 0..2 {
                    let span = head * HIDDEN / 2..(head + 1) * HIDDEN / 2;
                    let score = |key: &Vec<f32>| {
                        let pairs = query[span.clone()].iter().zip(&key[span.clone()]);
                        (pairs.map(|(one, other)| one * other).sum::<f32>() / 2.0).exp()
                    };
                    let scores: Vec<f32> = keys.iter().map(score).collect();
                    let sum: f32 = scores.iter().sum();
                    for place in span.clone() {
                        let seen = scores.iter().zip(&values).map(|(s, v)| s / sum * v[place]);
                        mixed.push(seen.sum::<f32>());
                    }
                }
                let out = linear(&mixed, &format!("{at}.attention.output.dense"));
                let x = norm(&add(x, &out), &format!("{at}.attention.output.LayerNorm"));
                let wide = linear(&x, &format!("{at}.intermediate.dense"));
                let wide: Vec<f32> = wide.into_iter().map(gelu).collect();
                let out = linear(&wide, &format!("{at}.output.dense"));
                next.push(norm(&add(&x, &out), &format!("{at}.output.LayerNorm")));
            }
            x = next;
        }
        let sum = x.iter().skip(1).fold(x[0].clone(), |sum, x| add(&sum, x));
        vectors.push(sum.iter().map(|sum| sum / x.len() as f32).collect());
    }
    vectors
}

#[test]
fn a_directory_as_published_is_run_as_it_was_taught() {
    let model = load(&directory()).unwrap();
    assert_eq!(model.dims(), HIDDEN);
    assert!(model.name().starts_with("local:bert-2x8-"), "{}", model.name());
    let texts =
        ["Violins, the Café", "", "unknown 中", "the the the the the the the the the the the the"];
    let tokens: [&[u32]; 4] =
        [&[2, 5, 6, 4, 8, 7, 3], &[2, 3], &[2, 1, 9, 3], &[2, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 3]];
    for (text, tokens) in texts.iter().zip(tokens) {
        assert_eq!(model.tokenizer.tokens(text, 12), tokens, "{text}");
    }
    let found = model.embed(&texts);
    for ((text, found), expected) in texts.iter().zip(&found).zip(slowly(&tokens)) {
        let far = found.iter().zip(&expected).map(|(one, other)| (one - other).abs());
        let far = far.fold(0.0, f32::max);
        assert!(far < 1e-4, "{text}: {found:?} and {expected:?}");
    }
    let alone = model.embed(&texts[2..3]);
    assert_eq!(alone[0].len(), HIDDEN);
    let far = alone[0].iter().zip(&found[2]).map(|(one, other)| (one - other).abs());
    assert!(far.fold(0.0, f32::max) < 1e-6, "a batch changes nothing");
}

#[test]
fn what_changes_vectors_changes_the_name() {
    let name = |files: &BTreeMap<&'static str, Vec<u8>>| load(files).unwrap().name().to_owned();
    let plain = name(&directory());
    assert_eq!(name(&directory()), plain);
    let mut other = directory();
    let pooling = json!({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false});
    other.insert("1_Pooling/config.json", pooling.to_string().into_bytes());
    assert_ne!(name(&other), plain);
    let (mean, first) = (load(&directory()).unwrap(), load(&other).unwrap());
    assert_ne!(mean.embed(&["violin"]), first.embed(&["violin"]));
    let mut other = directory();
    *other.get_mut("model.safetensors").unwrap().last_mut().unwrap() ^= 1;
    assert_ne!(name(&other), plain);
    let mut told = directory();
    let prompts = json!({"prompts": {"query": "the ", "document": ""}});
    told.insert("config_sentence_transformers.json", prompts.to_string().into_bytes());
    assert_eq!(name(&told), plain, "questions are not stored");
    let told = load(&told).unwrap();
    assert_eq!(told.embed_questions(&["violin"]), told.embed(&["the violin"]));
}

#[test]
fn the_vocabulary_may_be_in_either_file() {
    let mut files = directory();
    files.remove("vocab.txt");
    let vocab: serde_json::Map<String, Value> = (0..)
        .zip(VOCABULARY.lines())
        .map(|(n, word): (u32, _)| (word.to_owned(), n.into()))
        .collect();
    let described = json!({"model": {"type": "WordPiece", "vocab": vocab}});
    files.insert("tokenizer.json", described.to_string().into_bytes());
    assert_eq!(
        load(&files).unwrap().embed(&["violins"]),
        load(&directory()).unwrap().embed(&["violins"])
    );
}

#[test]
fn numbers_of_half_the_length_are_read() {
    use super::tensors::Tensors;
    let file = |kind: &str, bytes: &[u8]| {
        let head = json!({"x": {"dtype": kind, "shape": [2], "data_offsets": [0, bytes.len()]}})
            .to_string();
        [&(head.len() as u64).to_le_bytes(), head.as_bytes(), bytes].concat()
    };
    let read = |kind: &str, halves: [u16; 2]| {
        let bytes: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
        Tensors::of(&file(kind, &bytes)).unwrap().numbers("x", &[2])
    };
    assert_eq!(read("F16", [0x3c00, 0xc200]).unwrap(), [1.0, -3.0]);
    assert_eq!(read("F16", [0x0001, 0x7bff]).unwrap(), [2.0_f32.powi(-24), 65_504.0]);
    assert_eq!(read("BF16", [0x3f80, 0xc040]).unwrap(), [1.0, -3.0]);
    assert!(read("F16", [0x7c00, 0]).is_err(), "no number");
    assert!(read("I64", [0, 0]).is_err());
}

/// Cut anywhere, changed anywhere in its head: an error, never a panic.
#[test]
fn a_damaged_directory_is_refused_by_name() {
    let check = |name: &'static str, bytes: Option<&[u8]>, expected: &str| {
        let mut files = directory();
        match bytes {
            Some(bytes) => files.insert(name, bytes.to_vec()),
            None => files.remove(name),
        };
        let error = load(&files).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    };
    check("config.json", None, "config.json is missing");
    check("vocab.txt", None, "vocab.txt is missing");
    check("model.safetensors", None, "model.safetensors is missing");
    check("config.json", Some(b"{"), "config.json is not JSON");
    check("config.json", Some(br#"{"model_type": "xlm-roberta"}"#), "`xlm-roberta`");
    check("config.json", Some(br#"{"model_type": "bert"}"#), "hidden_size");
    check("vocab.txt", Some(b"violin"), "[CLS]");
    check("modules.json", Some(br#"[{"type": "sentence_transformers.models.Dense"}]"#), "Dense");
    check("1_Pooling/config.json", Some(br#"{"pooling_mode_max_tokens": true}"#), "pooling");
    let whole = safetensors();
    for cut in (0..whole.len()).step_by(7) {
        check("model.safetensors", whole.get(..cut), "model.safetensors");
    }
    let head = whole.len()
        - tensors(10).iter().map(|(_, shape)| 4 * shape.iter().product::<usize>()).sum::<usize>();
    for at in (0..head).step_by(5) {
        let mut files = directory();
        let mut bytes = whole.clone();
        bytes[at] ^= 0x01;
        files.insert("model.safetensors", bytes);
        // Spaces and names that nobody asks for may change; nothing else may.
        drop(load(&files));
    }
}
