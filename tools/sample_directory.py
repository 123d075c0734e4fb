#!/usr/bin/env python3
"""Makes a sample data directory for the test of upgrades, with a given binary.

    tools/sample_directory.py target/debug/lamina NAME

Writes `fixtures/directories/NAME.tar.gz`, the directory as the server left it, and `NAME.json`, what it must show to every
later version. NAME says the format and the layout of the views, such as `format-1-layout-57`. A sample is made once, before
the format or the layout changes, and never changes afterwards. Standard library only.
"""

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

SCOPE = "org:sample/ws:upgrades"
OUT = Path(__file__).resolve().parent.parent / "fixtures" / "directories"
# Made again by every version, or of no use to a reader.
LEFT_OUT = {"search", "ballast", "LOCK", "quarantine", "endpoint.json"}
SAID = [
    "I live in Oslo.",
    "Maria works at Acme.",
    "I moved to Lisbon last week.",
    "My favorite color is green.",
    "Maria works at Initech now.",
    "We decided to use PostgreSQL for the reports.",
    "The deadline for Heron is 2026-12-01.",
]


class Server:
    def __init__(self, binary, data):
        environment = dict(os.environ, LAMINA_STORAGE_SEGMENT_BYTES=str(1 << 20))
        self.process = subprocess.Popen(
            [binary, "serve", "--data", str(data), "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )
        line = ""
        while "http://" not in line:
            line = self.process.stdout.readline()
            assert line, "the server did not start"
        self.address = line[line.index("http://") :].split()[0].rstrip(".,")

    def call(self, method, path, body=None, raw=None, media="application/json"):
        data = raw if raw is not None else (None if body is None else json.dumps(body).encode())
        request = urllib.request.Request(self.address + path, data=data, method=method)
        if data is not None:
            request.add_header("Content-Type", media)
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def stop(self):
        self.process.terminate()
        assert self.process.wait(60) == 0


def envelope(text):
    return {
        "scope": SCOPE,
        "modality": "conversation",
        "content": {"kind": "text", "text": text},
        "context": {"observed_at": "2026-05-13T15:42:00Z", "labels": ["sample"]},
    }


def fill(server):
    settled = "/v1/experience?wait=settled"
    events = {}
    for text in SAID:
        events[server.call("POST", settled, envelope(text))["event_id"]] = text
    blob = server.call("POST", "/v1/blobs", raw=b"a scanned deed of the house", media="text/plain")
    forgotten = server.call("POST", settled, envelope("The zyxforgotten word goes."))["event_id"]
    server.call(
        "POST",
        "/v1/forget",
        {"scope": SCOPE, "selector": {"memory_ids": [forgotten]}, "cascade": "redact_events"},
    )
    cancelled = server.call("POST", settled, envelope("This is taken back."))["event_id"]
    server.call("POST", f"/v1/lifecycle/memory-event/{cancelled}/cancel", {"audit_note": "sample"})
    facts = server.call("GET", f"/v1/facts?scope={SCOPE}&limit=50")["items"]
    return {
        "scope": SCOPE,
        "events": events,
        "facts": sorted(fact["id"] for fact in facts),
        "forgotten": forgotten,
        "forgotten_word": "zyxforgotten",
        "cancelled": cancelled,
        "blob": {"id": blob["blob_id"], "text": "a scanned deed of the house"},
    }


def sparse(info):
    """Leaves out what is made again, and says nothing of the machine."""
    parts = Path(info.name).parts
    if len(parts) > 1 and parts[1] in LEFT_OUT:
        return None
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime = 1_767_225_600
    return info


def main():
    binary, name = sys.argv[1:]
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        server = Server(binary, data)
        try:
            expected = fill(server)
            time.sleep(1.5)
        finally:
            server.stop()
        version = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True)
        expected["made_by"] = version.stdout.strip()
        with tarfile.open(OUT / f"{name}.tar.gz", "w:gz", compresslevel=9) as archive:
            archive.add(data, arcname="data", filter=sparse)
    (OUT / f"{name}.json").write_text(json.dumps(expected, indent=2, sort_keys=True) + "\n")
    size = (OUT / f"{name}.tar.gz").stat().st_size
    print(f"{OUT / name}.tar.gz: {size} bytes")


if __name__ == "__main__":
    main()
