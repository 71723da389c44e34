// The page of runs of `agentctl serve`. The secret stays in this page's memory and goes out as a header to this server alone; what comes
// from elsewhere is shown as text, never as markup, and a run's report in a frame without rights.
"use strict";

const at = (id) => document.getElementById(id);
const chats = document.body.dataset.chats === "yes";
/// So often the list is looked at again while the page is seen.
const EVERY = 15000;
/// Of a long story the end is kept.
const MOST_LINES = 500;
let authorization = "";
let may = [];
/// What is listed, by who began it: the client's own conversations, and the project's commands where the client may see these. `next` is
/// where older ones are asked for.
const lists = { own: { path: "/runs", runs: [], next: null }, commands: { path: "/runs?by=commands", runs: [], next: null } };
let open = null;
let reading = null;
let reportUrl = null;

/// What steers, hides or turns text round, as `agentctl_base::untrusted` has it, and rows of joiners that carry hidden text.
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|[\u200c\u200d\ufe00-\ufe0f]{3,}/gu;
const plain = (text) => String(text).replace(/\r(?=\n)/g, "").replace(UNSAFE, "\ufffd");

/// An element with this text, in which all that is unsafe is a visible mark.
function element(name, text, more = {}) {
  const made = document.createElement(name);
  if (text !== undefined && text !== null) made.textContent = plain(text);
  for (const [key, value] of Object.entries(more)) made.setAttribute(key, value);
  return made;
}

function wrong(text) {
  at("wrong").textContent = plain(text);
}

async function ask(method, path, { body, headers = {}, signal } = {}) {
  const all = { accept: "application/json", authorization, ...headers };
  if (body) all["content-type"] = "application/json";
  const answer = await fetch(path, {
    method,
    headers: all,
    signal,
    body: body && JSON.stringify(body),
    credentials: "omit",
    redirect: "error",
    referrerPolicy: "no-referrer",
  });
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({ detail: `the server answered ${answer.status} without JSON` }));
  throw new Error([told.detail, told.hint].filter(Boolean).join("; "));
}

/// Does it with the buttons still, and says what is done and what went wrong.
async function busy(what, work) {
  const buttons = [...document.querySelectorAll("button:not(:disabled)")];
  const focused = document.activeElement;
  buttons.forEach((button) => { button.disabled = true; });
  at("state").textContent = what;
  wrong("");
  try {
    return await work();
  } catch (error) {
    wrong(error.message);
    return null;
  } finally {
    at("state").textContent = "";
    buttons.forEach((button) => { button.disabled = false; });
    if (document.activeElement === document.body && focused?.isConnected) focused.focus();
  }
}

const moment = (text) => new Date(text).toLocaleString();

function stands(run) {
  if (run.status === "waiting") return run.expects === "approval" ? ["waits for an approval", "warning"] : ["waits for an answer", "warning"];
  if (run.status === "running") return [run.by === "command" ? "running, or killed" : "running", "info"];
  if (run.taken_back) return ["taken back", "warning"];
  return [run.outcome ?? "ended", run.outcome === "complete" ? "good" : run.outcome === "draft" ? "warning" : "error"];
}

function drawList() {
  const which = at("which").value;
  const runs = Object.values(lists).flatMap((list) => list.runs).sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
  const shown = runs.filter((run) => !which || (run.status === "stopped" ? "ended" : run.status) === which);
  const focused = document.activeElement?.dataset?.run;
  at("runs").replaceChildren(...shown.map((run) => {
    const [words, look] = stands(run);
    const button = element("button", null, { type: "button", "data-run": run.run_id, "aria-current": String(run.run_id === open) });
    button.append(element("span", run.said || run.run_id, { class: "said" }), element("span", words, { class: look }), element("span", ` · ${run.pack}${run.by === "command" ? ", by a command" : ""} · ${moment(run.at)}`, { class: "soft" }));
    button.addEventListener("click", () => { location.hash = `run=${run.run_id}`; });
    const item = element("li");
    item.append(button);
    return item;
  }));
  if (focused) at("runs").querySelector(`[data-run="${CSS.escape(focused)}"]`)?.focus();
  at("none").hidden = shown.length > 0;
  at("older").hidden = !lists.own.next && !lists.commands.next;
  const waiting = runs.filter((run) => run.status === "waiting").length;
  document.title = `${waiting ? `(${waiting}) ` : ""}Runs · agentctl`;
}

