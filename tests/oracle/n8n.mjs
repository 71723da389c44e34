// n8n's own validation code and node descriptions, fetched from npm by name and version into a git-ignored folder.
// Nothing of n8n is kept in this repository; what is here only calls it.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { execFileSync } from 'node:child_process';

process.env.N8N_BLOCK_ENV_ACCESS_IN_NODE = 'true';

export const VERSIONS = { n8n: '2.39.4', 'n8n-nodes-base': '2.39.2', '@n8n/n8n-nodes-langchain': '2.39.2', 'n8n-workflow': '2.39.1' };
const NODE_PACKAGES = ['n8n-nodes-base', '@n8n/n8n-nodes-langchain'];
const CACHE = process.env.AGENTCTL_ORACLE_CACHE ?? path.join(import.meta.dirname, '.cache');
const home = path.join(CACHE, `n8n-${VERSIONS.n8n}`);
const unpacked = name => path.join(home, name.replace(/[@/]/g, '_'));

const npm = (args, cwd) => execFileSync('npm', args, { cwd, stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8', env: { ...process.env, npm_config_legacy_peer_deps: 'true' } });

function unpack(name, wanted) {
  const dir = unpacked(name);
  fs.mkdirSync(dir, { recursive: true });
  const tarball = npm(['pack', `${name}@${VERSIONS[name]}`, '--silent'], home).trim().split('\n').at(-1);
  execFileSync('tar', ['xzf', path.join(home, tarball), '-C', dir, '--strip-components=1', ...wanted.map(p => `package/${p}`)]);
  fs.rmSync(path.join(home, tarball));
}

/** Fetches what is not there yet (about 20 MB of packages). */
export function setup() {
  const done = path.join(home, 'complete');
  if (fs.existsSync(done)) return home;
  fs.mkdirSync(home, { recursive: true });
  for (const name of NODE_PACKAGES) unpack(name, ['package.json', 'dist/types', 'dist/known']);
  unpack('n8n', ['dist/tool-generation']);
  const run = path.join(home, 'run');
  fs.mkdirSync(run, { recursive: true });
  fs.writeFileSync(path.join(run, 'package.json'), '{"name":"run","private":true}\n');
  npm(['install', `n8n-workflow@${VERSIONS['n8n-workflow']}`, '--save-exact', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], run);
  fs.cpSync(path.join(unpacked('n8n'), 'dist/tool-generation'), path.join(run, 'tool-generation'), { recursive: true });
  fs.writeFileSync(done, '');
  return home;
}

setup();
const require = createRequire(path.join(home, 'run/x.js'));
/** The package n8n-workflow. */
export const W = require('n8n-workflow');

/** Triggers by their group whose class has neither a trigger, a poll nor a webhook method. */
const NOT_STARTING = new Set(['n8n-nodes-base.evaluationTrigger']);

/** Every type that n8n loads, tool variants included: name -> {current, versions: Map(version -> {description, trigger?})}. */
function loadTypes() {
  const { createAiTools, createHitlTools } = require('./tool-generation');
  const types = { nodes: [], credentials: [] }, known = { nodes: {}, credentials: {} };
  for (const name of NODE_PACKAGES) {
    const read = file => JSON.parse(fs.readFileSync(path.join(unpacked(name), 'dist', file), 'utf8'));
    for (const description of read('types/nodes.json')) types.nodes.push({ ...description, name: `${name}.${description.name}` });
    for (const [key, value] of Object.entries(read('known/nodes.json'))) known.nodes[`${name}.${key}`] = value;
    for (const [key, value] of Object.entries(read('known/credentials.json'))) {
      known.credentials[key] = { ...value, supportedNodes: value.supportedNodes?.map(node => `${name}.${node}`) };
    }
  }
  const own = new Set(types.nodes.map(d => d.name));
  createAiTools(types, known);
  createHitlTools(types, known);
  const byName = new Map();
  for (const description of types.nodes) {
    const { name } = description;
    const type = byName.get(name) ?? { name, made: !own.has(name), versions: new Map(), current: undefined };
    byName.set(name, type);
    // What n8n asks of the class (has it a trigger, poll or webhook method?) shows in its description; tools never start anything.
    const starts = description.group?.includes('trigger') || description.polling === true || description.webhooks?.length > 0;
    for (const version of [description.version].flat()) {
      if (type.versions.has(version)) continue;
      type.versions.set(version, starts && !NOT_STARTING.has(name) ? { description, trigger() {} } : { description });
    }
    type.current ??= description.defaultVersion;
  }
  for (const type of byName.values()) type.current ??= Math.max(...type.versions.keys());
  return byName;
}
export const TYPES = loadTypes();
