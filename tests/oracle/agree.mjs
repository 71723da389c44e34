// Does `agentctl qa` say what n8n's own code says? On workflow files as they are, or on mutants of them.
//   node agree.mjs [--agentctl BIN] [--mutants N] [--seed N] [--held-out] [--kind KIND]… [--show N] [--keep FOLDER] [--json OUT] FOLDER…
// FOLDER: workflow files. Exit 0 when everything agrees.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { judge } from './judge.mjs';
import { HELD_OUT, KINDS, mutant } from './mutations.mjs';
import { Random } from './random.mjs';

const { values: options, positionals: folders } = parseArgs({
  allowPositionals: true,
  options: {
    agentctl: { type: 'string', default: path.join(import.meta.dirname, '../../target/release/agentctl') },
    mutants: { type: 'string', default: '0' }, seed: { type: 'string', default: '1' }, 'held-out': { type: 'boolean', default: false },
    kind: { type: 'string', multiple: true }, show: { type: 'string', default: '20' }, keep: { type: 'string' }, json: { type: 'string' },
  },
});
const CHUNK = 500;
const CODES = { 'n8n/parameter': 'parameter', 'n8n/credential': 'credential', 'n8n/unknown-type': 'unknown_type', 'n8n/unknown-version': 'unknown_version', 'n8n/structure': 'structure', 'n8n/no-trigger': 'no_trigger' };

// ---- what is compared: sets of (kind, node, path) ----------------------------------------------------------------
function key(kind, node, at) {
  if (kind === 'parameter' || kind === 'credential') return JSON.stringify([kind, node ?? null, at]);
  // A pointer does not tell a list's place from a key of digits; n8n's own paths do.
  if (kind === 'structure') return JSON.stringify([kind, at.replace(/\[(\d+)\]/g, '.$1')]);
  return JSON.stringify(kind === 'no_trigger' ? [kind] : [kind, node ?? null]);
}
const tokens = pointer => pointer.split('/').slice(1).map(t => t.replaceAll('~1', '/').replaceAll('~0', '~'));
/** /nodes/3/parameters/documentId -> documentId */
function below(pointer) {
  const parts = tokens(pointer);
  const at = ['parameters', 'credentials'].map(name => parts.indexOf(name)).find(at => at >= 0 && at + 1 < parts.length);
  return at === undefined ? parts.at(-1) ?? '' : parts[at + 1];
}
/** /connections/A/main/0/0/node -> connections.A.main[0][0].node */
const dotted = pointer => tokens(pointer).reduce((out, t) => out + (/^\d+$/.test(t) ? `[${t}]` : (out ? '.' : '') + t), '');
const theirs = verdict => new Set(verdict.issues.map(i => key(i.kind, i.node, i.path)));
const ours = file => new Set(file.findings.filter(f => CODES[f.code]).map(f => key(CODES[f.code], f.node, CODES[f.code] === 'structure' ? dotted(f.pointer) : below(f.pointer))));

function qa(folder) {
  const run = () => execFileSync(options.agentctl, ['qa', folder, '--output-format', 'json', '--fail-on', 'never'], { maxBuffer: 1 << 30, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  return new Map(JSON.parse(run()).files.map(file => [path.basename(file.path), file]));
}

// ---- what is judged ------------------------------------------------------------------------------------------------
function* subjects() {
  const files = folders.flatMap(f => fs.readdirSync(f).filter(n => n.endsWith('.json')).sort().map(n => path.join(f, n)));
  const read = file => JSON.parse(fs.readFileSync(file, 'utf8'));
  if (options.mutants === '0') {
    for (const [i, file] of files.entries()) yield { name: `${String(i).padStart(6, '0')}-${path.basename(file)}`, kind: 'as it is', workflow: read(file) };
    return;
  }
  const kinds = options['held-out'] ? HELD_OUT : KINDS;
  const names = options.kind ?? Object.keys(kinds);
  const random = new Random(Number(options.seed));
  for (let made = 0; made < Number(options.mutants);) {
    const kind = names[made % names.length];
    const file = random.of(files);
    const workflow = mutant(read(file), kinds, kind, random);
    if (workflow) yield { name: `${String(made++).padStart(6, '0')}-${kind}-${path.basename(file)}`, kind, workflow };
  }
}

// ---- the comparison --------------------------------------------------------------------------------------------------
const kinds = new Map();
const codes = new Map();
const shown = [];
const count = (map, name, field) => { const row = map.get(name) ?? { subjects: 0, equal: 0, both: 0, ours_only: 0, n8n_only: 0 }; row[field]++; map.set(name, row); };

function compare(chunk, folder) {
  const found = qa(folder);
  for (const { name, kind, workflow } of chunk) {
    const n8n = theirs(judge(workflow));
    const file = found.get(name);
    const us = file ? ours(file) : new Set(['no result']);
    const differences = [...[...us].filter(k => !n8n.has(k)).map(k => ['ours only', k]), ...[...n8n].filter(k => !us.has(k)).map(k => ['n8n only', k])];
    count(kinds, kind, 'subjects');
    if (differences.length === 0) count(kinds, kind, 'equal');
    for (const k of n8n) if (us.has(k)) count(codes, JSON.parse(k)[0], 'both');
    for (const [side, k] of differences) {
      count(codes, k === 'no result' ? k : JSON.parse(k)[0], side === 'ours only' ? 'ours_only' : 'n8n_only');
      shown.push(`${name} ${side}: ${k}`);
    }
    if (differences.length === 0 || !options.keep) fs.rmSync(path.join(folder, name));
  }
}

const root = options.keep ?? fs.mkdtempSync(path.join(os.tmpdir(), 'agree-'));
fs.mkdirSync(root, { recursive: true });
let chunk = [], part = 0;
const flush = () => {
  if (!chunk.length) return;
  const folder = path.join(root, String(part++).padStart(3, '0'));
  fs.mkdirSync(folder);
  for (const subject of chunk) {
    const text = JSON.stringify(subject.workflow);
    fs.writeFileSync(path.join(folder, subject.name), text);
    subject.workflow = JSON.parse(text);
  }
  compare(chunk, folder);
  if (fs.readdirSync(folder).length === 0) fs.rmdirSync(folder);
  chunk = [];
  const done = [...kinds.values()].reduce((n, row) => n + row.subjects, 0);
  process.stderr.write(`${done} judged, ${shown.length} differences\n`);
};
for (const subject of subjects()) { chunk.push(subject); if (chunk.length === CHUNK) flush(); }
flush();
if (!options.keep) fs.rmSync(root, { recursive: true, force: true });

const total = [...kinds.values()].reduce((a, b) => ({ subjects: a.subjects + b.subjects, equal: a.equal + b.equal }), { subjects: 0, equal: 0 });
const width = Math.max(...[...kinds.keys()].map(k => k.length));
for (const [kind, row] of kinds) console.log(`${kind.padEnd(width)}  ${String(row.equal).padStart(6)} of ${String(row.subjects).padStart(6)}`);
for (const [code, row] of codes) console.log(`${code.padEnd(16)} both ${row.both}, ours only ${row.ours_only}, n8n only ${row.n8n_only}`);
for (const line of shown.slice(0, Number(options.show))) console.log(`  ${line}`);
console.log(`equal ${total.equal} of ${total.subjects} (${(100 * total.equal / Math.max(1, total.subjects)).toFixed(3)} %)`);
if (options.json) fs.writeFileSync(options.json, JSON.stringify({ total, kinds: Object.fromEntries(kinds), codes: Object.fromEntries(codes), differences: shown }, null, 1));
process.exitCode = total.equal === total.subjects ? 0 : 1;