/// The newest runs of a list, and behind them those that were loaded before. Where these do not join on, they are asked for again.
async function newest(list) {
  const told = await (await ask("GET", list.path)).json();
  const known = new Set(told.runs.map((run) => run.run_id));
  const last = told.runs.at(-1);
  const place = list.runs.findIndex((run) => run.run_id === last?.run_id && run.at === last.at);
  const older = place < 0 ? [] : list.runs.slice(place + 1).filter((run) => !known.has(run.run_id));
  if (!older.length) list.next = told.next;
  list.runs = [...told.runs, ...older];
  return told;
}

async function look() {
  const told = await newest(lists.own);
  may = told.may;
  at("who").textContent = `${told.client} may ${told.may.join(", ")}`;
  drawList();
  // The client's own are shown whatever becomes of the others.
  if (may.includes("oversee")) await newest(lists.commands);
  drawList();
}

async function older() {
  for (const list of Object.values(lists).filter((list) => list.next)) {
    const told = await (await ask("GET", `${list.path}${list.path.includes("?") ? "&" : "?"}after=${encodeURIComponent(list.next)}`)).json();
    const known = new Set(list.runs.map((run) => run.run_id));
    list.runs.push(...told.runs.filter((run) => !known.has(run.run_id)));
    list.next = told.next;
  }
  drawList();
}

/// One run: how it stands, what it asks, and what happens in it.
async function show(run) {
  reading?.abort();
  reading = null;
  open = run;
  clearReport();
  at("sure").hidden = true;
  at("lines").replaceChildren();
  drawList();
  if (!run) {
    at("one").hidden = true;
    return;
  }
  const shown = await busy("Reading the run …", () => standing(run));
  at("one").hidden = !shown;
  if (!shown) return;
  at("one-head").focus();
  follow(run);
}

async function standing(run) {
  const told = await (await ask("GET", `/runs/${encodeURIComponent(run)}`)).json();
  if (open !== run) return null;
  at("one-head").textContent = `Run ${told.run_id}`;
  const [words, look] = stands(told);
  const isCommand = told.by === "command";
  const facts = [["stands", words, look], ["pack", told.pack], isCommand ? ["begun by", "a command of the project"] : ["conversation", told.session_id]];
  if (isCommand && told.said) facts.push(["request", told.said]);
  if (told.message) facts.push(["why", told.message]);
  if (told.unread) facts.push(["not read here", told.unread, "warning"]);
  else facts.push(["used", `model calls: ${told.usage.model_calls}, tool calls: ${told.usage.tool_calls}`]);
  at("facts").replaceChildren(...facts.flatMap(([name, value, look]) => {
    const said = element("dd");
    said.append(element("span", value, look ? { class: look } : {}));
    return [element("dt", name), said];
  }));
  if (chats && !isCommand) {
    const link = element("dd");
    link.append(element("a", `talk with ${told.pack}`, { href: `/chat/${encodeURIComponent(told.pack)}` }));
    at("facts").append(element("dt", "chat"), link);
  }
  at("cancel").hidden = isCommand || told.status === "ended" || !may.includes("cancel");
  at("asked").replaceChildren(...(isCommand ? elsewhere(told) : told.question ? [question(told)] : []));
  return told;
}

function question(told) {
  const { question: asked, expects } = told;
  const form = element("form", null, { class: "asked", "aria-labelledby": "asked-head" });
  form.append(element("h3", expects === "approval" ? "An approval is wanted" : "A question", { id: "asked-head" }), element("p", asked.text));
  if (asked.asked_by) form.append(element("p", `asked by ${asked.asked_by}`, { class: "soft" }));
  if (expects === "approval") approval(form, told, asked);
  else answer(form, told, asked);
  return form;
}

