// A run's events as @ag-ui/client reads them: it checks each against the protocol's schemas, and their order.
// ag_ui.mjs URL AUTHORIZATION RUN: prints the messages that came, what the run gave, and what it waits for, as one line of JSON.
import { HttpAgent } from "@ag-ui/client";

class Reader extends HttpAgent {
  // The run was begun by another door; here it is only read.
  requestInit() {
    return { method: "GET", headers: this.headers };
  }
}

const [url, authorization, runId] = process.argv.slice(2);
const agent = new Reader({ url: `${url}/runs/${runId}/events?format=ag-ui`, headers: { authorization, accept: "text/event-stream" } });
const events = [];
const { result, newMessages } = await agent.runAgent({ runId }, { onEvent: ({ event }) => { events.push(event.type); } });
console.log(JSON.stringify({ events, result, messages: newMessages, waits: agent.pendingInterrupts }));
