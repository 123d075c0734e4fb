"""Published agents with a scripted model: the tools and the instructions of Lamina reach the model, a memory of one
session comes back in the next, and nothing is written twice. Also how long Claude Code takes to start with Lamina.

    agents.py DIRECTORY     DIRECTORY has node_modules/.bin with the agents, and hermes/bin for the one in Python
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from scripted_model import DONE, Model

LAMINA = os.environ["LAMINA_BIN"]
QUESTION = "Where does Maria work?"
# A part of the instructions of the server.
INSTRUCTIONS = "is the long-term memory of this project"
SECONDS_MAX = 120


class Agent:
    """One run of an agent: where its files are, and the model it asks."""

    def __init__(self, root, model, data, tools):
        self.root, self.model, self.data, self.tools = root, model, data, tools
        self.home = root / "home"
        self.work = root / "work"
        for directory in (self.home, self.work, self.work / ".git"):
            directory.mkdir(parents=True, exist_ok=True)
        self.url = f"http://127.0.0.1:{model.port}"
        self.arguments = ["mcp", "--data", str(data)]

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run(self, command, **environment):
        path = f"{self.tools}/node_modules/.bin:{self.tools}/hermes/bin:{os.environ['PATH']}"
        environment = {"HOME": str(self.home), "PATH": path, "NO_COLOR": "1", "CI": "1", **environment}
        return subprocess.run(
            command, cwd=self.work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=SECONDS_MAX)


def claude(agent, with_lamina=True):
    server = {"type": "stdio", "command": LAMINA, "args": agent.arguments}
    agent.write(agent.root / "mcp.json", json.dumps({"mcpServers": {"lamina": server} if with_lamina else {}}))
    allowed = "mcp__lamina__memory_append,mcp__lamina__memory_checkout"
    return agent.run(
        ["claude", "-p", QUESTION, "--mcp-config", str(agent.root / "mcp.json"), "--strict-mcp-config",
         "--allowedTools", allowed, "--output-format", "json"],
        ANTHROPIC_BASE_URL=agent.url, ANTHROPIC_API_KEY="scripted", IS_SANDBOX="1", DISABLE_TELEMETRY="1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1")


def codex(agent):
    arguments = json.dumps(agent.arguments)
    agent.write(agent.home / ".codex" / "config.toml", f"""
