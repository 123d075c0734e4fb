"""The published client against `dev_local`: writing, reading back, typed errors."""

import unittest

from cortexdb import V1APIError, V1Client, V1InvalidRequestError
from serving import Server

SCOPE = "user:alice"


class Local(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.client = V1Client(cls.server.url, actor="user:alice")

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.server.stop()

    def test_a_write_is_read_back(self):
        written = self.client.experience(SCOPE, text="Acme moved to 200 seats", wait="indexed")
        self.assertTrue(written["event_id"].startswith("evt_"))
        listed = self.client.events(SCOPE)["items"]
        self.assertIn(written["event_id"], [event["id"] for event in listed])
        status = self.client.write_status(event_id=written["event_id"])
        self.assertEqual((status["found"], status["status"]), (True, "indexed"))

    def test_a_key_is_replayed_and_another_body_refused(self):
        first = self.client.experience(SCOPE, text="once", idempotency_key="k1")
        again = self.client.experience(SCOPE, text="once", idempotency_key="k1")
        self.assertEqual(first["event_id"], again["event_id"])
        with self.assertRaises(V1APIError) as refused:
            self.client.experience(SCOPE, text="twice", idempotency_key="k1")
        self.assertEqual(refused.exception.error_code, "IDEMPOTENCY_CONFLICT")

    def test_bulk_answers_for_each_item(self):
        items = [
            {"text": "one"},
            {"scope": "user:bob", "text": "two"},
        ]
        answer = self.client.experience_bulk(SCOPE, items, wait="indexed")
        self.assertEqual(answer["accepted"], 2)
        self.assertTrue(all(item["event_id"] for item in answer["results"]))

    def test_a_blob_can_be_referred_to_and_deleted(self):
        blob = self.client.upload_blob(b"hello", content_type="text/plain")
        self.assertEqual(blob["size_bytes"], 5)
        self.client.delete_blob(blob["blob_id"])
        with self.assertRaises(V1APIError) as gone:
            self.client.delete_blob(blob["blob_id"])
        self.assertEqual(gone.exception.status, 404)
        self.client.delete_blob(blob["blob_id"], missing_ok=True)

    def test_every_content_kind_is_taken(self):
        self.client.experience(SCOPE, json_data={"seats": 200})
        value = {"type": "literal", "datatype": "string"}
        triple = {
            "subject": {"type": "entity", "id": "acme"},
            "predicate": "billing_contact",
            "object": {**value, "value": "Dana"},
        }
        self.client.experience(SCOPE, triple=triple)
        self.client.experience(SCOPE, text="hola", language="es", timezone="Europe/Madrid")

    def test_the_client_knows_what_the_server_can(self):
        self.assertIn("capture_language_v1", self.client.capabilities())

    def test_errors_have_types(self):
        with self.assertRaises((V1InvalidRequestError, V1APIError)) as refused:
            self.client.experience("not a scope", text="x")
        self.assertEqual(refused.exception.error_code, "INVALID_SCOPE_GRAMMAR")
        self.assertTrue(refused.exception.request_id)


if __name__ == "__main__":
    unittest.main()
