"""The published client with tokens: a PASETO of our issuer, and a JWT of an outside one."""

import base64
import tempfile
import time
import unittest
from pathlib import Path

import jwt
from cortexdb import V1AuthError, V1Client, V1PolicyDeniedError
from cryptography.hazmat.primitives.asymmetric import ec
from serving import Server, issuer, write_json

OUTSIDE = "https://outside.example"


def number(value):
    return base64.urlsafe_b64encode(value.to_bytes(32, "big")).rstrip(b"=").decode()


class Team(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory(prefix="lamina-team-")
        home = Path(cls.dir.name)
        cls.issuer = home / "issuer"
        issuer(cls.issuer, "init", "--iss", "https://issuer.example")
        keys = home / "keys.json"
        keys.write_text(issuer(cls.issuer, "keys"), encoding="utf-8")
        cls.key = ec.generate_private_key(ec.SECP256R1())
        point = cls.key.public_key().public_numbers()
        jwk = {"kty": "EC", "crv": "P-256", "kid": "one", "alg": "ES256", "use": "sig"}
        jwk |= {"x": number(point.x), "y": number(point.y)}
        jwks = write_json(home / "jwks.json", {"keys": [jwk]})
        config = home / "lamina.toml"
        config.write_text(f'[auth]\njwks = "{OUTSIDE}={jwks}"\n', encoding="utf-8")
        flags = ["--trust", str(keys), "--config", str(config)]
        cls.server = Server(*flags, preset="on_prem_enterprise")

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.dir.cleanup()

    def client(self, bearer, actor="user:alice"):
        client = V1Client(self.server.url, actor=actor, bearer=bearer)
        self.addCleanup(client.close)
        return client

    def mint(self, *narrow):
        words = ["mint", "--sub", "user:alice", "--tenant", "acme", *narrow]
        return issuer(self.issuer, *words)

    def outside(self, **claims):
        now = int(time.time())
        claims = {
            "iss": OUTSIDE,
            "sub": "user:alice",
            "aud": "cortexdb:tenant:acme",
            "iat": now,
            "exp": now + 600,
            "jti": f"jwt-{time.time_ns()}",
        } | claims
        return jwt.encode(claims, self.key, algorithm="ES256", headers={"kid": "one"})

    def test_both_kinds_of_token_are_the_same_person(self):
        paseto, token = self.client(self.mint()), self.client(self.outside())
        written = paseto.experience("user:alice", text="said with one")
        events = token.events("user:alice")["items"]
        self.assertIn(written["event_id"], [event["id"] for event in events])
        for client in (paseto, token):
            me = client.whoami()
            self.assertEqual((me["caller"], me["tenant_id"]), ("user:alice", "acme"))
            self.assertIn("scope.write", me["effective_capabilities"])

    def test_errors_have_types(self):
        refused = [
            (self.client(None), "MISSING_TOKEN"),
            (self.client("nonsense"), "INVALID_TOKEN_SIGNATURE"),
            (self.client(self.outside(exp=int(time.time()) - 1)), "EXPIRED_TOKEN"),
            (self.client(self.outside(aud="somebody else")), "WRONG_TENANT"),
            (self.client(self.mint(), actor="user:bob"), "ACTOR_MISMATCH"),
        ]
        for client, code in refused:
            with self.subTest(code), self.assertRaises(V1AuthError) as error:
                client.whoami()
            self.assertEqual(error.exception.error_code, code)
        narrow = self.client(self.mint("--cap", "scope.read.local"))
        with self.assertRaises(V1PolicyDeniedError) as denied:
            narrow.experience("user:alice", text="not mine to write")
        self.assertEqual(denied.exception.details["capability"], "scope.write")

    def test_the_audit_log_can_be_asked(self):
        client = self.client(self.mint())
        client.experience("user:alice", text="leaves a row")
        rows = client.audit_list(capability="scope.write")["items"]
        self.assertTrue(all(row["actor"] == "user:alice" for row in rows))
        self.assertTrue(client.audit_chain_verify()["valid"])
        self.assertEqual(client.audit_chain()["algorithm"], "sha256-chain-v1")


if __name__ == "__main__":
    unittest.main()
