// The official TypeScript SDK as a client; called like client.py.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [target, requests] = process.argv.slice(2).map((text) => JSON.parse(text));
const client = new Client({ name: "typescript-sdk", version: "1.0.0" });
let transport;
if (target.command) {
  const [command, ...args] = target.command;
  transport = new StdioClientTransport({ command, args, stderr: "ignore" });
} else {
  const headers = { Authorization: `Bearer ${target.token}` };
  transport = new StreamableHTTPClientTransport(new URL(target.url), { requestInit: { headers } });
}
await client.connect(transport);
const results = [];
for (const request of requests) {
  results.push(
    request.list
      ? await client.listTools()
      : await client.callTool({ name: request.call, arguments: request.args }),
  );
}
if (transport.terminateSession) await transport.terminateSession();
await client.close();
console.log(JSON.stringify(results));
