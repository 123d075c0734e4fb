"""What Lamina exports is judged by the published Zaxy, and its log is continued by it."""

import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
import urllib.request
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cortexdbai"))
from serving import Server  # noqa: E402

warnings.simplefilter("ignore")
from zaxy.portable import verify_export, verify_subset  # noqa: E402

LAMINA = os.environ["LAMINA_BIN"]
ZAXY = str(Path(sys.executable).with_name("zaxy"))
EXPORTS = int(os.environ.get("LAMINA_ZAXY_EXPORTS", "24"))
ALGORITHMS = ["ed25519", "ml-dsa-65"]
WORDS = ["Maria works at Initech.", "Grüße aus Köln 😀", "We ship on Friday.", 'a "quoted" \\ text\n', "日本語のメモ"]


def run(command, code=0, cwd=None):
    """Runs a command and gives its standard output."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LAMINA_")}
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment)
    if done.returncode != code:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def post(url, path, body):
    """Sends JSON and reads JSON."""
    head = {"Content-Type": "application/json"}
    request = urllib.request.Request(url + path, json.dumps(body).encode(), head)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def content(chance, number):
    """Some content of every kind that an event has."""
    words = f"{chance.choice(WORDS)} {number}"
    number_ = chance.choice([1, 1.5, 1e-7, -0.0, 12345678901234567890, 2**53 + 1])
    value = {"kind": "entity", "type": "entity", "id": "Maria", "name": "Maria"}
    place = {"type": "entity", "id": "Initech", "name": "Initech"}
    return chance.choice(
        [
            ({"kind": "message", "role": chance.choice(["user", "assistant"]), "text": words}, "conversation"),
            ({"kind": "text", "text": words}, chance.choice(["document", "observation", "feedback"])),
            ({"kind": "json", "data": {"type": "decision.made", "payload": {"decision": words}}}, "observation"),
            ({"kind": "json", "data": {"type": "goal.created", "payload": {"title": words}}}, "observation"),
            ({"kind": "json", "data": {"n": number_, "é": [None, True, words]}}, "tool_result"),
            ({"kind": "json", "data": {"n": number_}}, "observation"),
            ({"kind": "triple", "triple": {"subject": value | {"kind": None}, "predicate": "works_at", "object": place}}, "observation"),
        ]
    )


def clean(value):
    """Leaves out members without a value."""
    if isinstance(value, dict):
        return {k: clean(v) for k, v in value.items() if v is not None or k != "kind"}
    return [clean(v) for v in value] if isinstance(value, list) else value


def fill(url, scope, chance, count):
    """Writes events into a scope."""
    for number in range(count):
        what, modality = content(chance, number)
        post(
            url,
            "/v1/experience?wait=settled",
            {
                "scope": scope,
                "observed_actor": {"id": chance.choice(["user:alice", "agent:bot"])},
                "modality": modality,
                "content": clean(what),
                "context": {"labels": ["sensitivity:restricted"] if chance.random() < 0.2 else ["x"]},
            },
        )


class Exports(unittest.TestCase):
    """A server, some sessions in it, and a key for each algorithm."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.work = tempfile.TemporaryDirectory(prefix="lamina-zaxy-")
        cls.dir = Path(cls.work.name)
        cls.chance = random.Random(int(os.environ.get("LAMINA_ZAXY_SEED", "20")))
        cls.sessions = [f"agent-{number}" for number in range(3)]
        for session in cls.sessions:
            fill(cls.server.url, f"project:atlas/session:{session}", cls.chance, 12)
        cls.keys = {}
        for algorithm in ALGORITHMS:
            private, public = cls.dir / f"{algorithm}.pem", cls.dir / f"{algorithm}.pub"
            run([LAMINA, "export-keygen", "--out-private", str(private), "--out-public", str(public)]
                + ["--algorithm", algorithm])
            cls.keys[algorithm] = (private, public.read_text())

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.work.cleanup()

    def flags(self):
        """The flags of a random selection."""
        chance, flags = self.chance, []
        if chance.random() < 0.4:
            flags += ["--grains", chance.choice(["event", "semantic", "event,semantic"])]
        if chance.random() < 0.3:
            flags += ["--since", str(chance.randrange(10))]
        if chance.random() < 0.3:
            flags += ["--max-seq", str(chance.randrange(8, 14))]
        if chance.random() < 0.2:
            flags += ["--query", chance.choice(["Initech", "ship Friday", "quoted"])]
        if chance.random() < 0.2:
            flags += ["--exclude-sensitivities", "restricted"]
        if chance.random() < 0.2:
            flags += ["--limit", str(chance.randrange(1, 9))]
        return flags

    def export(self, out, session, *flags):
        return run([LAMINA, "export", "--session-id", session, "--project", "atlas", "--out", str(out)]
                   + ["--url", self.server.url, *flags])

    def test_random_signed_exports_are_accepted(self):
        judged = 0
        for number in range(EXPORTS):
            algorithm = ALGORITHMS[number % 2]
            private, public = self.keys[algorithm]
            out, flags = self.dir / f"{number}.json", self.flags()
            session = self.chance.choice(self.sessions)
            plain = self.dir / f"{number}.plain.json"
            self.export(plain, session, *flags)
            entries = json.loads(plain.read_text())["entries"]
            if not entries:
                continue
            self.export(out, session, "--private-key", str(private), *flags)
            bundle = json.loads(out.read_text())
            self.assertEqual([entry["content"] for entry in bundle["entries"]], entries)
            verdict = verify_export(bundle, expect_public_key=public)
            self.assertTrue(verdict["ok"], f"{flags}: {verdict}")
            run([LAMINA, "verify-export", str(out), "--expect-public-key", public])
            subset = self.dir / f"{number}.subset.json"
            run([LAMINA, "export-disclose", str(out), "--out", str(subset), "--grains", "event"])
            verdict = verify_subset(json.loads(subset.read_text()), expect_public_key=public)
            self.assertTrue(verdict["ok"], f"{flags}: {verdict}")
            judged += 1
        self.assertGreater(judged, EXPORTS // 2)

    def test_every_log_is_verified_replayed_exported_and_continued(self):
        for session in self.sessions:
            workspace = self.dir / f"workspace-{session}"
            logs = workspace / ".eventloom"
            self.export(logs, session, "--format", "eventloom")
            log = logs / f"{session}.jsonl"
            replay = run([ZAXY, "replay", str(log)], cwd=workspace)
            self.assertIn("Integrity: OK", replay)
            run([ZAXY, "memory", "append", "decision.made", "--actor", "user", "--session-id", session]
                + ["--eventloom-path", str(logs), "--payload-json", '{"decision": "go on"}'], cwd=workspace)
            replay = run([ZAXY, "replay", str(log)], cwd=workspace)
            self.assertIn("Integrity: OK", replay)
            run([LAMINA, "verify", str(log)])
            out = workspace / "bundle.json"
            run([ZAXY, "export", "bundle", "--out", str(out), "--eventloom-path", str(logs)]
                + ["--session-id", session, "--types", "", "--grains", "event,semantic"], cwd=workspace)
            own = workspace / "own.json"
            run([LAMINA, "export", "--eventloom-path", str(logs), "--session-id", session, "--out", str(own)])
            self.assertEqual(own.read_bytes(), out.read_bytes())

    def test_a_log_comes_in_and_leaves_as_the_same_bundle(self):
        session = self.sessions[0]
        workspace = self.dir / "round"
        logs = workspace / ".eventloom"
        self.export(logs, session, "--format", "eventloom")
        run([LAMINA, "import", str(logs), "--url", self.server.url])
        theirs, ours = workspace / "theirs.json", workspace / "ours.json"
        run([ZAXY, "export", "bundle", "--out", str(theirs), "--eventloom-path", str(logs)]
            + ["--session-id", session, "--types", "", "--grains", "event,semantic"], cwd=workspace)
        run([LAMINA, "export", "--session-id", session, "--project", "round", "--out", str(ours)]
            + ["--url", self.server.url])
        self.assertEqual(ours.read_bytes(), theirs.read_bytes())


if __name__ == "__main__":
    unittest.main()
