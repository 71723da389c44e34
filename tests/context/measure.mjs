// How many tokens go into the models for the same build, phase by phase:
//   (a) one agent with all tools of n8n-mcp 2.87.0, every result inline, in one conversation;
//   (b) agentctl: five roles with their own tools and contexts.
// Both make the turns of a recorded conversation (tests/conversations/NAME): the same searches, the same workflow, the same checks.
// (a) calls the real n8n-mcp over stdio, whose n8n is a stand-in of a few lines; (b) is the binary, whose model is a stand-in that
// answers from the recording. Counted are the bytes of `tools` and `messages` of every request as it goes over the OpenAI chat wire,
// four bytes a token, on both sides.
//
//   node tests/context/measure.mjs [--agentctl target/debug/agentctl] [--n8n-mcp DIR] [--limit PERCENT] [NAME...]
//   node tests/context/measure.mjs --only agentctl [NAME...]       (b) alone, without n8n-mcp: model calls and tokens, build by build
//   node tests/context/measure.mjs --only one-agent [NAME...]      the same with agentctl's own one agent (multi_agent: false)
//
// Without --n8n-mcp the package is installed from npm into tests/context/.cache. Exit code 1: in total (b) needs more than PERCENT (15) of (a), where (a)
// asks for each node in n8n-mcp's short form (`detail: standard`, its default); the long form stands beside it.
import {execFileSync, spawn} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, copyFileSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {createInterface} from 'node:readline';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');
const options = {agentctl: join(root, 'target/debug/agentctl'), 'n8n-mcp': join(here, '.cache/n8n-mcp-2.87.0'), limit: '15'};
const names = [];
for (let args = process.argv.slice(2); args.length > 0;) {
  const arg = args.shift();
  if (arg.startsWith('--')) options[arg.slice(2)] = args.shift();
  else names.push(arg);
}
const alone = options.only === 'one-agent';
const recording = alone ? 'one-agent.json' : 'recording.json';
const recorded = (name) => existsSync(join(root, 'tests/conversations', name, recording));
if (names.length === 0) names.push(...readdirSync(join(root, 'tests/conversations')).sort().filter(recorded));

const PHASES = ['research', 'decision', 'build', 'validation'];
const PHASE_OF = {clarify: 'research', refine: 'research', research: 'research', decide: 'decision', blueprint: 'decision', build: 'build', validate: 'validation', research_fix: 'validation', fix: 'validation', test: 'validation', work: 'build', mend: 'validation', searched: 'research', listed: 'research', recipe: 'research', current: 'decision', final: 'validation', look: 'validation'};
const tokens = (messages, tools) => Math.ceil((Buffer.byteLength(JSON.stringify(messages)) + Buffer.byteLength(JSON.stringify(tools))) / 4);

/// The objects of a recording, one after another.
function entries(text) {
  return text.split(/^(?=\{$)/m).map((part) => JSON.parse(part));
}

const step = (path) => path.split('/').pop().replace(/\[\d+\]$/, '');
const textOf = (answer) => (answer.text == null ? '' : typeof answer.text === 'string' ? answer.text : JSON.stringify(answer.text));
const argumentsOf = (call) => (typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments));

async function listen(handler) {
  const server = createServer(handler);
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {server, url: `http://127.0.0.1:${server.address().port}`};
}

async function body(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return parts.length === 0 ? null : JSON.parse(Buffer.concat(parts).toString());
}

// ── (a) ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

