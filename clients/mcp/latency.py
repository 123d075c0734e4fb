"""How long `lamina mcp` takes: from its start to its first answer, with and without a server, and for each call beside
`POST /mcp` and beside the published `cortexdb-mcp` on the same server in the same run. Tokens are those of the texts,
by four bytes each, as all of them are English.

    latency.py EVENTS [PATH OF cortexdb-mcp]
"""

import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

LAMINA = os.environ["LAMINA_BIN"]
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "latency", "version": "1"}}
QUESTION = "Where does Maria work?"


class Lines:
    """A server on standard input and output."""

    def __init__(self, command, **environment):
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, **environment})
        self.number = 0

    def ask(self, method, params):
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.number:
                return answer

    def tell(self, method):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method}).encode() + b"\n")
        self.process.stdin.flush()

    def end(self):
        self.process.stdin.close()
        return self.process.wait()


def row(name, milliseconds, tokens=None):
    milliseconds.sort()
    last = milliseconds[int(len(milliseconds) * 0.95)]
    told = "" if tokens is None else f", {tokens:.0f} tokens"
    print(f"{name}: p50 {statistics.median(milliseconds):.1f} ms, p95 {last:.1f} ms{told}", flush=True)


def timed(work, times):
    spent, answer = [], None
    for _ in range(times):
        began = time.perf_counter()
        answer = work()
        spent.append((time.perf_counter() - began) * 1000)
    return spent, answer


def fill(url, events):
    """Appends over HTTP, in bulk."""
    host = url.removeprefix("http://")
    connection = http.client.HTTPConnection(host)
    for first in range(0, events, 500):
        items = [
            {
                "scope": f"project:latency/session:s{number % 20}",
                "observed_actor": {"id": "agent:latency"},
                "modality": "observation",
                "content": {"kind": "text", "text": f"Person {number} works at firm {number % 97} on plan {number}."},
                "context": {"observed_at": "2026-05-13T15:00:00Z"},
                "idempotency_key": f"latency-{number}",
            }
            for number in range(first, min(first + 500, events))
        ]
        connection.request(
            "POST", "/v1/experience/bulk", json.dumps({"items": items}), {"content-type": "application/json"})
        response = connection.getresponse()
        body = response.read()
        assert response.status < 300, body[:500]


def serve(data):
    server = subprocess.Popen(
        [LAMINA, "serve", "--data", data, "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for line in server.stdout:
        if line.startswith(b"listening on "):
            return server, line.split()[-1].decode()
    raise SystemExit("the server did not start")


def starts(data):
    """From exec to the answer of `initialize` and of `tools/list`: nothing is opened."""
    spent = []
    for _ in range(30):
        lines = Lines([LAMINA, "mcp", "--data", f"{data}-none"])
        lines.ask("initialize", INITIALIZE)
        lines.ask("tools/list", {})
        spent.append((time.perf_counter() - lines.began) * 1000)
        assert lines.end() == 0
    row("start to the list of tools", spent)


def first_call(data):
    """From exec to the first answer out of memory, with a server to be started."""
    spent = []
    for _ in range(3):
        lines = Lines([LAMINA, "mcp", "--data", data, "--project", "latency"])
        answer = lines.ask("tools/call", {"name": "memory_checkout", "arguments": {"query": QUESTION}})
        assert "result" in answer, answer
        spent.append((time.perf_counter() - lines.began) * 1000)
        lines.end()
        endpoint = json.loads(pathlib.Path(data, "endpoint.json").read_text())
        os.kill(endpoint["pid"], 15)
        while pathlib.Path(data, "endpoint.json").exists():
            time.sleep(0.05)
        time.sleep(0.5)
    row("first call, with a server to start", spent)


def calls(url, data, cortexdb):
    lines = Lines([LAMINA, "mcp", "--data", data, "--project", "latency"])
    lines.ask("initialize", INITIALIZE)
    connection = http.client.HTTPConnection(url.removeprefix("http://"))

    def post(params):
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        connection.request(
            "POST", "/mcp?project=latency", json.dumps(message), {"content-type": "application/json"})
        return json.loads(connection.getresponse().read())

    tools = [
        ("memory_append", lambda n: {"text": f"Note {n} of the latency run."}),
        ("memory_checkout", lambda n: {"query": f"Where does person {n} work?"}),
    ]
    for tool, arguments in tools:
        spent = {"lamina mcp": [], "POST /mcp": []}
        tokens = 0
        for number in range(100):
            params = {"name": tool, "arguments": arguments(number)}
            for name, ask in (("lamina mcp", lambda: lines.ask("tools/call", params)), ("POST /mcp", lambda: post(params))):
                took, answer = timed(ask, 1)
                assert answer["result"]["isError"] is False, answer
                spent[name] += took
            tokens += len(answer["result"]["content"][0]["text"]) / 4 / 100
        for name, took in spent.items():
            row(f"{tool} by {name}", took, tokens)
        over = statistics.median(spent["lamina mcp"]) - statistics.median(spent["POST /mcp"])
        print(f"{tool}: {over:.1f} ms more by lamina mcp than by HTTP", flush=True)
    pid = lines.process.pid
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    resident, own = (int(status.split(name)[1].split()[0]) / 1024 for name in ("VmRSS:", "RssAnon:"))
    print(f"memory of lamina mcp: {resident:.1f} MB resident, {own:.1f} MB of its own", flush=True)
    # The rest are pages of the program file, which all processes share.
    assert own < 15, own
    lines.end()
    if not cortexdb:
        return
    other = Lines(
        [cortexdb], CORTEXDB_URL=url, CORTEXDB_SCOPE="project:latency/session:s1", CORTEXDB_ACTOR="user:latency")
    other.ask("initialize", INITIALIZE)
    other.tell("notifications/initialized")
    for tool, arguments in [
        ("memory_store", lambda n: {"content": f"Note {n} of cortexdb-mcp."}),
        ("memory_search", lambda n: {"query": f"Where does person {n} work?"}),
    ]:
        spent, tokens = [], 0
        for number in range(50):
            params = {"name": tool, "arguments": arguments(number)}
            took, answer = timed(lambda: other.ask("tools/call", params), 1)
            assert not answer["result"].get("isError"), answer
            spent += took
            tokens += sum(len(item["text"]) for item in answer["result"]["content"]) / 4 / 50
        row(f"{tool} by cortexdb-mcp", spent, tokens)
    other.end()


def main():
    events = int(sys.argv[1])
    cortexdb = sys.argv[2] if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as directory:
        data = f"{directory}/data"
        starts(data)
        server, url = serve(data)
        fill(url, events)
        calls(url, data, cortexdb)
        server.terminate()
        server.wait()
        first_call(data)


main()
