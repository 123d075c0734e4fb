"""The vendor client's import call."""

import json
import unittest

from cortexdb import V1Client
from serving import Server

SCOPE = "user:alice"


def line(text, minute):
    return json.dumps(
        {
            "scope": SCOPE,
            "modality": "conversation",
            "content": {"kind": "message", "role": "user", "text": text},
            "context": {"observed_at": f"2026-01-01T00:{minute:02}:00Z"},
        }
    )


class Import(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.client = V1Client(self.server.url, actor=SCOPE)

    def tearDown(self):
        self.client.close()
        self.server.stop()

    def test_import_data_takes_lines_and_answers_with_counts(self):
        lines = [line("I live in Oslo.", 1), line("I like tea.", 2), "not json"]
        answer = self.client.import_data(SCOPE, data="\n".join(lines))
        self.assertEqual((answer["accepted"], answer["failed"]), (2, 1))
        self.assertTrue(answer["import_id"].startswith("imp_"))
        again = self.client.import_data(SCOPE, data="\n".join(lines))
        self.assertEqual((again["accepted"], again["failed"]), (2, 1))
        pack = self.client.recall(SCOPE, query="Where do I live?")
        self.assertIn("Oslo", json.dumps(pack))


if __name__ == "__main__":
    unittest.main()
