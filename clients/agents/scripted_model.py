"""A model that follows a script, on loopback, in four dialects: Anthropic Messages, OpenAI Responses, OpenAI Chat
and Gemini. The first request of a conversation gets the first call of the script, the request with one result the
second, and so on; after the last call it says DONE. Every request is written to a file, so that a test can look at
what reached the model."""

import gzip
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DONE = "SCRIPT-DONE"


class Model:
    """A server with a script and a log of requests."""

    def __init__(self):
        self.script = []
        self.requests = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler(self))
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def play(self, script):
        """Begins another conversation."""
        self.script, self.requests = script, []

    def seen(self):
        """Everything that reached the model, as text."""
        return json.dumps(self.requests, ensure_ascii=False)

    def step(self, names, results):
        """The next call, if its tool is offered: its name as the agent knows it, and its arguments."""
        if results >= len(self.script):
            return None
        tool, arguments = self.script[results]
        for name in names:
            if name.endswith(tool):
                return name, arguments
        return None


def handler(model):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_HEAD(self):
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def do_GET(self):
            self.send_json({"data": [{"id": "scripted", "object": "model"}], "models": [{"slug": "scripted"}]})

        def do_POST(self):
            body = self.body()
            model.requests.append({"path": self.path, "body": body})
            path = self.path.split("?")[0]
            if path.endswith("/count_tokens"):
                self.send_json({"input_tokens": 10})
            elif path.endswith("/messages"):
                self.anthropic(body)
            elif path.endswith("/responses"):
                self.openai_responses(body)
            elif path.endswith("/chat/completions"):
                self.chat(body)
            elif path.endswith(":countTokens"):
                self.send_json({"totalTokens": 10})
            elif "enerateContent" in path:
                self.gemini(body, "stream" in path)
            else:
                self.send_json({})

        def body(self):
            if self.headers.get("transfer-encoding") == "chunked":
                raw = b""
                while size := int(self.rfile.readline().strip() or b"0", 16):
                    raw += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
            else:
                raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            if self.headers.get("content-encoding") == "gzip":
                raw = gzip.decompress(raw)
            try:
                return json.loads(raw or b"{}")
            except ValueError:
                return {}

        def send_json(self, value):
            raw = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def send_events(self, events):
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            for kind, data in events:
                head = f"event: {kind}\n" if kind else ""
                text = data if isinstance(data, str) else json.dumps(data)
                self.wfile.write(f"{head}data: {text}\n\n".encode())
            self.close_connection = True

        def anthropic(self, body):
            names = [tool.get("name", "") for tool in body.get("tools") or []]
            blocks = [
                block
                for message in body.get("messages") or []
                if isinstance(message.get("content"), list)
                for block in message["content"]
            ]
            step = model.step(names, sum(block.get("type") == "tool_result" for block in blocks))
            message = {
                "id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", "scripted"),
                "content": [], "stop_reason": None, "stop_sequence": None,
                "usage": {"input_tokens": 5, "output_tokens": 1},
            }
            reason = "tool_use" if step else "end_turn"
            if step:
                block = {"type": "tool_use", "id": f"toolu_{len(model.requests)}", "name": step[0], "input": step[1]}
                begun = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(step[1])}
            else:
                block = {"type": "text", "text": DONE}
                begun, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": DONE}
            if not body.get("stream"):
                return self.send_json({**message, "content": [block], "stop_reason": reason})
            stop = {"stop_reason": reason, "stop_sequence": None}
            steps = [
                {"type": "message_start", "message": message},
                {"type": "content_block_start", "index": 0, "content_block": begun},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}},
                {"type": "message_stop"},
            ]
            self.send_events([(step["type"], step) for step in steps])

        def openai_responses(self, body):
            names, spaces = [], {}

            def walk(tools, space=None):
                for tool in tools or []:
                    if tool.get("type") == "namespace" or "tools" in tool:
                        walk(tool.get("tools"), tool.get("name"))
                    elif tool.get("name"):
                        names.append(tool["name"])
                        spaces[tool["name"]] = space

            walk(body.get("tools"))
            given = body.get("input") if isinstance(body.get("input"), list) else []
            step = model.step(names, sum(item.get("type") == "function_call_output" for item in given))
            if step:
                item = {
                    "type": "function_call", "id": "fc_1", "call_id": f"call_{len(model.requests)}",
                    "name": step[0], "arguments": json.dumps(step[1]), "status": "completed",
                }
                if spaces.get(step[0]):
                    item["namespace"] = spaces[step[0]]
            else:
                text = {"type": "output_text", "text": DONE, "annotations": []}
                item = {"type": "message", "id": "m1", "role": "assistant", "status": "completed", "content": [text]}
            usage = {
                "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
                "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
            }
            whole = {"id": "resp_1", "object": "response", "status": "completed", "output": [item], "usage": usage}
            begun = {**whole, "status": "in_progress", "output": []}
            steps = [
                {"type": "response.created", "response": begun},
                {"type": "response.output_item.added", "output_index": 0, "item": item},
                {"type": "response.output_item.done", "output_index": 0, "item": item},
                {"type": "response.completed", "response": whole},
            ]
            self.send_events([(step["type"], step) for step in steps])

        def chat(self, body):
            names = [(tool.get("function") or {}).get("name", "") for tool in body.get("tools") or []]
            step = model.step(names, sum(m.get("role") == "tool" for m in body.get("messages") or []))
            base = {"id": "c1", "created": 1, "model": "scripted"}
            if step:
                call = {"name": step[0], "arguments": json.dumps(step[1])}
                call = {"index": 0, "id": f"call_{len(model.requests)}", "type": "function", "function": call}
                delta, reason = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
            else:
                delta, reason = {"role": "assistant", "content": DONE}, "stop"
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            if not body.get("stream"):
                choice = {"index": 0, "message": delta, "finish_reason": reason}
                return self.send_json({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
            base["object"] = "chat.completion.chunk"
            chunk = lambda delta, reason: {
                **base, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
            last = {**base, "choices": [], "usage": usage}
            self.send_events([(None, chunk(delta, None)), (None, chunk({}, reason)), (None, last), (None, "[DONE]")])

        def gemini(self, body, streams):
            names = [
                function["name"]
                for tool in body.get("tools") or []
                for function in tool.get("functionDeclarations") or []
            ]
            parts = [part for content in body.get("contents") or [] for part in content.get("parts") or []]
            step = model.step(names, sum("functionResponse" in part for part in parts))
            part = {"functionCall": {"name": step[0], "args": step[1]}} if step else {"text": DONE}
            content = {"role": "model", "parts": [part]}
            usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
            answer = {
                "candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}
            if streams:
                self.send_events([(None, answer)])
            else:
                self.send_json(answer)

    return Handler


if __name__ == "__main__":
    print(Model().port, flush=True)
    sys.stdin.read()
