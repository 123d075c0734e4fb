"""The published client against the layers: a short story, then everything that was made of it."""

import unittest

from cortexdb import V1APIError, V1Client
from serving import Server

SCOPE = "user:alice"


class Layers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.client = V1Client(cls.server.url, actor="user:alice")
        story = [
            ("2026-01-05T09:00:00Z", "I live in Oslo."),
            ("2026-01-05T09:01:00Z", "Maria works at Acme."),
            ("2026-02-10T10:00:00Z", "I moved to Lisbon."),
            ("2026-02-10T10:01:00Z", "Maria works at Initech now."),
        ]
        cls.events = [
            cls.client.experience(SCOPE, text=text, observed_at=at, wait="consolidated")["event_id"]
            for at, text in story
        ]

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.server.stop()

    def test_facts_are_current_and_say_whence(self):
        homes = self.client.facts(SCOPE, predicate="lives_in")["items"]
        self.assertEqual(len(homes), 1)
        self.assertIn("Lisbon", str(homes[0]["object"]))
        self.assertIn(self.events[2], str(homes[0]["supports"]))

    def test_claims_answer_on_both_axes(self):
        claims = self.client.query_claims(SCOPE, predicate="lives_in", valid_as_of="2026-01-20")
        self.assertIn("Oslo", str(claims["records"]))
        self.assertNotIn("Lisbon", str(claims["records"]))
        subject = claims["records"][0]["subject"]
        name = subject if isinstance(subject, str) else subject.get("name") or subject["id"]
        history = self.client.claim_history(SCOPE, subject=name, predicate="lives_in")
        self.assertIn("Oslo", str(history["history"]))
        self.assertIn("Lisbon", str(history["history"]))

    def test_episodes_are_listed_and_built(self):
        episodes = self.client.episodes(SCOPE)["items"]
        self.assertGreaterEqual(len(episodes), 2, "five weeks lie between them")
        self.client.build_episodes(SCOPE)
        self.assertGreaterEqual(len(self.client.episodes(SCOPE)["items"]), 2)

    def test_beliefs_say_why_and_how_they_changed(self):
        beliefs = self.client.beliefs(SCOPE)["items"]
        self.assertTrue(beliefs)
        why = self.client.belief_why(beliefs[0]["id"])
        self.assertTrue(why)
        history = self.client.belief_history(beliefs[0]["id"])
        self.assertIn("versions", history)
        built = self.client.build_beliefs(SCOPE)
        for name in ("facts_scanned", "groups_considered", "groups_rejected", "reasons"):
            self.assertIn(name, built)

    def test_a_declared_belief_closes_the_one_before(self):
        first = self.client.create_belief(
            SCOPE,
            "Acme will renew",
            confidence=0.7,
            supports=[self.events[1]],
            subject="Acme",
            predicate="will_renew",
            valid_from="2026-01-01T00:00:00Z",
        )
        second = self.client.create_belief(
            SCOPE,
            "Acme will not renew",
            confidence=0.8,
            supports=[self.events[3]],
            subject="Acme",
            predicate="will_renew",
            valid_from="2026-02-01T00:00:00Z",
        )
        self.assertNotEqual(first["id"], second["id"])
        held = [belief["id"] for belief in self.client.beliefs(SCOPE)["items"]]
        self.assertIn(second["id"], held)
        with self.assertRaises(ValueError):
            self.client.create_belief(SCOPE, "too sure", confidence=1.5)

    def test_understanding_is_listed_and_synthesized(self):
        self.client.synthesize(SCOPE)
        concepts = self.client.understanding(SCOPE)
        self.assertIn("items", concepts)
        for concept in concepts["items"]:
            self.assertIn("versions", self.client.concept_history(concept["id"]))

    def test_a_conflict_is_shown_and_resolved(self):
        scope = "user:bob"
        for city in ("Rome", "Madrid"):
            self.client.experience(
                scope,
                text=f"Jonas lives in {city}.",
                observed_at="2026-03-01T12:00:00Z",
                wait="consolidated",
            )
        conflicts = self.client.list_conflicts(scope)
        self.assertEqual(conflicts["total"], 1)
        conflict = self.client.get_conflict(conflicts["conflicts"][0]["id"])
        winner = conflict["records"][0]["id"]
        resolved = self.client.resolve_conflict(conflict["id"], "pick", winner=winner)
        self.assertNotEqual(resolved["status"], "open")
        self.assertEqual(self.client.list_conflicts(scope)["total"], 0)
        self.assertEqual(self.client.list_conflicts(scope, status="all")["total"], 1)

    def test_a_vocabulary_is_merged_into(self):
        with self.assertRaises(V1APIError) as absent:
            self.client.update_vocabulary("nothing-of-the-kind", description="x")
        self.assertEqual(absent.exception.status, 404)
        self.client._post("/v1/vocabularies", {"name": "deals", "scope": SCOPE})
        merged = self.client.update_vocabulary(
            "deals", predicates=[{"id": "renews_in", "label": "renews in"}]
        )
        self.assertIn("renews_in", str(merged))

    def test_layers_are_counted(self):
        layers = self.client.layer_stats()["layers"]
        for name in ("events", "episodes", "facts", "beliefs", "understanding"):
            self.assertIn("count", layers[name])
        self.assertGreaterEqual(layers["events"]["count"], 4)

    def test_derivation_tells_how_far_it_is(self):
        status = self.client._get("/v1/derivation/status", params={"scope": SCOPE})
        self.assertTrue(status["caught_up"])


if __name__ == "__main__":
    unittest.main()
