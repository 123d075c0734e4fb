"""The published client's recall, answer and compose."""

import unittest

from cortexdb import V1APIError, V1Client
from serving import Server

SCOPE = "user:alice"


class Recall(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.client = V1Client(cls.server.url, actor="user:alice")
        story = [
            ("2026-01-05T09:00:00Z", "The roof of the barn leaks above the hayloft."),
            ("2026-01-06T09:00:00Z", "Our cat caught three mice."),
            ("2026-02-10T10:00:00Z", "The roofer asks 1,900 euros for the repair."),
        ]
        cls.events = [
            cls.client.experience(SCOPE, text=text, observed_at=at, wait="indexed")["event_id"]
            for at, text in story
        ]

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.server.stop()

    def test_a_write_that_waited_is_recalled(self):
        for word in ("quince", "medlar", "sloe", "damson"):
            text = f"The {word} is in bloom."
            self.client.experience(SCOPE, text=text, wait="indexed")
            pack = self.client.recall(SCOPE, query=f"Is the {word} in bloom?")
            self.assertIn(text, pack["context_block"])

    def test_a_pack_has_what_clients_read(self):
        pack = self.client.recall(SCOPE, query="Where does the roof of the barn leak?")
        self.assertTrue(pack["pack_id"].startswith("pack_"))
        first = pack["context_block"].split("\n---\n")[0]
        self.assertRegex(first, r"^\[2026-01-05 09:00 UTC\] \[\w+\] \[user:alice\] The roof of the barn")
        event = pack["layers"]["events"][0]
        self.assertEqual(event["id"], self.events[0])
        self.assertIn("observed_at", event["context"])
        self.assertTrue(all("elapsed_ms" in step for step in pack["provenance"]["trail"]))

    def test_every_view_and_the_star(self):
        for view in ("holistic", "granular", "raw", "structured", "descend", "lineage", "local"):
            self.client.recall(SCOPE, query="the roof", view=view)
        self.assertTrue(self.client.recall(SCOPE, query="*")["layers"]["events"])

    def test_budgets_filters_and_times(self):
        limits = {"max_tokens": 500, "per_layer_limits": {"events": 1, "facts": 0}}
        pack = self.client.recall(SCOPE, query="the roof", budgets=limits)
        self.assertEqual(len(pack["layers"]["events"]), 1)
        self.assertEqual(pack["layers"]["facts"], [])
        during = {"valid_during": ["2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"]}
        pack = self.client.recall(SCOPE, query="the roofer", temporal=during)
        self.assertEqual([event["id"] for event in pack["layers"]["events"]], [self.events[2]])
        with self.assertRaises(V1APIError) as refused:
            self.client.recall(SCOPE, query="x", filters={"metadata": {"colour": "red"}})
        self.assertEqual(refused.exception.status, 422)

    def test_an_answer_quotes_and_cites(self):
        said = self.client.answer(SCOPE, "Where does the roof of the barn leak?", cite_sources=True)
        self.assertIn("above the hayloft", said["answer"])
        self.assertEqual(said["citations"][0]["id"], self.events[0])
        pack = self.client.recall(SCOPE, query="What does the roofer ask for the repair?")
        said = self.client.answer(
            SCOPE, "What does the roofer ask for the repair?", use_pack_id=pack["pack_id"]
        )
        self.assertIn("1,900 euros", said["answer"])
        unknown = self.client.answer(SCOPE, "When did Bartholomew marry Clementine?")
        self.assertIn("do not know", unknown["answer"])
        with self.assertRaises(V1APIError) as missing:
            self.client.answer(SCOPE, "Where?", answer_model="not-here")
        self.assertEqual(missing.exception.error_code, "ANSWER_UNAVAILABLE")

    def test_a_document_is_markdown_with_markers(self):
        made = self.client.compose(
            SCOPE, "The roof of the barn", structure=["Where the roof leaks"], length="brief"
        )
        self.assertIn("## Where the roof leaks", made["document"])
        self.assertIn("[S1]", made["document"])


if __name__ == "__main__":
    unittest.main()
