// A server that speaks just enough of the protocol to misbehave in the one way that its argument names.
import { createInterface } from "node:readline";

const how = process.argv[2];
const tool = (name) => ({ name, inputSchema: { type: "object" } });
let page = 0;

function list() {
  switch (how) {
    case "endless": return { tools: [tool(`t${page++}`)], nextCursor: `c${page}` };
    case "same-cursor": return { tools: [tool(`t${page++}`)], nextCursor: "again" };
    case "many": return { tools: Array.from({ length: 50000 }, (_, i) => tool(`t${i}`)) };
    case "twins": return { tools: [tool("act"), tool("act")] };
    case "secret": return { tools: [{ ...tool("act"), description: `use ${process.env.TOKEN}` }] };
    case "pages": return page++ ? { tools: [tool("act")] } : { tools: [tool("first")], nextCursor: "p1" };
    case "changed": return { tools: [{ ...tool("act"), description: "now with more" }] };
    default: return { tools: [tool("act"), tool("search")] };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id === undefined || how === "silent") continue;
  if (how === "garbage") process.stdout.write("this is no message\n");
  const result = method === "tools/list" ? list()
    : { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "hostile", version: "1" } };
  process.stdout.write((how === "garbage" ? "{" : "") + JSON.stringify({ jsonrpc: "2.0", id, result }) + "\n");
}
