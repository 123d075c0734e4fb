"""The SSE client of the legacy Python package against `lamina mcp --transport sse`: tools, an append, a checkout."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from mcp import ClientSession
from mcp.client.sse import sse_client


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_for(port):
    """The port is open before the data directory is; `/v1/ready` says when both are."""
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/ready"):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    sys.exit("the server does not get ready")


async def speak(port):
    # As `ide-config cursor --transport sse` writes it.
    url, headers = f"http://127.0.0.1:{port}/sse", {"x-zaxy-session-id": "proj-default"}
    async with sse_client(url, headers=headers) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            tools = [tool.name for tool in (await session.list_tools()).tools]
            assert len(tools) == 14 and tools[0] == "memory_checkout", tools
            event = {"event_type": "decision.made", "actor": "assistant",
                     "payload": {"decision": "Use slate grey for the bridge"}}
            written = await session.call_tool("memory_append", event)
            told = json.loads(written.content[0].text)
            assert not written.isError and len(told["hash"]) == 64, written
            assert "session:proj-default" in told["citation"], told
            asked = await session.call_tool("memory_checkout", {"query": "which grey for the bridge"})
            checkout = json.loads(asked.content[0].text)
            assert checkout["session_id"] == "proj-default", checkout
            assert "slate grey" in checkout["prompt"], checkout
    print("sse client: ok")


def main():
    port = free_port()
    with tempfile.TemporaryDirectory() as directory:
        words = [os.environ["LAMINA_BIN"], "mcp", "--transport", "sse", "--port", str(port),
                 "--data", f"{directory}/data", "--eventloom-path", f"{directory}/.eventloom"]
        server = subprocess.Popen(words)
        try:
            wait_for(port)
            asyncio.run(speak(port))
        finally:
            server.terminate()
            server.wait()


main()