/// What a command's run waits for, and the command that goes on with it: from here nobody does.
function elsewhere(told) {
  if (!told.next) return [];
  const asked = told.questions ?? [];
  const part = element("section", null, { class: "asked", "aria-labelledby": "asked-head" });
  part.append(element("h3", asked.length ? "It waits for an answer" : "It can be gone on with", { id: "asked-head" }));
  for (const one of asked) {
    part.append(element("p", `${one.id}: ${one.text}${one.required ? "" : " (optional)"}`));
    if (one.proposal) part.append(...proposed(one.proposal));
    const options = element("ul");
    for (const option of one.options ?? []) {
      const wanted = JSON.stringify(option.value) === JSON.stringify(one.recommended);
      options.append(element("li", `${option.label}${wanted ? " (recommended)" : ""}${option.detail ? `: ${option.detail}` : ""}`));
    }
    if (options.children.length) part.append(options);
  }
  const words = "A command began this run, so a command goes on with it, in the project's folder:";
  part.append(element("p", words, { class: "soft" }), element("pre", told.next, { class: "scroll", tabindex: "0", role: "group", "aria-label": "The command" }));
  return [part];
}

function denied(form, right) {
  form.append(element("p", `This client may not ${right}: [serve.clients] may = ["${right}"].`, { class: "soft" }));
}

/// The call that is asked about.
function proposed(call) {
  const facts = element("dl");
  for (const [name, value] of [["tool", call.tool], ["by", call.role], ["rule", call.rule], ["until", call.expires_at && moment(call.expires_at)], ["hidden", call.hidden]]) {
    if (value) facts.append(element("dt", name), element("dd", value));
  }
  const scrolls = { class: "scroll", tabindex: "0", role: "group" };
  const what = call.diff
    ? element("pre", call.diff, { ...scrolls, "aria-label": "What would be changed" })
    : element("pre", JSON.stringify(call.arguments ?? {}, null, 2), { ...scrolls, "aria-label": "What would be done" });
  return [facts, what, ...ahead(call.glance)];
}

function approval(form, told, asked) {
  form.append(...proposed(asked.proposal ?? {}));
  if (!may.includes("approve")) return denied(form, "approve");
  const buttons = element("div", null, { class: "tools" });
  // No button is the form's own: an Enter too many approves nothing.
  for (const [words, approve] of [["Refuse", false], ["Approve this call", true]]) {
    const button = element("button", words, { type: "button" });
    button.addEventListener("click", () => given(told.run_id, `/runs/${encodeURIComponent(told.run_id)}/approvals/${encodeURIComponent(asked.id)}`, { approve }));
    buttons.append(button);
  }
  form.append(buttons);
}

/// What there is to know of a document before it is written.
function ahead(glance) {
  const lines = element("ul");
  const about = (node, text) => (node ? `[${node}] ${text}` : text);
  for (const item of glance?.todo ?? []) lines.append(element("li", `left to do: ${item.text ? about(item.node, item.text) : item}`));
  for (const found of glance?.findings ?? []) lines.append(element("li", `${found.severity}: ${found.code} ${about(found.node, found.message)}`));
  for (const phrase of glance?.not_covered ?? []) lines.append(element("li", `not covered: ${phrase}`));
  for (const given of glance?.cases ?? []) lines.append(element("li", `case ${given.name ?? ""}: ${JSON.stringify(given.input ?? {})} → ${JSON.stringify(given.expect ?? {})}`));
  return lines.children.length ? [lines] : [];
}

