"""The published client forgets and erases, and hears why it may not."""

import asyncio
import unittest

from cortexdb import V1APIError, V1Client
from cortexdb.v1 import AsyncV1Client
from serving import Server

SCOPE = "user:alice"


class Forget(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.client = V1Client(self.server.url, actor="user:alice")
        write = self.client.experience
        self.event = write(SCOPE, text="I live in Oslo.", wait="consolidated")["event_id"]

    def tearDown(self):
        self.client.close()
        self.server.stop()

    def refused(self, call):
        with self.assertRaises(V1APIError) as caught:
            call()
        return caught.exception.error_code

    def test_derived_records_go_and_events_stay(self):
        shown = self.client.forget_preview(SCOPE, predicate="lives_in")
        self.assertTrue(shown["preview_id"].startswith("fpvw_"))
        self.assertEqual(shown["estimated_deleted"]["facts"], 1)
        done = self.client.forget(
            SCOPE, predicate="lives_in", reason="asked to", from_preview_id=shown["preview_id"]
        )
        self.assertEqual((done["deleted"]["facts"], done["deleted"]["events"]), (1, 0))
        self.assertTrue(done["audit_id"].startswith("audit_"))
        self.assertEqual(self.client.facts(SCOPE)["items"], [])
        self.assertEqual([item["id"] for item in self.client.events(SCOPE)["items"]], [self.event])

    def test_words_of_an_event_go(self):
        done = self.client.forget(SCOPE, memory_ids=[self.event], cascade="redact_events")
        self.assertEqual((done["requested"], done["matched"]), (1, 1))
        self.assertEqual(self.client.events(SCOPE)["items"], [])

    def test_an_erasure_is_shown_and_then_runs(self):
        shown = self.client.erasure_preview(SCOPE, memory_ids=[self.event], audit_note="a request")
        self.assertTrue(shown["preview_id"].startswith("ervw_"))
        begun = self.client.erase(
            SCOPE, memory_ids=[self.event], from_preview_id=shown["preview_id"], audit_note="a request"
        )
        self.assertTrue(begun["erasure_id"].startswith("erasure_"))

    def test_what_is_not_clear_deletes_nothing(self):
        self.assertEqual(
            self.refused(lambda: self.client.forget(SCOPE)), "EMPTY_SELECTOR_WITHOUT_CONFIRMATION"
        )
        both = lambda: self.client.forget(SCOPE, memory_ids=[self.event], confirm_all=True)
        self.assertEqual(self.refused(both), "AMBIGUOUS_SELECTOR_CONFIRM_ALL")
        unknown = lambda: self.client.erase(
            SCOPE, memory_ids=[self.event], from_preview_id="ervw_" + "0" * 32
        )
        self.assertEqual(self.refused(unknown), "UNKNOWN_PREVIEW_ID")
        self.assertEqual(len(self.client.events(SCOPE)["items"]), 1)

    def test_the_other_client_waits_without_blocking(self):
        async def both():
            client = AsyncV1Client(self.server.url, actor="user:alice")
            try:
                written = await client.experience(SCOPE, text="Maria works at Acme.", wait="indexed")
                pack = await client.recall(SCOPE, query="Where does Maria work?")
                return written, pack
            finally:
                await client.aclose()

        written, pack = asyncio.run(both())
        self.assertTrue(written["event_id"].startswith("evt_"))
        self.assertIn("Maria works at Acme.", pack["context_block"])


if __name__ == "__main__":
    unittest.main()
