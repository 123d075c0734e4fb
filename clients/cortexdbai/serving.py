"""Starts a real server in a temporary directory, with and without tokens."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

LAMINA = os.environ["LAMINA_BIN"]
ISSUER = os.environ.get("LAMINA_ISSUER_BIN", "")


class Server:
    """A running server; stops and removes its directory at the end."""

    def __init__(self, *flags, preset="dev_local"):
        self.dir = tempfile.TemporaryDirectory(prefix="lamina-client-")
        self.process = subprocess.Popen(
            [LAMINA, "serve", "--listen", "127.0.0.1:0", "--preset", preset]
            + ["--data", str(Path(self.dir.name) / "data"), *flags],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # The server takes settings from variables of this name, and refuses unknown ones.
            env={k: v for k, v in os.environ.items() if not k.startswith("LAMINA_")},
            text=True,
        )
        for line in self.process.stdout:
            if line.startswith("listening on "):
                self.url = line.removeprefix("listening on ").strip()
                return
        raise RuntimeError(f"the server ended with {self.process.wait()} before it listened")

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)
        self.process.stdout.close()
        self.dir.cleanup()


def issuer(directory, *arguments):
    """Runs the issuer and gives what it prints."""
    command = [ISSUER, arguments[0], "--dir", str(directory), *arguments[1:]]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def write_json(path, value):
    Path(path).write_text(json.dumps(value), encoding="utf-8")
    return str(path)