model = "scripted"
model_provider = "scripted"
approval_policy = "never"
[model_providers.scripted]
name = "scripted"
base_url = "{agent.url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[mcp_servers.lamina]
command = "{LAMINA}"
args = {arguments}
default_tools_approval_mode = "approve"
""")
    return agent.run(
        ["codex", "exec", "--skip-git-repo-check", "-s", "read-only", QUESTION],
        CODEX_HOME=str(agent.home / ".codex"), SCRIPTED_KEY="scripted")


def gemini(agent):
    agent.write(agent.home / ".gemini" / "settings.json", json.dumps({
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "mcpServers": {"lamina": {"command": LAMINA, "args": agent.arguments, "trust": True}},
        "telemetry": {"enabled": False}, "general": {"enableAutoUpdate": False},
    }))
    return agent.run(
        ["gemini", "-m", "gemini-2.5-pro", "-p", QUESTION, "--yolo"],
        GEMINI_API_KEY="scripted", GOOGLE_GEMINI_BASE_URL=agent.url)


def opencode(agent):
    agent.write(agent.home / ".config" / "opencode" / "opencode.json", json.dumps({
        "provider": {"scripted": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{agent.url}/v1", "apiKey": "scripted"},
            "models": {"scripted": {}},
        }},
        "model": "scripted/scripted",
        "autoupdate": False,
        "mcp": {"lamina": {"type": "local", "command": [LAMINA, *agent.arguments], "enabled": True}},
    }))
    return agent.run(["opencode", "run", QUESTION], OPENCODE_DISABLE_AUTOUPDATE="1")


def hermes(agent):
    server = {"command": LAMINA, "args": agent.arguments}
    agent.write(agent.home / ".hermes" / "config.yaml", json.dumps({
        "model": {"provider": "custom", "default": "scripted", "base_url": f"{agent.url}/v1", "api_key": "scripted"},
        "mcp_servers": {"lamina": server},
    }))
    return agent.run(["hermes", "--accept-hooks", "-z", QUESTION, "--yolo"])


AGENTS = {"claude": claude, "codex": codex, "gemini": gemini, "opencode": opencode, "hermes": hermes}


def written(data, work):
    """The log of the session, read by a client of its own."""
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"jsonrpc": "2.0", "id": 2, "method": "resources/read",
         "params": {"uri": "lamina://session/work-default/log"}},
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    ran = subprocess.run(
        [LAMINA, "mcp", "--data", str(data)], cwd=work, input=text, capture_output=True, text=True, timeout=60)
    return json.loads(ran.stdout.splitlines()[-1])["result"]["contents"][0]["text"]


def check(name, tools):
    """Two sessions of one agent: the first remembers, the second recalls."""
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        model = Model()
        agent = Agent(root, model, root / "data", tools)
        sentence = f"Maria works at Northwind, as {name} noted."
        started = time.monotonic()
        model.play([("memory_append", {"text": sentence})])
        first = AGENTS[name](agent)
        seen = model.seen()
        assert DONE in first.stdout, f"{name}: {first.stdout[-2000:]}\n{first.stderr[-2000:]}"
        assert "memory_append" in seen, f"{name}: the model was offered no tool"
        if name != "hermes":
            assert INSTRUCTIONS in seen, f"{name}: the instructions did not reach the model"
        assert "Remembered as" in seen or "event_id" in seen, f"{name}: the result did not reach the model"
        model.play([("memory_checkout", {"query": QUESTION})])
        second = AGENTS[name](agent)
        seen = model.seen()
        assert DONE in second.stdout, f"{name}: {second.stdout[-2000:]}\n{second.stderr[-2000:]}"
        assert sentence in seen, f"{name}: the memory of the first session did not come back"
        assert "answer_from_memory" in seen, f"{name}: the verdict did not reach the model"
        log = written(root / "data", agent.work)
        assert log.count(sentence) == 1, f"{name}: {log}"
        stop(root / "data")
        print(f"{name}: ok, {time.monotonic() - started:.1f} s for two sessions", flush=True)


def start_of_claude(tools):
    """Seconds of a session without and with Lamina, by turns, the best of five each: a server that does not
    acknowledge a subscription at once costs half a minute."""
    times = {False: [], True: []}
    with tempfile.TemporaryDirectory() as directory:
        root = pathlib.Path(directory)
        agent = Agent(root, Model(), root / "data", tools)
        for _ in range(5):
            for with_lamina in (False, True):
                began = time.monotonic()
                assert DONE in claude(agent, with_lamina).stdout
                times[with_lamina].append(time.monotonic() - began)
    best = {with_lamina: min(spent) for with_lamina, spent in times.items()}
    print(f"start of claude: {best[False]:.2f} s without, {best[True]:.2f} s with Lamina", flush=True)
    assert best[True] <= best[False] + 1.0, best


def stop(data):
    """Ends the server that was started for a directory."""
    try:
        os.kill(json.loads((data / "endpoint.json").read_text())["pid"], 15)
    except (OSError, ValueError):
        pass


def main():
    tools = os.path.abspath(sys.argv[1])
    names = sys.argv[2:] or list(AGENTS)
    for name in names:
        places = [pathlib.Path(tools, "node_modules/.bin", name), pathlib.Path(tools, "hermes/bin", name)]
        if not any(place.exists() for place in places):
            print(f"{name}: skipped, it is not installed", flush=True)
            continue
        check(name, tools)
    if "claude" in names:
        start_of_claude(tools)


main()
