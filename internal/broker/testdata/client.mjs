// An official client against the gateway: client.mjs sdk|client URL TOKEN. It prints one JSON object.
const [which, url, token] = process.argv.slice(2);
const own = { name: "test", version: "1" };
let Client, Transport, options;
if (which === "sdk") {
  ({ Client } = await import("@modelcontextprotocol/sdk/client/index.js"));
  ({ StreamableHTTPClientTransport: Transport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js"));
} else {
  ({ Client, StreamableHTTPClientTransport: Transport } = await import("@modelcontextprotocol/client"));
  options = { versionNegotiation: { mode: "auto" } };
}
const client = new Client(own, options);
const versions = new Set();
const watched = (input, init) => {
  versions.add(new Headers(init?.headers).get("mcp-protocol-version") ?? "");
  return fetch(input, init);
};
await client.connect(new Transport(new URL(url), { fetch: watched, requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
const said = { server: client.getServerVersion()?.name };
said.tools = (await client.listTools()).tools.map((t) => [t.name, Object.keys(t.inputSchema.properties ?? {})]);
const call = async (name, args) => {
  try {
    const res = await client.callTool({ name, arguments: args });
    return { error: res.isError ?? false, text: res.content.map((c) => c.text).join() };
  } catch (e) {
    return { code: e.code, message: e.message };
  }
};
said.look = await call("crm.look", {});
said.send = await call("crm.send", { text: "x" });
said.fixed = await call("crm.send", { text: "x", to: "all" });
said.unknown = await call("crm.one-of", {});
const giveUp = new AbortController();
setTimeout(() => giveUp.abort(), 200);
said.slow = await client.callTool({ name: "crm.slow", arguments: {} }, ...(which === "sdk" ? [undefined] : []), { signal: giveUp.signal }).then(() => "answered", () => "given up");
await client.close();
said.version = [...versions].sort().pop();
console.log(JSON.stringify(said));