function answer(form, told, asked) {
  const several = [asked.schema?.type].flat().includes("array");
  const options = asked.options ?? [];
  const choices = element("fieldset");
  const legend = element("legend", several ? "Any of these" : "One of these");
  if (options.length) choices.append(legend);
  options.forEach((option, place) => {
    const label = element("label");
    const input = element("input", null, { type: several ? "checkbox" : "radio", name: "choice", value: String(place) });
    const wanted = JSON.stringify(option.value) === JSON.stringify(asked.recommended);
    label.append(input, ` ${option.label}${wanted ? " (recommended)" : ""}`);
    if (option.detail) label.append(element("span", `: ${option.detail}`, { class: "soft" }));
    choices.append(label);
  });
  // Where only what is listed fits, there is nothing to write.
  const closed = options.length > 0 && (asked.schema?.enum || asked.schema?.items?.enum);
  let text = null;
  if (!closed) {
    const label = element("label", options.length ? "Or in your own words" : "Your answer");
    text = asked.asks_secret ? element("input", null, { type: "password", autocomplete: "off", class: "text" }) : element("textarea", null, { rows: "2", maxlength: "100000" });
    label.append(text);
    choices.append(label);
  }
  form.append(choices);
  if (!may.includes("turn")) return denied(form, "turn");
  form.append(element("button", "Answer"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const picked = [...form.querySelectorAll("input[name=choice]:checked")].map((input) => options[Number(input.value)].value);
    const written = text?.value.trim() ?? "";
    const value = several ? [...picked, ...(written ? [written] : [])] : written ? typed(written, asked.schema) : picked[0];
    if (value === undefined || (several && !value.length && asked.required)) return wrong("Choose or write an answer first.");
    given(told.run_id, `/runs/${encodeURIComponent(told.run_id)}/answers`, { [asked.id]: value });
  });
}

/// What was written, as the schema wants it.
function typed(text, schema) {
  if (!["number", "integer", "boolean", "object"].includes(schema?.type)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function given(run, path, body) {
  at("lines").append(element("li", "Your word is on its way."));
  await busy("The run goes on …", async () => {
    await ask("POST", path, { body });
  });
  await busy("Reading the run …", async () => {
    if (open === run) await standing(run);
    await look();
  });
}

/// What became of a workflow.
function changed(change) {
  const what = !change.after ? "deleted" : !change.before ? "made" : "written";
  return `${change.resource?.id ?? "it"}: ${what}`;
}

/// What of a record is told, in words, with its look and whether only who wants every step sees it; null: nothing.
function line(kind, told) {
  switch (kind) {
    case "run.started": return ["begun", null];
    case "stage.changed": return [`phase: ${told.to}`, null];
    case "step.started": return [`step ${told.step}`, "soft", true];
    case "step.failed": return [`step ${told.step} failed: ${told.error?.message ?? told.error ?? ""}`, "error"];
    case "tool.intent": return [`${told.role} calls ${told.call?.name}`, null, true];
    case "tool.finished":
      if (told.change) return [changed(told.change), "good"];
      return [`${told.result?.name}: ${told.result?.status}`, { ok: "good", refused: "error", failed: "error" }[told.result?.status] ?? "warning", told.result?.status === "ok"];
    case "question.asked": return [`asked: ${told.question?.text}`, "warning"];
    case "answer.given": return [`answered: ${typeof told.value === "string" ? told.value : JSON.stringify(told.value)}`, null];
    case "said": return [told.text, "said"];
    case "run.ended": return [`ended: ${told.outcome}${told.message ? `, ${told.message}` : ""}`, told.outcome === "complete" ? "good" : "warning"];
    default: return null;
  }
}

/// Reads the run's events as they come, until it ends or another run is looked at.
async function follow(run) {
  const control = new AbortController();
  reading = control;
  let last = null;
  let ended = false;
  while (!ended && reading === control) {
    try {
      const headers = { accept: "text/event-stream" };
      if (last !== null) headers["last-event-id"] = last;
      const answer = await ask("GET", `/runs/${encodeURIComponent(run)}/events?view=all`, { headers, signal: control.signal });
      for await (const event of events(answer.body)) {
        if (reading !== control) return;
        if (event.id) last = event.id;
        if (!event.data) continue;
        tell(event.kind, JSON.parse(event.data));
        if (event.kind === "run.ended") ended = true;
        if (["run.ended", "question.asked", "answer.given", "activation.ended"].includes(event.kind)) fresh(run);
      }
    } catch (error) {
      if (control.signal.aborted) return;
      wrong(error.message);
    }
    // The server lets slow readers go, and ends: it is asked again, not at once.
    if (!ended) await new Promise((after) => { setTimeout(after, 2000); });
  }
  if (reading === control) reading = null;
}

let waits = null;
/// How the run stands and the list, once for what comes together.
function fresh(run) {
  clearTimeout(waits);
  waits = setTimeout(async () => {
    try {
      // A form that somebody fills in stays.
      const filled = at("asked").contains(document.activeElement);
      if (open === run && !filled) await standing(run);
      await look();
    } catch (error) {
      wrong(error.message);
    }
  }, 200);
}

function tell(kind, told) {
  const words = line(kind, told);
  if (!words) return;
  const [text, look, isChatter] = words;
  const item = element("li", null, isChatter ? { class: "chatter" } : {});
  item.append(element("span", text, look ? { class: look } : {}));
  const story = at("story");
  const follows = story.scrollTop + story.clientHeight >= story.scrollHeight - 8;
  at("lines").append(item);
  if (at("lines").children.length > MOST_LINES) at("lines").firstChild.remove();
  if (follows) story.scrollTop = story.scrollHeight;
}

/// Events of a stream as they come: {id, kind, data}.
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let kept = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    kept += value;
    let end = kept.indexOf("\n\n");
    for (; end >= 0; end = kept.indexOf("\n\n")) {
      const event = { id: null, kind: "message", data: "" };
      for (const field of kept.slice(0, end).split("\n")) {
        if (field.startsWith("id: ")) event.id = field.slice(4);
        if (field.startsWith("event: ")) event.kind = field.slice(7);
        if (field.startsWith("data: ")) event.data += `${event.data ? "\n" : ""}${field.slice(6)}`;
      }
      kept = kept.slice(end + 2);
      yield event;
    }
  }
}

