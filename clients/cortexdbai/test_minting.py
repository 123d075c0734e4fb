"""The published client where the server makes tokens: signing up, and minting for others."""

import tempfile
import unittest
from pathlib import Path

from cortexdb import V1APIError, V1Client, V1PolicyDeniedError
from serving import Server, issuer


class Minting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory(prefix="lamina-minting-")
        home = Path(cls.dir.name)
        cls.issuer = home / "issuer"
        issuer(cls.issuer, "init", "--iss", "https://issuer.example")
        config = home / "lamina.toml"
        config.write_text(
            '[auth]\noperators = "acme/user:root"\n[auth.minting]\n'
            f'key = "{cls.issuer}/key-1"\nsignup_tenant = "public"\n',
            encoding="utf-8",
        )
        cls.server = Server("--config", str(config), preset="cloud_shared_saas")

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.dir.cleanup()

    def client(self, bearer, actor):
        client = V1Client(self.server.url, actor=actor, bearer=bearer)
        self.addCleanup(client.close)
        return client

    def test_one_call_from_nothing_to_a_write(self):
        client = V1Client.signup(self.server.url, source="test")
        self.addCleanup(client.close)
        written = client.experience(client.actor, text="hello", wait="indexed")
        self.assertTrue(written["event_id"].startswith("evt_"))
        self.assertEqual(client.whoami()["tenant_id"], "public")
        with self.assertRaises(V1PolicyDeniedError):
            client.experience("user:somebody-else", text="hello")

    def test_an_operator_mints_for_a_service(self):
        token = issuer(self.issuer, "mint", "--sub", "user:root", "--tenant", "acme")
        root = self.client(token, "user:root")
        caps = ["scope.write", "scope.create.team"]
        minted = root.mint_token(subject="service:sync", caps=caps, scope="org:acme/team:x")
        service = self.client(minted["token"], "service:sync")
        service.experience("org:acme/team:x", text="hello")
        with self.assertRaises(V1PolicyDeniedError):
            service.experience("org:acme/team:y", text="hello")
        with self.assertRaises(V1APIError) as refused:
            root.mint_token(subject="service:sync", scopes=["nonsense"])
        self.assertEqual(refused.exception.status, 422)


if __name__ == "__main__":
    unittest.main()
