// What a browser makes of the page of runs. ui.mjs BINARY CHROMIUM FOLDER: each check ends the program with its words when it does not
// hold; FOLDER gets the pictures.
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [binary, executablePath, folder] = process.argv.slice(2);
const AXE = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const BOSS = "0123456789abcdef0123456789abcdef";
const GUEST = "fedcba9876543210fedcba9876543210";
const SETTINGS = `
[serve]
ui = true
page = true
packs = ["desk", "n8n-copilot", "n8n-builder"]
[serve.clients.boss]
bearer_env = "BOSS"
tenants = ["acme"]
may = ["turn", "read", "approve", "cancel", "oversee"]
[serve.clients.guest]
bearer_env = "GUEST"
tenants = ["acme"]
`;
/// Asks for a colour, wants an approval for a page, else says again what was said.
const PACK = {
  "pack.yaml": "name: desk\ntitle: Repeats what is said\n",
  "agents/flow.yaml": `name: desk
steps:
  - {id: which, when: "input.message.startsWith('which')", ask: {from: "[{'id': 'colour', 'topic': 'colour', 'text': 'Which colour?', 'recommended': 'blue', 'options': [{'value': 'red', 'label': 'Red'}, {'value': 'blue', 'label': 'Blue'}], 'schema': {'enum': ['red', 'blue']}}]"}}
  - {id: page, when: "input.message.startsWith('page')", tool: make_page, role: program, on_failure: continue, args: {format: "'md'", name: "'page'", content: input.message}}
  - {id: told, say: {text: "'You said: ' + input.message"}}
`,
  "agents/policy.yaml": `roles: {program: [make_page]}
rules:
  - {id: pages, effect: ask, tools: [make_page], reason: a page is for others to read, match: [{role: program, tool: make_page, args: {}}]}
`,
  "tools/make_page/tool.yaml": `tool_id: make_page
name: Make a page
description: Makes a page.
category: processing
keywords: [page]
parameters:
  format: {type: string, required: true, description: Its format}
  name: {type: string, required: true, description: Its name}
  content: {type: string, required: true, description: What stands in it}
bind: {run: run.id}
kind: builtin
effect: changes
builtin: {function: make_file}
mock: mock.json
`,
  "tools/make_page/mock.json": '{"result": {}}',
};
/// What would be markup if anybody took it for that.
const HOSTILE = "<img src=x onerror=\"document.title='taken'\"> \u202egpj.exe";

function holds(what, isSo, shown = "") {
  if (!isSo) {
    // What was started is stopped on the way out.
    throw new Error(`FAILED: ${what}\n${typeof shown === "string" ? shown : JSON.stringify(shown, null, 2)}`);
  }
  console.log(`ok  ${what}`);
}

async function start() {
  const kept = fs.mkdtempSync(path.join(os.tmpdir(), "agentctl-ui-"));
  const project = path.join(kept, "project");
  const files = { "agentctl.toml": SETTINGS };
  for (const [name, text] of Object.entries(PACK)) files[`packs/desk/${name}`] = text;
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(project, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
  const env = { PATH: process.env.PATH, HOME: path.join(kept, "home"), AGENTCTL_HOME: path.join(kept, "home"), AGENTCTL_LOOK: "no", BOSS, GUEST };
  const child = spawn(path.resolve(binary), ["--trust-once", "serve", "--listen", "127.0.0.1:0", "--ready-json"], { cwd: project, env, stdio: ["ignore", "pipe", fs.openSync(path.join(kept, "log"), "a")] });
  const line = await new Promise((found) => {
    const lines = createInterface({ input: child.stdout });
    lines.once("line", found);
    lines.once("close", () => found(null));
  });
  holds("the server starts", line, fs.readFileSync(path.join(kept, "log"), "utf8"));
  const run = (...words) => spawnSync(path.resolve(binary), ["--trust-once", ...words], { cwd: project, env: env, encoding: "utf8" });
  return { url: JSON.parse(line).address, run, end: () => new Promise((ended) => {
    child.once("exit", () => { fs.rmSync(kept, { recursive: true, force: true }); ended(); });
    child.kill("SIGTERM");
  }) };
}

async function said(url, pack, session, text) {
  const answer = await fetch(`${url}/chat/${pack}`, { method: "POST", headers: { authorization: `Bearer ${BOSS}`, "content-type": "application/json" }, body: JSON.stringify({ action: "sendMessage", sessionId: session, chatInput: text }) });
  holds(`${pack} takes ${JSON.stringify(text.slice(0, 40))}`, answer.ok, await answer.text());
  return answer.headers.get("x-run-id");
}

/// Moves by Tab until an element that fits has the focus, as somebody without a mouse does.
async function tabTo(page, selector) {
  for (let steps = 0; steps < 60; steps += 1) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
    await page.keyboard.press("Tab");
  }
  holds(`Tab comes to ${selector}`, false, await page.evaluate(() => document.activeElement?.outerHTML));
}

