"""The published client forgets and erases."""

import time
import unittest

from cortexdb import V1APIError, V1Client
from serving import Server

SCOPE = "user:alice"
PATIENCE_S = 60.0


class Forgetting(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.client = V1Client(self.server.url, actor="user:alice")
        self.first = self.said("I live in Oslo.")
        self.second = self.said("My dog is called Vimto.")

    def tearDown(self):
        self.client.close()
        self.server.stop()

    def said(self, text):
        return self.client.experience(SCOPE, text=text, wait="consolidated")["event_id"]

    def events(self):
        return sorted(event["id"] for event in self.client.events(SCOPE)["items"])

    def refused(self, call):
        with self.assertRaises(V1APIError) as caught:
            call()
        return caught.exception

    def until_gone(self, left):
        """Erasures are jobs, and the client has no call for their status."""
        deadline = time.monotonic() + PATIENCE_S
        while self.events() != left:
            self.assertLess(time.monotonic(), deadline, "the erasure takes too long")
            time.sleep(0.05)

    def test_what_is_previewed_is_forgotten(self):
        shown = self.client.forget_preview(SCOPE, memory_ids=[self.second], cascade="redact_events")
        self.assertTrue(shown["preview_id"].startswith("fpvw_"))
        self.assertEqual(shown["estimated_deleted"]["events"], 1)
        self.assertEqual(self.events(), sorted([self.first, self.second]))
        done = self.client.forget(
            SCOPE,
            memory_ids=[self.second],
            cascade="redact_events",
            reason="asked to",
            from_preview_id=shown["preview_id"],
        )
        self.assertEqual(done["deleted"], shown["estimated_deleted"])
        self.assertEqual((done["requested"], done["matched"]), (1, 1))
        self.assertTrue(done["audit_id"].startswith("audit_"))
        self.assertEqual(self.events(), [self.first])

    def test_preview_without_a_cascade_is_carried_out_by_redacting(self):
        shown = self.client.forget_preview(SCOPE, memory_ids=[self.second])
        done = self.client.forget(
            SCOPE,
            memory_ids=[self.second],
            cascade="redact_events",
            from_preview_id=shown["preview_id"],
        )
        self.assertEqual((done["matched"], done["deleted"]["events"]), (1, 1))
        self.assertEqual(self.events(), [self.first])

    def test_preview_of_a_forget_is_carried_out_as_an_erasure(self):
        shown = self.client.forget_preview(SCOPE, memory_ids=[self.second])
        other = self.refused(
            lambda: self.client.erase(
                SCOPE, memory_ids=[self.first], from_preview_id=shown["preview_id"]
            )
        )
        self.assertEqual((other.status, other.error_code), (422, "UNKNOWN_PREVIEW_ID"))
        self.client.erase(SCOPE, memory_ids=[self.second], from_preview_id=shown["preview_id"])
        self.until_gone([self.first])

    def test_named_events_are_erased_without_a_preview(self):
        begun = self.client.erase(SCOPE, memory_ids=[self.second], audit_note="asked to")
        self.assertEqual(begun["status"], "running")
        self.until_gone([self.first])

    def test_confirm_all_with_an_invalid_id_is_ambiguous(self):
        for call in (self.client.forget, self.client.forget_preview):
            both = self.refused(lambda: call(SCOPE, memory_ids=["no-id"], confirm_all=True))
            self.assertEqual(both.status, 400)
            self.assertEqual(both.error_code, "AMBIGUOUS_SELECTOR_CONFIRM_ALL")
        self.assertEqual(len(self.events()), 2)

    def test_derived_records_go_and_events_stay(self):
        done = self.client.forget(SCOPE, predicate="lives_in")
        self.assertEqual(done["deleted"]["events"], 0)
        self.assertGreaterEqual(done["deleted"]["facts"], 1)
        self.assertEqual(len(self.events()), 2)

    def test_foot_guns_are_refused(self):
        empty = self.refused(lambda: self.client.forget(SCOPE))
        self.assertEqual(empty.error_code, "EMPTY_SELECTOR_WITHOUT_CONFIRMATION")
        both = self.refused(lambda: self.client.forget(SCOPE, memory_ids=[self.first], confirm_all=True))
        self.assertEqual(both.error_code, "AMBIGUOUS_SELECTOR_CONFIRM_ALL")
        self.refused(lambda: self.client.forget(SCOPE, confirm_all=True, cascade="events_too"))
        unsure = self.refused(lambda: self.client.erase(SCOPE))
        self.assertEqual(unsure.error_code, "EMPTY_SELECTOR_WITHOUT_CONFIRMATION")
        both = self.refused(lambda: self.client.erase(SCOPE, memory_ids=[self.first], confirm_all=True))
        self.assertEqual(both.error_code, "AMBIGUOUS_SELECTOR")
        unknown = self.refused(
            lambda: self.client.erase(SCOPE, confirm_all=True, from_preview_id="ervw_" + "0" * 32)
        )
        self.assertEqual(unknown.error_code, "UNKNOWN_PREVIEW_ID")
        self.assertEqual(len(self.events()), 2)

    def test_what_is_previewed_is_erased(self):
        shown = self.client.erasure_preview(SCOPE, memory_ids=[self.second], audit_note="asked to")
        self.assertTrue(shown["preview_id"].startswith("ervw_"))
        self.assertEqual(shown["estimated_affected"]["events"], 1)
        self.assertEqual(shown["refcount_breakdown"]["events_to_delete"], 1)
        began = self.client.erase(
            SCOPE,
            memory_ids=[self.second],
            from_preview_id=shown["preview_id"],
            idempotency_key="dsr-1",
        )
        self.assertTrue(began["erasure_id"].startswith("erasure_"))
        self.assertEqual(began["status"], "running")
        self.until_gone([self.first])
        again = self.client.erase(
            SCOPE,
            memory_ids=[self.second],
            from_preview_id=shown["preview_id"],
            idempotency_key="dsr-1",
        )
        self.assertEqual(again["erasure_id"], began["erasure_id"])

    def test_a_whole_scope_is_shown_without_confirming_and_erased_with_it(self):
        shown = self.client.erasure_preview(SCOPE)
        self.assertEqual(shown["estimated_affected"]["events"], 2)
        self.client.erase(SCOPE, confirm_all=True, audit_note="asked to")
        self.until_gone([])


if __name__ == "__main__":
    unittest.main()
