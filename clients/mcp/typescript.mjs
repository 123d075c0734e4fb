// The TypeScript clients of both generations against `lamina mcp`, `POST /mcp` and the Unix socket. What every tool
// answers is held against its schema with ajv.
//
//     typescript.mjs URL SOCKET DIRECTORY

import { createRequire } from "node:module";
import http from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const modules = process.env.NODE_MODULES;
const require = createRequire(join(modules, "clients.js"));
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);
const [url, socket, directory] = process.argv.slice(2);

const Ajv = (await load("ajv/dist/2020.js")).default;
const legacy = {
  ...(await load("@modelcontextprotocol/sdk/client/index.js")),
  ...(await load("@modelcontextprotocol/sdk/client/stdio.js")),
  ...(await load("@modelcontextprotocol/sdk/client/streamableHttp.js")),
};
const modern = {
  ...(await load("@modelcontextprotocol/client")),
  ...(await load("@modelcontextprotocol/client/stdio")),
};

/// `fetch` over a Unix socket.
function socketFetch(target, options = {}) {
  const { pathname, search } = new URL(target);
  return new Promise((resolve, reject) => {
    const headers = Object.fromEntries(new Headers(options.headers));
    const request = http.request(
      { socketPath: socket, path: pathname + search, method: options.method ?? "GET", headers },
      (response) => {
        const pieces = [];
        response.on("data", (piece) => pieces.push(piece));
        response.on("end", () => {
          const body = [204, 202, 304].includes(response.statusCode) ? null : Buffer.concat(pieces);
          resolve(new Response(body, { status: response.statusCode, headers: response.headers }));
        });
      },
    );
    request.on("error", reject);
    request.end(options.body);
  });
}

async function check(name, client) {
  const { tools } = await client.listTools();
  const schemas = new Map(tools.map((tool) => [tool.name, tool.outputSchema]));
  const ajv = new Ajv({ strict: false });
  const call = async (tool, args) => {
    const result = await client.callTool({ name: tool, arguments: args });
    if (!result.isError) {
      const fits = ajv.compile(schemas.get(tool));
      if (!fits(result.structuredContent)) throw new Error(`${name} ${tool}: ${ajv.errorsText(fits.errors)}`);
      if (Array.isArray(result.structuredContent)) throw new Error(`${name} ${tool}: an array at the top`);
    }
    return result;
  };
  const written = await call("memory_append", { text: `Maria works at Northwind, says ${name}.` });
  const { citation, event_id: event } = written.structuredContent;
  const typed = await call("memory_append", { event_type: "goal.created", payload: { title: "Ship it" } });
  for (const max_tokens of [100, 1200]) await call("memory_checkout", { query: "Where does Maria work?", max_tokens });
  await call("memory_checkout", { query: "Who won in 1954?", session_id: "empty" });
  await call("memory_checkout", { query: "goals", as_of: "2020-01-01T00:00:00Z" });
  const why = await call("memory_why", { id: citation });
  if (!why.content[0].text.includes(`says ${name}`)) throw new Error(`${name}: ${why.content[0].text}`);
  await call("memory_feedback", { citation, feedback: "used" });
  const preview = await call("memory_forget", { ids: [event] });
  const { preview_id: confirm } = preview.structuredContent;
  if (confirm) await call("memory_forget", { ids: [event], confirm });
  const mistake = await call("memory_append", { txt: "x" });
  if (!mistake.isError) throw new Error(`${name}: a mistake was no error`);
  if (typed.isError) throw new Error(`${name}: ${typed.content[0].text}`);
  const { resources } = await client.listResources();
  await client.readResource({ uri: resources[0].uri });
  await client.getPrompt({ name: "handoff" });
  await client.close();
  console.log(`${name}: ok`);
}

const info = { name: "typescript", version: "1" };
const command = { command: process.env.LAMINA_BIN };
const stdio = (data) => ({ ...command, args: ["mcp", "--embedded", "--data", join(directory, data)] });
const address = (project) => new URL(`${url}/mcp?project=${project}`);

for (const [name, kit] of [["typescript-1.32", legacy], ["typescript-2.4", modern]]) {
  const ways = {
    stdio: () => new kit.StdioClientTransport(stdio(name)),
    http: () => new kit.StreamableHTTPClientTransport(address(`${name}-http`)),
    socket: () => new kit.StreamableHTTPClientTransport(address(`${name}-socket`), { fetch: socketFetch }),
  };
  for (const [way, transport] of Object.entries(ways)) {
    const client = new kit.Client(info);
    await client.connect(transport());
    await check(`${name}-${way}`, client);
  }
}
