// Compares what agentctl says of expressions and code with n8n's own evaluator of expressions and with Node's parser.
//   npm install --ignore-scripts n8n-workflow@2.41.0      (in an empty folder, H)
//   NODE_PATH=H/node_modules node tests/oracle/syntax.mjs FOLDER-OF-WORKFLOWS AGENTCTL [MUTANTS-PER-TEXT] [SEED]
// Every text that starts with "=" and every program of the workflows, and mutants of them (a character lost, doubled,
// swapped or put in), are judged by both. Prints how many agree, and the first that do not.
import { createRequire } from 'node:module';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import vm from 'node:vm';

const [folder, agentctl, perText = '1', seedText = '7'] = process.argv.slice(2);
const require = createRequire(path.join(process.env.NODE_PATH, 'x.js'));
const { Expression } = require('n8n-workflow');

let seed = Number(seedText) >>> 0;
const random = (n) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * n);
};
const INSERTED = ['{', '}', '(', ')', '[', ']', "'", '"', '`', ',', ';', '.', '?', ':', '=', ' a ', '\\', '}}', '{{', '\n'];
function mutant(text) {
  const at = 1 + random(Math.max(1, text.length - 1));
  switch (random(4)) {
    case 0: return text.slice(0, at) + text.slice(at + 1);
    case 1: return text.slice(0, at) + text[at] + text.slice(at);
    case 2: return text.slice(0, at) + (text[at + 1] ?? '') + (text[at] ?? '') + text.slice(at + 2);
    default: return text.slice(0, at) + INSERTED[random(INSERTED.length)] + text.slice(at);
  }
}

const expressions = new Set();
const programs = new Set();
function collect(value, key) {
  if (typeof value === 'string') {
    if (['jsCode', 'functionCode'].includes(key)) programs.add(value);
    else if (value.startsWith('=') && value.includes('{{') && key !== 'pythonCode') expressions.add(value);
  } else if (value && typeof value === 'object') {
    for (const [k, v] of Object.entries(value)) collect(v, Array.isArray(value) ? key : k);
  }
}
for (const file of fs.readdirSync(folder).sort()) {
  const { nodes } = JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8'));
  for (const node of Array.isArray(nodes) ? nodes : []) collect(node?.parameters, '');
}
const widened = (set) => {
  const all = [...set];
  for (const text of set) for (let i = 0; i < Number(perText); i++) all.push(mutant(text));
  return [...new Set(all)].filter((t) => t.isWellFormed?.() ?? true);
};

const evaluator = new Expression('UTC');
const tournament = (text) => {
  try {
    evaluator.resolveSimpleParameterValue(text, {});
  } catch (error) {
    return error.message === 'invalid syntax';
  }
  return false;
};
const v8 = (code) => {
  try {
    new vm.Script(`async function body() {${code}\n}`);
  } catch (error) {
    return error instanceof SyntaxError;
  }
  return false;
};

/** Which of the texts agentctl finds broken. */
function judged(texts, node, codes) {
  const nodes = texts.map((text, i) => ({ id: `n${i}`, name: `N${i}`, position: [0, 0], ...node(text) }));
  const start = { id: 's', name: 'Start', type: 'n8n-nodes-base.scheduleTrigger', typeVersion: 1.2, position: [0, 0], parameters: {} };
  const connections = { Start: { main: [nodes.map((n) => ({ node: n.name, type: 'main', index: 0 }))] } };
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'syntax-')), 'w.json');
  fs.writeFileSync(file, JSON.stringify({ name: 'w', nodes: [start, ...nodes], connections, settings: {} }));
  const args = ['qa', file, '--output-format', 'json', '--fail-on', 'never'];
  const answer = JSON.parse(execFileSync(agentctl, args, { maxBuffer: 2 ** 30 }));
  const broken = new Set();
  for (const finding of answer.files[0].findings) {
    if (codes.includes(finding.code) && finding.severity === 'error') broken.add(Number(finding.node_id.slice(1)));
  }
  return texts.map((_, i) => broken.has(i));
}

function compare(name, texts, theirs, ours) {
  let broken = 0;
  const differ = [];
  texts.forEach((text, i) => {
    const expected = theirs(text);
    broken += expected;
    if (expected !== ours[i]) differ.push({ n8n: expected ? 'broken' : 'fine', text });
  });
  console.log(`${name}: ${texts.length} texts, ${broken} broken, agree on ${texts.length - differ.length}`);
  for (const d of differ.slice(0, 40)) console.log(' ', d.n8n, JSON.stringify(d.text).slice(0, 300));
}

const set = (text) => ({
  type: 'n8n-nodes-base.set', typeVersion: 3.4,
  parameters: { assignments: { assignments: [{ id: '1', name: 'a', value: text, type: 'string' }] }, options: {} },
});
const code = (text) => ({ type: 'n8n-nodes-base.code', typeVersion: 2, parameters: { jsCode: text } });

const texts = widened(expressions);
compare('expressions', texts, tournament, judged(texts, set, ['agentctl/expression-syntax', 'agentctl/unbalanced-expression']));
const bodies = widened(programs).filter((t) => !t.startsWith('='));
compare('programs', bodies, v8, judged(bodies, code, ['agentctl/code-syntax']));
