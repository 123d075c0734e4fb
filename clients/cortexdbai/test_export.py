"""Exports as the published command line asks for them: the client itself has no call for them."""

import gzip
import json
import unittest
import urllib.request

from cortexdb import V1Client
from serving import Server

SCOPE = "user:alice"


class Export(unittest.TestCase):
    def setUp(self):
        self.server = Server()
        self.client = V1Client(self.server.url, actor="user:alice")
        write = self.client.experience
        self.event = write(SCOPE, text="I live in Oslo.", wait="consolidated")["event_id"]

    def tearDown(self):
        self.client.close()
        self.server.stop()

    def post(self, body):
        request = urllib.request.Request(
            self.server.url + "/v1/export",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "X-Cortex-Actor": "user:alice"},
        )
        with urllib.request.urlopen(request) as answer:
            self.assertEqual(answer.status, 202)
            return json.load(answer)

    def fetch(self, path, **headers):
        request = urllib.request.Request(
            self.server.url + path, headers={"X-Cortex-Actor": "user:alice", **headers}
        )
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def test_a_small_scope_is_in_the_answer(self):
        job = self.post({"scope": SCOPE})
        self.assertTrue(job["export_id"].startswith("exp_"))
        self.assertEqual(job["status"], "completed")
        header, event = (json.loads(line) for line in job["data"].splitlines())
        self.assertEqual(header["lamina"]["line"], "header")
        self.assertEqual(event["lamina"]["id"], self.event)
        self.assertEqual(event["content"]["text"], "I live in Oslo.")

    def test_layers_are_named_as_the_command_line_does(self):
        job = self.post({"scope": SCOPE, "include": ["facts", "beliefs"]})
        kinds = {json.loads(line)["lamina"]["line"] for line in job["data"].splitlines()}
        self.assertEqual(kinds, {"header", "fact", "belief"})

    def test_bytes_are_fetched_plain_and_compressed(self):
        job = self.post({"scope": SCOPE, "format": "mem0"})
        plain = self.fetch(job["data_url"])
        self.assertEqual(json.loads(plain)["results"][0]["memory"], "I live in Oslo.")
        packed = self.fetch(job["data_url"], **{"Accept-Encoding": "gzip"})
        self.assertEqual(gzip.decompress(packed), plain)
        status = json.loads(self.fetch(f"/v1/export/{job['export_id']}"))
        self.assertEqual(status["size_bytes"], len(packed))


if __name__ == "__main__":
    unittest.main()
