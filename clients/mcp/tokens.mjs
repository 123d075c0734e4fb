// Counts what a model is given, in tokens of o200k_base: the lists and instructions that are written down, and
// checkouts of a server with something to say.
//
//     tokens.mjs URL GOLDENS

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const require = createRequire(join(process.env.NODE_MODULES, "tokens.js"));
const { encode } = require("gpt-tokenizer/encoding/o200k_base");
const [url, goldens] = process.argv.slice(2);
const count = (text) => encode(text).length;
let failed = false;

function bound(what, tokens, most) {
  const mark = tokens <= most ? "ok" : "TOO MANY";
  console.log(`${what}: ${tokens} tokens, at most ${most}: ${mark}`);
  failed ||= tokens > most;
}

const tools = JSON.parse(readFileSync(join(goldens, "tools-slim.json")));
const shown = tools.map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }));
bound("tools of the slim profile", shown.map(count).reduce((all, one) => all + one, 0), 600);
bound("instructions", count(readFileSync(join(goldens, "instructions.txt"), "utf8")), 120);

async function call(name, args) {
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } };
  const response = await fetch(`${url}/mcp?project=tokens`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify(message),
  });
  return (await response.json()).result;
}

const weight = (result) => count(result.content[0].text) + count(JSON.stringify(result.structuredContent));
bound("checkout of an empty memory", weight(await call("memory_checkout", { query: "Where does Maria work?" })), 250);

const people = ["Maria", "Jonas", "Aiko", "Priya", "Lukas", "Chiara", "Tomasz", "Noor"];
const firms = ["Northwind", "Contoso", "Fabrikam", "Globex", "Initech", "Umbrella", "Hooli", "Vandelay"];
for (let number = 0; number < 120; number += 1) {
  const [person, firm] = [people[number % 8], firms[(number >> 3) % 8]];
  const kinds = [
    { text: `${person} ${number} works at ${firm} since March 2026 and prefers written reviews of the quarterly plan.` },
    { text: `We decided that release ${number} of the billing service is built with ${firm} and not by ourselves.` },
    { event_type: "task.created", payload: { title: `Migrate table ${number} of ${firm}`, owner: person } },
    { text: `\u4f1a\u8b70${number}\u3067\u306f${firm}\u306e\u5951\u7d04\u3092\u66f4\u65b0\u3059\u308b\u3068\u6c7a\u3081\u307e\u3057\u305f\u3002` },
  ];
  await call("memory_append", kinds[number % 4]);
}
const questions = ["Who works at Northwind?", "What is decided about the billing service?", "open tasks", "\u5951\u7d04"];
for (const tokens of [100, 200, 400, 800, 1200, 2400, 4000, 8000]) {
  for (const query of questions) {
    const result = await call("memory_checkout", { query, max_tokens: tokens });
    bound(`checkout "${query}" of ${tokens}`, weight(result), Math.floor(1.15 * tokens + 200));
  }
}
process.exit(failed ? 1 : 0);