/// As much of n8n's API as a build needs.
async function standInN8n() {
  const workflows = new Map();
  return listen(async (request, response) => {
    const answer = (value, status = 200) => response.writeHead(status, {'content-type': 'application/json'}).end(JSON.stringify(value));
    const id = request.url.match(/\/workflows\/([^/?]+)/)?.[1];
    const sent = await body(request);
    if (request.method === 'POST' && request.url.endsWith('/workflows')) {
      const made = {id: `wf${workflows.size + 1}`, active: false, ...sent, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z', versionId: 'v1', tags: []};
      workflows.set(made.id, made);
      return answer(made);
    }
    if (id && request.method === 'PUT') workflows.set(id, {...workflows.get(id), ...sent});
    if (id) return workflows.has(id) ? answer(workflows.get(id)) : answer({message: 'not found'}, 404);
    if (request.url.includes('/workflows')) return answer({data: [...workflows.values()], nextCursor: null});
    return answer({status: 'ok'});
  });
}

async function mcpServer(dir, n8n) {
  const env = {...process.env, MCP_MODE: 'stdio', LOG_LEVEL: 'error', DISABLE_CONSOLE_OUTPUT: 'true', N8N_MCP_TELEMETRY_DISABLED: 'true', WEBHOOK_SECURITY_MODE: 'permissive', N8N_API_URL: n8n, N8N_API_KEY: 'stand-in'};
  const child = spawn(process.execPath, [join(dir, 'node_modules/n8n-mcp/dist/mcp/index.js')], {env, stdio: ['pipe', 'pipe', 'ignore']});
  const waiting = new Map();
  let next = 1;
  createInterface({input: child.stdout}).on('line', (line) => {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  const ask = (method, params) => new Promise((done, failed) => {
    const id = next++;
    waiting.set(id, (message) => (message.error ? failed(new Error(`${method}: ${message.error.message}`)) : done(message.result)));
    child.stdin.write(JSON.stringify({jsonrpc: '2.0', id, method, params}) + '\n');
  });
  await ask('initialize', {protocolVersion: '2025-03-26', capabilities: {}, clientInfo: {name: 'measure', version: '1'}});
  child.stdin.write(JSON.stringify({jsonrpc: '2.0', method: 'notifications/initialized'}) + '\n');
  const {tools} = await ask('tools/list', {});
  return {
    tools,
    call: async (name, args) => {
      const result = await ask('tools/call', {name, arguments: args});
      return result.content.map((part) => part.text ?? '').join('\n');
    },
    stop: () => child.kill(),
  };
}

const short = (type) => type.replace(/^@n8n\/n8n-nodes-langchain\./, 'nodes-langchain.').replace(/^n8n-nodes-base\./, 'nodes-base.');

function partial(op) {
  switch (op.op) {
    case 'set_parameter':
      return {type: 'updateNode', nodeName: op.node, updates: {[`parameters${op.pointer.replaceAll('/', '.')}`]: op.value}};
    case 'add_node':
      return {type: 'addNode', node: {position: [0, 0], ...op.node}};
    case 'connect':
      return {type: 'addConnection', source: op.from, target: op.to, sourceIndex: op.output ?? 0};
    case 'disconnect':
      return {type: 'removeConnection', source: op.from, target: op.to};
    default:
      throw new Error(`no counterpart of the operation ${op.op}`);
  }
}

/// The same call of n8n-mcp; null: it has none.
function counterpart({tool, arguments: args}, world, detail) {
  const id = world.id;
  switch (tool) {
    case 'list_workflows':
      return ['n8n_list_workflows', {}];
    case 'search_nodes':
      return ['search_nodes', {query: args.query}];
    case 'get_node':
      return ['get_node', {nodeType: short(args.node_type), detail}];
    case 'search_templates':
      return ['search_templates', {query: args.query}];
    case 'create_workflow': {
      const nodes = args.nodes.map((node, i) => ({id: String(i), position: [220 * i, 0], ...node}));
      return ['n8n_create_workflow', {name: args.name, nodes, connections: args.connections, settings: args.settings}];
    }
    case 'update_workflow':
      return ['n8n_update_partial_workflow', {id, operations: args.ops.map(partial)}];
    case 'validate_workflow':
      return ['n8n_validate_workflow', {id}];
    case 'get_workflow':
      return ['n8n_get_workflow', {id}];
    default:
      return null;
  }
}

/// What one agent would be told: the prompts of the roles that it has to play, without the parts that speak of contracts.
function singlePrompt() {
  return ['architect', 'researcher', 'builder', 'qa'].map((role) => {
    const text = readFileSync(join(root, `agents/${role}.md`), 'utf8');
    return text.slice(text.indexOf('\n---\n', 4) + 5).replace(/# What you return[\s\S]*?(?=\n# )/, '').replace(/# Examples[\s\S]*/, '');
  }).join('\n');
}

/// The turns of one agent: those of the recorded models, and, since it has no program that looks things up for it, one for what the
/// program looked up between two of them.
function turns(recorded) {
  const all = [];
  const asked = new Set(recorded.filter((e) => e.kind === 'model').flatMap((e) => (e.answer.calls ?? []).map((call) => call.id)));
  let looked = null;
  for (const entry of recorded) {
    if (entry.kind === 'tool' && !asked.has(entry.call_id) && PHASE_OF[step(entry.step)]) {
      const lines = entry.tool === 'search_nodes' ? entry.arguments.query.split('\n') : [null];
      looked ??= {step: entry.step, answer: {calls: []}};
      looked.answer.calls.push(...lines.map((query, i) => ({id: `${entry.call_id}_${i}`, tool: entry.tool, arguments: query === null ? entry.arguments : {query}})));
    } else if (entry.kind === 'model') {
      if (looked) all.push(looked);
      looked = null;
      all.push(entry);
    }
  }
  return all;
}

async function single(name, dir, detail) {
  const folder = join(root, 'tests/conversations', name);
  const n8n = await standInN8n();
  const mcp = await mcpServer(dir, n8n.url);
  const tools = mcp.tools.map((tool) => ({type: 'function', function: {name: tool.name, description: tool.description, parameters: tool.inputSchema}}));
  const used = Object.fromEntries(PHASES.map((phase) => [phase, 0]));
  let calls = 0;
  try {
    const world = {id: 'wf1'};
    const before = readdirSync(folder).find((file) => file.endsWith('.json') && !['recording.json', 'one-agent.json', 'after.json'].includes(file));
    if (before) {
      const workflow = JSON.parse(readFileSync(join(folder, before), 'utf8'));
      await fetch(`${n8n.url}/api/v1/workflows`, {method: 'POST', body: JSON.stringify(workflow)});
    }
    const recorded = entries(readFileSync(join(folder, 'recording.json'), 'utf8'));
    const messages = [{role: 'system', content: singlePrompt()}, {role: 'user', content: readFileSync(join(folder, 'request.txt'), 'utf8')}];
    let last = null;
    for (const entry of turns(recorded)) {
      if (last && last !== entry.step) messages.push({role: 'user', content: `Go on: ${step(entry.step)}.`});
      last = entry.step;
      used[PHASE_OF[step(entry.step)]] += tokens(messages, tools);
      calls += 1;
      const made = (entry.answer.calls ?? []).map((call) => [call.id, counterpart(call, world, detail)]).filter(([, call]) => call);
      const content = textOf(entry.answer);
      if (made.length === 0) {
        messages.push({role: 'assistant', content});
        continue;
      }
      messages.push({role: 'assistant', content, tool_calls: made.map(([id, [tool, args]]) => ({id, type: 'function', function: {name: tool, arguments: JSON.stringify(args)}}))});
      for (const [id, [tool, args]] of made) messages.push({role: 'tool', tool_call_id: id, content: await mcp.call(tool, args)});
    }
  } finally {
    mcp.stop();
    n8n.server.close();
  }
  return {used, calls, tools: mcp.tools.length};
}

// ── (b) ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────

async function ours(name) {
  const folder = join(root, 'tests/conversations', name);
  const answers = entries(readFileSync(join(folder, recording), 'utf8')).filter((e) => e.kind === 'model').map((e) => e.answer);
  const used = Object.fromEntries(PHASES.map((phase) => [phase, 0]));
  let calls = 0;
  const model = await listen(async (request, response) => {
    const {messages, tools, response_format} = await body(request);
    const task = messages.find((m) => m.role === 'user').content.match(/^# Task: (\w+)/)[1];
    used[PHASE_OF[task]] += tokens(messages, tools ?? []) + (response_format ? tokens([response_format], []) : 0);
    const answer = answers[calls++];
    const made = (answer.calls ?? []).map((call, index) => ({index, id: call.id, type: 'function', function: {name: call.tool, arguments: argumentsOf(call)}}));
    const events = [
      {choices: [{index: 0, delta: {content: textOf(answer), ...(made.length > 0 && {tool_calls: made})}, finish_reason: null}]},
      {choices: [{index: 0, delta: {}, finish_reason: made.length > 0 ? 'tool_calls' : 'stop'}]},
      {choices: [], usage: {prompt_tokens: 1, completion_tokens: 1, total_tokens: 2}},
    ];
    response.writeHead(200, {'content-type': 'text/event-stream'});
    for (const event of events) response.write(`data: ${JSON.stringify({id: 'c', object: 'chat.completion.chunk', ...event})}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  const project = mkdtempSync(join(tmpdir(), 'agentctl-context-'));
  try {
    const args = ['--trust-once', 'build', '--yes', '--no-input', '--model', 'openai::stand-in'];
    if (alone) {
      mkdirSync(join(project, 'agents'));
      writeFileSync(join(project, 'agents/settings.yaml'), 'multi_agent: false\n');
    }
    const before = readdirSync(folder).find((file) => file.endsWith('.json') && !['recording.json', 'one-agent.json', 'after.json'].includes(file));
    if (before) {
      mkdirSync(join(project, 'workflows'));
      copyFileSync(join(folder, before), join(project, 'workflows', before));
      args.push('--workflow', before.replace(/\.json$/, ''));
    }
    args.push(readFileSync(join(folder, 'request.txt'), 'utf8'));
    const env = {...process.env, OPENAI_API_KEY: 'stand-in', OPENAI_BASE_URL: `${model.url}/v1/`, AGENTCTL_CONFIG: join(project, 'none.toml')};
    await new Promise((done, failed) => {
      const child = spawn(resolve(options.agentctl), args, {cwd: project, env, stdio: ['ignore', 'ignore', 'pipe']});
      let said = '';
      child.stderr.on('data', (part) => (said += part));
      child.on('exit', (code) => (code === 0 ? done() : failed(new Error(`agentctl ended with ${code}: ${said.slice(-1500)}`))));
    });
  } finally {
    model.server.close();
    rmSync(project, {recursive: true});
  }
  return {used, calls};
}

// ── both ───────────────────────────────────────────────────────────────────────────────────────────────────────────────────

if (options.only === 'agentctl' || alone) {
  console.log(['build', 'model calls', ...PHASES, 'all'].join(' | '));
  for (const name of names) {
    const {used, calls} = await ours(name);
    const phases = PHASES.map((phase) => used[phase]);
    console.log([name, calls, ...phases, phases.reduce((x, y) => x + y, 0)].join(' | '));
  }
  process.exit();
}

const dir = resolve(options['n8n-mcp']);
if (!existsSync(join(dir, 'node_modules/n8n-mcp'))) {
  mkdirSync(dir, {recursive: true});
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', dir, 'n8n-mcp@2.87.0'], {stdio: ['ignore', 'ignore', 'inherit']});
}
const sum = (used) => Object.values(used).reduce((x, y) => x + y, 0);
const HEAD = ['phase', '(a) standard', '(a) full', '(b)', '(b)/(a) standard', '(b)/(a) full'];

/// The table of some columns of tokens by phase; returns the share in all of it.
function table(columns) {
  console.log(HEAD.join(' | '));
  const line = (label, of) => {
    const [standard, full, own] = columns.map(of);
    const share = (x) => (x === 0 ? '-' : `${((100 * own) / x).toFixed(1)} %`);
    console.log([label, standard, full, own, share(standard), share(full)].join(' | '));
    return (100 * own) / standard;
  };
  for (const phase of PHASES) line(phase, (used) => used[phase]);
  return line('all', sum);
}

const all = [0, 1, 2].map(() => Object.fromEntries(PHASES.map((phase) => [phase, 0])));
for (const name of names) {
  const b = await ours(name);
  const standard = await single(name, dir, 'standard');
  const full = await single(name, dir, 'full');
  console.log(`\n${name}: ${b.calls} model calls on each side, ${standard.tools} tools in (a)`);
  const columns = [standard.used, full.used, b.used];
  table(columns);
  columns.forEach((used, i) => PHASES.forEach((phase) => (all[i][phase] += used[phase])));
}
console.log(`\n${names.length} builds together`);
process.exitCode = table(all) > Number(options.limit) ? 1 : 0;
