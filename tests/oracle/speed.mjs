// `agentctl qa` against n8n-mcp's validate_workflow, in one run on the same files, each on one core.
//   node speed.mjs [--agentctl BIN] [--files N] [--runs N] FOLDER
// n8n-mcp is fetched from npm, runs as the MCP server that it is, and is asked file by file; its start is not counted.
// agentctl is a process a run; its start is counted.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const N8N_MCP = '2.87.0';
const { values: options, positionals: [folder] } = parseArgs({
  allowPositionals: true,
  options: { agentctl: { type: 'string', default: path.join(import.meta.dirname, '../../target/release/agentctl') }, files: { type: 'string', default: '300' }, runs: { type: 'string', default: '3' } },
});
const cache = path.join(process.env.AGENTCTL_ORACLE_CACHE ?? path.join(import.meta.dirname, '.cache'), `n8n-mcp-${N8N_MCP}`);
const server = path.join(cache, 'node_modules/n8n-mcp/dist/mcp/index.js');
if (!fs.existsSync(server)) {
  fs.mkdirSync(cache, { recursive: true });
  fs.writeFileSync(path.join(cache, 'package.json'), '{"name":"speed","private":true}\n');
  execFileSync('npm', ['install', `n8n-mcp@${N8N_MCP}`, '--save-exact', '--no-audit', '--no-fund', '--silent'], { cwd: cache, stdio: 'inherit' });
}
const oneCore = spawnSync('taskset', ['-c', '0', 'true']).status === 0 ? ['taskset', '-c', '0'] : [];

const all = fs.readdirSync(folder).filter(f => f.endsWith('.json')).sort();
const step = Math.max(1, Math.floor(all.length / Number(options.files)));
const files = all.filter((_, i) => i % step === 0).slice(0, Number(options.files));
const same = fs.mkdtempSync(path.join(os.tmpdir(), 'speed-'));
for (const file of files) fs.copyFileSync(path.join(folder, file), path.join(same, file));

function agentctl() {
  const [program, ...args] = [...oneCore, options.agentctl, 'qa', same, '--output-format', 'json', '--fail-on', 'never'];
  const start = performance.now();
  execFileSync(program, args, { maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore'] });
  return performance.now() - start;
}

async function n8nMcp() {
  const [program, ...args] = [...oneCore, process.execPath, server];
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], env: { ...process.env, MCP_MODE: 'stdio', LOG_LEVEL: 'error', DISABLE_CONSOLE_OUTPUT: 'true', N8N_MCP_TELEMETRY_DISABLED: 'true' } });
  const waiting = new Map();
  readline.createInterface({ input: child.stdout }).on('line', line => {
    if (!line.startsWith('{')) return;
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  let id = 0;
  const ask = (method, params) => new Promise(resolve => {
    waiting.set(++id, resolve);
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  });
  await ask('initialize', { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'speed', version: '1' } });
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const validate = workflow => ask('tools/call', { name: 'validate_workflow', arguments: { workflow, options: { profile: 'runtime' } } });
  const workflows = files.map(file => JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8')));
  await validate(workflows[0]);
  const start = performance.now();
  let refused = 0;
  for (const { nodes, connections, name } of workflows) if ((await validate({ name, nodes, connections })).error) refused++;
  const spent = performance.now() - start;
  child.kill();
  return { spent, refused };
}

const median = list => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const ours = [], theirs = [];
for (let run = 0; run < Number(options.runs); run++) {
  for (let i = 0; i < 3; i++) ours.push(agentctl());
  const { spent, refused } = await n8nMcp();
  theirs.push(spent);
  const rate = ms => (files.length / ms * 1000).toFixed(1);
  console.log(`run ${run + 1}: agentctl ${rate(median(ours.slice(-3)))} files/s, n8n-mcp ${rate(spent)} files/s${refused ? ` (${refused} refused)` : ''}`);
}
fs.rmSync(same, { recursive: true });
console.log(`${files.length} files, medians: agentctl ${median(ours).toFixed(0)} ms, n8n-mcp ${median(theirs).toFixed(0)} ms: ${(median(theirs) / median(ours)).toFixed(0)} times`);
