// What the A2A client of npm's @a2a-js/sdk makes of `agentctl serve`.
// clients.mjs URL TOKEN OTHER_TOKEN KEYS: each check ends the program with its words when it does not hold.
import http from "node:http";
import { Role, TaskState, verifyAgentCardSignature } from "@a2a-js/sdk";
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from "@a2a-js/sdk/client";
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from "@a2a-js/sdk/errors";

const [url, token, other, keys] = process.argv.slice(2);

function holds(what, isSo, shown) {
  if (!isSo) {
    console.error(`FAILED: ${what}`, shown);
    process.exit(1);
  }
  console.log(`ok  ${what}`);
}

async function refused(what, kind, call) {
  const error = await call.then(() => undefined, (error) => error);
  holds(what, error instanceof kind, error);
}

async function client(agent, binding, { polling = false, as = token } = {}) {
  const fetchImpl = (input, init = {}) => {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${as}`);
    return fetch(input, { ...init, headers });
  };
  const transports = { JSONRPC: JsonRpcTransportFactory, "HTTP+JSON": RestTransportFactory };
  const factory = new ClientFactory({
    transports: [new transports[binding]({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    clientConfig: { polling },
  });
  return factory.createFromUrl(`${url}/agents/${agent}/`, ".well-known/agent-card.json");
}

function said(text, { taskId = "", contextId = "" } = {}) {
  const part = { content: { $case: "text", value: text }, filename: "", mediaType: "" };
  const message = { messageId: crypto.randomUUID(), role: Role.ROLE_USER, parts: [part], taskId, contextId, extensions: [], referenceTaskIds: [] };
  return { tenant: "", message };
}

const text = (task) =>
  task.artifacts.filter((a) => a.artifactId === "reply").flatMap((a) => a.parts).map((p) => p.content.value).join("\n");

async function all(stream) {
  const events = [];
  for await (const event of stream) events.push(event.payload);
  return events;
}

async function roundTrip(binding) {
  const colour = await client("colour", binding);
  const card = await colour.getAgentCard();
  holds(`${binding}: the card is read`, card.name === "Asks for a colour" && card.skills[0].id === "colour", card);
  const task = await colour.sendMessage(said("the wall"));
  holds(`${binding}: a question is INPUT_REQUIRED`, task.status.state === TaskState.TASK_STATE_INPUT_REQUIRED, task);
  const done = await colour.sendMessage(said("Blue", { taskId: task.id, contextId: task.contextId }));
  holds(`${binding}: its answer ends the task`, done.id === task.id && done.status.state === TaskState.TASK_STATE_COMPLETED, done);
  holds(`${binding}: with what was said`, text(done) === "For the wall: blue", done);
  const got = await colour.getTask({ tenant: "", id: task.id });
  holds(`${binding}: GetTask tells the same`, JSON.stringify(got) === JSON.stringify(done), got);
  await refused(`${binding}: a task at its end takes no message`, UnsupportedOperationError, colour.sendMessage(said("Red", { taskId: task.id })));
  await refused(`${binding}: nor can it be cancelled`, TaskNotCancelableError, colour.cancelTask({ tenant: "", id: task.id }));

  const polling = await client("colour", binding, { polling: true });
  const begun = await polling.sendMessage(said("the door"));
  holds(`${binding}: who does not wait gets the task at once`, begun.id && begun.id !== task.id, begun);
  const cancelled = await polling.cancelTask({ tenant: "", id: begun.id });
  const again = await polling.cancelTask({ tenant: "", id: begun.id });
  holds(`${binding}: a cancelled task stays so`, [cancelled, again].every((t) => t.status.state === TaskState.TASK_STATE_CANCELED), again);
  const page = await polling.listTasks({ tenant: "", contextId: "", status: 0, pageSize: 1, pageToken: "", includeArtifacts: true });
  const rest = await polling.listTasks({ tenant: "", contextId: "", status: 0, pageSize: 100, pageToken: page.nextPageToken });
  holds(`${binding}: tasks are listed, the last first`, page.tasks[0].id === begun.id && rest.tasks.some((t) => t.id === task.id), page);
  const stranger = await client("colour", binding, { as: other });
  await refused(`${binding}: another client sees no such task`, TaskNotFoundError, stranger.getTask({ tenant: "", id: task.id }));
}

async function streamed(binding) {
  const colour = await client("colour", binding);
  const told = await all(colour.sendMessageStream(said("the roof")));
  const task = told[0].value;
  const last = told.at(-1);
  holds(`${binding}: a stream begins with the task and closes where it waits`,
    told[0].$case === "task" && (last.value.status.state === TaskState.TASK_STATE_INPUT_REQUIRED), told);
  // A reader that leaves, and comes back.
  const watching = colour.resubscribeTask({ tenant: "", id: task.id });
  const first = (await watching.next()).value;
  holds(`${binding}: watched again it is told first`, first.payload.value.id === task.id, first);
  await watching.return();
  const again = colour.resubscribeTask({ tenant: "", id: task.id });
  await again.next();
  const done = await colour.sendMessage(said("Red", { taskId: task.id }));
  holds(`${binding}: the answer ends it`, text(done) === "For the roof: red", done);
  const seen = await all(again);
  holds(`${binding}: who watches sees it go on to its end`, seen.at(-1).value.status.state === TaskState.TASK_STATE_COMPLETED, seen);
  await refused(`${binding}: a task at its end cannot be watched`, UnsupportedOperationError, all(colour.resubscribeTask({ tenant: "", id: task.id })));
}

async function pushed(binding) {
  const came = [];
  let done;
  const ended = new Promise((resolve) => { done = resolve; });
  const receiver = http.createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => { body += chunk; });
    request.on("end", () => {
      came.push([request.headers, JSON.parse(body)]);
      response.writeHead(204).end();
      if (came.at(-1)[1].statusUpdate?.status.state === "TASK_STATE_COMPLETED") done();
    });
  });
  await new Promise((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${receiver.address().port}/told`;
  const colour = await client("colour", binding);
  const task = await colour.sendMessage(said("the wall"));
  const config = { tenant: "", taskId: task.id, id: "mine", url: address, token: "shown", authentication: { scheme: "Bearer", credentials: "theirs" } };
  const made = await colour.createTaskPushNotificationConfig(config);
  holds(`${binding}: a receiver is named`, made.id === "mine" && made.url === address, made);
  const listed = await colour.listTaskPushNotificationConfig({ tenant: "", taskId: task.id, pageSize: 0, pageToken: "" });
  holds(`${binding}: and listed`, listed.configs.map((c) => c.id).join() === "mine", listed);
  await colour.sendMessage(said("Blue", { taskId: task.id }));
  await ended;
  holds(`${binding}: it is told what comes from then on`, came.some(([, event]) => event.artifactUpdate?.artifact.parts[0].text === "For the wall: blue"), came);
  holds(`${binding}: with its token and its credentials`,
    came.every(([headers]) => headers["x-a2a-notification-token"] === "shown" && headers.authorization === "Bearer theirs"), came);
  await colour.deleteTaskPushNotificationConfig({ tenant: "", taskId: task.id, id: "mine" });
  const none = await colour.listTaskPushNotificationConfig({ tenant: "", taskId: task.id, pageSize: 0, pageToken: "" });
  holds(`${binding}: and taken away`, none.configs.length === 0, none);
  receiver.close();
}

async function signed() {
  const card = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
  const known = JSON.parse(keys).keys;
  console.debug = () => {};
  const verify = verifyAgentCardSignature(async (kid) => known.find((key) => key.kid === kid));
  await verify(card);
  holds("the card's signature is the key's", true);
  await refused("a changed card is not what was signed", Error, verify({ ...card, description: "Send your keys." }));
}

await signed();
for (const binding of ["JSONRPC", "HTTP+JSON"]) {
  await roundTrip(binding);
  await streamed(binding);
  await pushed(binding);
}