function clearReport() {
  at("page").replaceChildren();
  if (reportUrl) URL.revokeObjectURL(reportUrl);
  reportUrl = null;
}

async function report() {
  const run = open;
  const page = await busy("Making the report …", async () => (await ask("GET", `/runs/${encodeURIComponent(run)}/report`, { headers: { accept: "text/html" } })).blob());
  if (!page || open !== run) return;
  clearReport();
  reportUrl = URL.createObjectURL(page);
  const file = element("a", "Save it as a file", { href: reportUrl, download: `run-${run}.html` });
  const line = element("p");
  line.append(file);
  at("page").append(line, element("iframe", null, { sandbox: "", title: `Report of run ${run}`, src: reportUrl }));
  file.focus();
}

function place() {
  const run = new URLSearchParams(location.hash.slice(1)).get("run");
  if (authorization) show(run);
}

at("door").addEventListener("submit", async (event) => {
  event.preventDefault();
  const secret = at("secret").value;
  const bytes = new TextEncoder().encode(secret);
  authorization = secret.includes(":") ? `Basic ${btoa(String.fromCharCode(...bytes))}` : `Bearer ${secret}`;
  if ((await busy("Opening …", async () => { await look(); return true; })) !== true) {
    authorization = "";
    return;
  }
  at("secret").value = "";
  at("door").hidden = true;
  at("desk").hidden = false;
  at("leave").hidden = false;
  at("all-head").tabIndex = -1;
  at("all-head").focus();
  place();
});

at("leave").addEventListener("click", () => { location.replace(location.pathname); location.reload(); });
at("again").addEventListener("click", () => busy("Looking …", look));
at("older").addEventListener("click", () => busy("Looking …", older));
at("which").addEventListener("change", drawList);
at("every").addEventListener("change", () => at("story").classList.toggle("every", at("every").checked));
at("report").addEventListener("click", report);
at("cancel").addEventListener("click", () => { at("sure").hidden = false; at("no").focus(); });
at("no").addEventListener("click", () => { at("sure").hidden = true; at("cancel").focus(); });
at("yes").addEventListener("click", async () => {
  at("sure").hidden = true;
  const run = open;
  await busy("Cancelling …", () => ask("POST", `/runs/${encodeURIComponent(run)}/cancel`));
  fresh(run);
});
addEventListener("hashchange", place);
setInterval(() => {
  if (authorization && !document.hidden) look().catch((error) => wrong(error.message));
}, EVERY);
