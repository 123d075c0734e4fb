"""The published client against the operator's routes: retention and the log."""

import unittest

from cortexdb import V1APIError, V1Client
from serving import Server

SCOPE = "user:alice"


class Retention(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.client = V1Client(self.server.url, actor="user:alice")
        self.event = self.client.experience(SCOPE, text="I live in Oslo.", wait="consolidated")["event_id"]

    def tearDown(self):
        self.client.close()
        self.server.stop()

    def refused(self, call):
        with self.assertRaises(V1APIError) as caught:
            call()
        return caught.exception

    def test_rules_are_set_read_and_removed(self):
        made = self.client.retention_policy_set(
            "org:acme", default_retention_days=30, per_source_days={"slack": 7}
        )
        self.assertTrue(made["cursor_reset"])
        self.assertEqual(self.client.retention_policy_get("org:acme")["effective_days"], 30)
        kept = self.client.retention_policy_set("org:acme/team:a")
        self.assertIsNone(kept["policy"]["default_retention_days"])
        self.assertEqual(kept["effective_days"], 30)
        status = self.client.retention_status()
        self.assertEqual([rule["scope"] for rule in status["policies"]], ["org:acme", "org:acme/team:a"])
        self.assertEqual(status["policies"][0]["policy"]["per_source_days"], {"slack": 7})
        self.assertEqual(self.client.retention_policy_delete("org:acme"), {})
        gone = self.refused(lambda: self.client.retention_policy_get("org:acme"))
        self.assertEqual(gone.error_code, "NOT_FOUND")

    def test_a_sweep_reports_unless_told_otherwise(self):
        report = self.client.retention_sweep(scope=SCOPE, older_than_secs=0)
        self.assertEqual((report["dry_run"], report["expired"], report["erased"]), (True, 1, 0))
        done = self.client.retention_sweep(dry_run=False, scope=SCOPE, older_than_secs=0)
        self.assertEqual((done["dry_run"], done["expired"], done["erased"]), (False, 1, 1))
        self.assertEqual(self.client.events(SCOPE)["items"], [])
        self.assertEqual(self.client.retention_status()["last"]["erased"], 1)

    def test_the_log_is_counted_verified_and_compacted(self):
        status = self.client.wal_status()
        self.assertGreaterEqual(status["live_count"], 1)
        self.assertNotIn("verify", status)
        self.assertIs(self.client.wal_status(verify=True)["verify"]["ok"], True)
        report = self.client.wal_compact()
        self.assertTrue(report["dry_run"])
        done = self.client.wal_compact(dry_run=False, compaction="full")
        self.assertEqual(done["live_count_before"], done["live_count_after"])
        self.assertEqual(done["removed_tombstones"], 0)


if __name__ == "__main__":
    unittest.main()