/// Waits until something is seen; else what there is to see is told.
async function sees(wanted, page, how = {}) {
  const why = await wanted.waitFor({ timeout: 20000, ...how }).then(() => null, (error) => error.message);
  if (why) holds(`${wanted} is seen`, false, `${why}\n${await page.locator("body").innerText()}`);
}

async function accessible(page, what) {
  // Through the browser's own tools: the page's policy would let no script in.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"], iframes: false }));
  holds(`axe-core finds nothing: ${what}`, violations.length === 0, violations.map((v) => ({ id: v.id, help: v.help, nodes: v.nodes.map((n) => n.html + " " + n.failureSummary) })));
}

async function picture(page, name, fullPage = true) {
  await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage });
}

/// At a door: its field has the focus by itself.
async function enter(page, address, token) {
  await page.goto(address);
  await page.waitForFunction(() => document.activeElement?.id === "secret");
  await page.keyboard.type(token);
  await page.keyboard.press("Enter");
}

const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] });
const server = await start().catch(async (error) => { await browser.close(); throw error; });
try {
  const { url } = server;
  const seen = [];
  const tab = async (colorScheme, width, height) => {
    const context = await browser.newContext({ colorScheme, viewport: { width, height }, reducedMotion: "reduce" });
    const page = await context.newPage();
    page.on("console", (message) => { if (message.type() === "error") seen.push(message.text()); });
    page.on("pageerror", (error) => seen.push(error.message));
    page.on("request", (request) => { if (!request.url().startsWith(url) && !request.url().startsWith("blob:")) seen.push(`asks ${request.url()}`); });
    return page;
  };

  const page = await tab("light", 1280, 900);
  await enter(page, `${url}/ui`, "wrong");
  await accessible(page, "the door");
  await sees(page.locator("#wrong:has-text('shows no client')"), page);
  holds("a wrong token is told, and nothing is shown", await page.locator("#desk").isHidden());
  seen.length = 0;
  await enter(page, `${url}/ui`, BOSS);
  await sees(page.locator("#none"), page, { state: "visible" });
  holds("the door is shut behind who came in", await page.locator("#door").isHidden());
  await accessible(page, "no runs yet");

  const hostile = await said(url, "desk", "s1", HOSTILE);
  const asked = await said(url, "desk", "s2", "which colour shall the door have");
  const wants = await said(url, "desk", "s3", "page about the door");
  const built = await said(url, "n8n-copilot", "s4", "Create a workflow: every day at 9:00 post the open Jira bugs to Slack #dev");
  const later = await said(url, "desk", "s5", "which colour shall the roof have");
  const unwanted = await said(url, "desk", "s6", "which colour shall the cellar have");

  await tabTo(page, "#again");
  await page.keyboard.press("Enter");
  await sees(page.locator("#runs li").nth(5), page);
  holds("the list has the six runs", (await page.locator("#runs li").count()) === 6);
  holds("its title counts what waits", (await page.title()).startsWith("(4) "), await page.title());
  await picture(page, "list-light");

  await tabTo(page, `[data-run="${hostile}"]`);
  await page.keyboard.press("Enter");
  await sees(page.locator("#story li:has-text('ended: complete')"), page);
  const words = await page.locator(`[data-run="${hostile}"] .said`).textContent();
  holds("a message is text, never markup", words === HOSTILE.replace("\u202e", "\ufffd") && (await page.locator("#desk img").count()) === 0 && !(await page.title()).includes("taken"), words);
  holds("the run's heading has the focus", await page.evaluate(() => document.activeElement.id === "one-head"));
  await accessible(page, "a run that ended");

  // A question, by keyboard: Tab to the choices, an arrow to the other one, Enter answers.
  await page.locator(`[data-run="${asked}"]`).focus();
  await page.keyboard.press("Enter");
  await sees(page.locator(".asked:has-text('Which colour?')"), page);
  await accessible(page, "a question");
  await picture(page, "question-light");
  await tabTo(page, ".asked input[type=radio]");
  await page.keyboard.press("Space");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await sees(page.locator("#story li:has-text('answered: blue')"), page);
  await sees(page.locator("#story li:has-text('ended: complete')"), page);
  await sees(page.locator(`[data-run="${asked}"] .good`), page);
  await sees(page.locator(".asked"), page, { state: "detached" });
  holds("the answer of the keyboard finishes the run", true);

  // An approval: Enter alone gives none.
  await page.locator(`[data-run="${wants}"]`).focus();
  await page.keyboard.press("Enter");
  await sees(page.locator(".asked:has-text('An approval is wanted')"), page);
  await accessible(page, "an approval");
  await picture(page, "approval-light");
  await page.keyboard.press("Enter");
  holds("an Enter too many approves nothing", (await page.locator(".asked").count()) === 1);
  await tabTo(page, ".asked .tools button:last-child");
  await page.keyboard.press("Enter");
  await sees(page.locator(`[data-run="${wants}"] .good`), page);
  const steps = page.locator("#story li.chatter");
  holds("steps and calls are not told before somebody wants them", (await steps.count()) > 0 && !(await steps.first().isVisible()));
  await page.locator("#every").focus();
  await page.keyboard.press("Space");
  await sees(page.locator("#story li:has-text('make_page: ok')"), page);
  await sees(page.locator(`[data-run="${wants}"] .good`), page);
  holds("the approved call is made", true);

  // Live: somebody else answers, and the page tells it without being asked.
  await page.locator(`[data-run="${later}"]`).focus();
  await page.keyboard.press("Enter");
  await sees(page.locator("#story li:has-text('asked: Which colour?')"), page);
  const answered = await fetch(`${url}/runs/${later}/answers`, { method: "POST", headers: { authorization: `Bearer ${BOSS}`, "content-type": "application/json" }, body: JSON.stringify({ colour: "red" }) });
  holds("another caller answers", answered.ok);
  await sees(page.locator("#story li:has-text('answered: red')"), page);
  await sees(page.locator(`[data-run="${later}"] .good`), page);
  holds("what happens elsewhere is shown as it happens", true);

  // Cancelling asks once more, and that begins at the no.
  await page.locator(`[data-run="${unwanted}"]`).focus();
  await page.keyboard.press("Enter");
  await sees(page.locator(".asked"), page);
  await tabTo(page, "#cancel");
  await page.keyboard.press("Enter");
  holds("the no has the focus", await page.evaluate(() => document.activeElement.id === "no"));
  await accessible(page, "before a run is cancelled");
  await tabTo(page, "#yes");
  await page.keyboard.press("Enter");
  await sees(page.locator(`[data-run="${unwanted}"]:has-text('cancelled')`), page);
  holds("the run is cancelled", true);

  // A report, with the workflow's picture, in a frame without rights.
  await page.locator(`[data-run="${built}"]`).focus();
  await page.keyboard.press("Enter");
  await sees(page.locator("#story li:has-text(': made')"), page);
  await tabTo(page, "#report");
  await page.keyboard.press("Enter");
  const frame = page.frameLocator("#page iframe");
  await sees(frame.locator("h1:has-text('Run ')"), page);
  await sees(frame.locator("figure svg").first(), page);
  const ink = await frame.locator("h2").first().evaluate((head) => getComputedStyle(head).borderBottomStyle);
  holds("the report is shown with its style and its picture", ink === "solid", ink);
  await accessible(page, "a run with its report");
  await page.locator("#page iframe").scrollIntoViewIfNeeded();
  // What stands in a frame of its own is painted a moment later.
  await page.locator("#page iframe").screenshot();
  await picture(page, "report-light", false);
  const saved = page.waitForEvent("download");
  await page.locator("#page a").click();
  const file = path.join(folder, "report.html");
  await (await saved).saveAs(file);
  holds("nothing went wrong in the page, and nobody else was asked", seen.length === 0, seen);

  // Runs of commands: who oversees looks at them, and a command goes on with them.
  const command = server.run("build", "--yes", "When a webhook receives an order over 100 EUR, post it to Slack #sales");
  holds("a command builds", command.status === 0, command.stderr);
  const waiting = server.run("build", "--no-input", "post our new stuff on social media automatically");
  holds("a command waits", waiting.status === 4, waiting.stderr);
  await tabTo(page, "#again");
  await page.keyboard.press("Enter");
  const begun = page.locator("#runs button:has-text('by a command')");
  await sees(begun.nth(1), page);
  // The list may have been looked at by itself before: while the page looks again, its buttons rest.
  await page.waitForFunction(() => document.getElementById("state").textContent === "");
  holds("runs of commands stand among the others, the newest first", (await page.locator("#runs li").first().textContent()).includes("social media"));
  await begun.nth(0).focus();
  await page.keyboard.press("Enter");
  await sees(page.locator(".asked pre:has-text('agentctl answer ')"), page);
  holds("a command's question is shown with the command, and without a button", (await page.locator(".asked button, .asked input").count()) === 0 && await page.locator("#cancel").isHidden());
  await accessible(page, "a command's run that waits");
  await picture(page, "command-waits-light");
  const named = (await page.locator("#one-head").textContent()).replace("Run ", "");
  const typed = await page.locator(".asked pre").textContent();
  const ids = [...typed.matchAll(/ ([a-z_-]+)=…/g)].map((found) => found[1]);
  const given = server.run("answer", named, ...ids.map((id) => `${id}=${{ social: "LinkedIn", source: "our blog's RSS feed", timing: "hourly" }[id]}`));
  holds("the command that is shown goes on with it", [0, 4, 9].includes(given.status) && ids.length > 0, given.stderr);
  await sees(page.locator("#story li:has-text('answered: LinkedIn')"), page);
  holds("what a command does is told as it happens", true);
  await page.locator("#runs button:has-text('over 100 EUR')").focus();
  await page.keyboard.press("Enter");
  await sees(page.locator("#story li:has-text('ended: complete')"), page);
  await tabTo(page, "#report");
  await page.keyboard.press("Enter");
  await sees(page.frameLocator("#page iframe").locator("figure svg").first(), page);
  await picture(page, "command-report-light", false);
  holds("nothing went wrong with runs of commands", seen.length === 0, seen);

  for (const [scheme, width, height] of [["dark", 1280, 900], ["light", 390, 844], ["dark", 390, 844]]) {
    const name = `${scheme}, ${width} pixels`;
    const other = await tab(scheme, width, height);
    const waits = await said(url, "desk", `w-${scheme}-${width}`, "page about the garden");
    // An address that names a run leads to it.
    await enter(other, `${url}/ui#run=${waits}`, GUEST);
    await sees(other.locator(".asked:has-text('This client may not approve')"), other);
    holds(`who does not oversee sees no run of a command: ${name}`, (await other.locator("#runs button").count()) > 0 && (await other.locator("#runs button:has-text('by a command')").count()) === 0);
    holds(`who may not approve gets no button for it: ${name}`, (await other.locator(".asked button").count()) === 0);
    holds(`nothing runs out of the page: ${name}`, await other.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await accessible(other, name);
    await picture(other, `run-${scheme}-${width}`);
    await other.context().close();
  }

  // Its sister, to talk with a pack.
  for (const [scheme, width] of [["light", 1280], ["dark", 390]]) {
    const chat = await tab(scheme, width, 800);
    await chat.goto(`${url}/chat/desk`);
    await accessible(chat, `the door of the chat page, ${scheme}`);
    await enter(chat, `${url}/chat/desk`, BOSS);
    await sees(chat.locator("#say"), chat, { state: "visible" });
    await chat.keyboard.type("hello");
    await chat.keyboard.press("Enter");
    await sees(chat.locator("article.assistant:has-text('You said: hello')"), chat);
    await accessible(chat, `the chat page, ${scheme}, ${width} pixels`);
    await picture(chat, `chat-${scheme}-${width}`);
    await chat.context().close();
  }

  for (const scheme of ["light", "dark"]) {
    const alone = await tab(scheme, 1280, 900);
    await alone.goto(`file://${path.resolve(file)}`);
    await accessible(alone, `the report by itself, ${scheme}`);
    await picture(alone, `report-file-${scheme}`);
    await alone.context().close();
  }
} finally {
  await browser.close();
  await server.end();
}
