// n8n's verdict on a workflow, by its own functions: what it enforces on save and on publish.
//   node judge.mjs FOLDER [OUT.jsonl]     one line a file: {file, issues: [{node, kind, path, message}]}
import fs from 'node:fs';
import path from 'node:path';
import { TYPES, W } from './n8n.mjs';

const STICKY = 'n8n-nodes-base.stickyNote';
const STARTED_BY_HAND = ['@n8n/n8n-nodes-langchain.manualChatTrigger', 'n8n-nodes-base.manualTrigger'];
const isObject = value => value !== null && typeof value === 'object' && !Array.isArray(value);

/** As the editor resolves a node: the exact version, or the type's default one when none is written. */
function resolve(name, version) {
  const type = TYPES.get(name);
  if (!type) return { unknown: 'unknown_type' };
  const used = version ?? type.current;
  const found = type.versions.get(used);
  return found ? { found, version: used } : { unknown: 'unknown_version' };
}

const nodeTypes = { getByNameAndVersion: (name, version) => resolve(name, version).found };

/** The name that a structure issue is about. */
function owner(at, workflow) {
  const name = at[0] === 'nodes' ? workflow.nodes?.[at[1]]?.name : at[0] === 'connections' ? at[1] : undefined;
  return typeof name === 'string' ? name : null;
}

export function judge(workflow) {
  const issues = [];
  const structure = W.safeParseWorkflowStructure({ nodes: workflow.nodes, connections: workflow.connections });
  for (const issue of structure.success ? [] : structure.issues) {
    issues.push({ node: owner(issue.path, workflow), kind: 'structure', path: W.formatWorkflowStructureIssuePath(issue.path), message: issue.message });
  }
  if (!Array.isArray(workflow.nodes)) return { issues };
  const nodes = workflow.nodes.filter(isObject);
  const byName = {};
  for (const node of nodes) byName[node.name] = node;
  const started = W.validateWorkflowHasTriggerLikeNode(byName, nodeTypes, STARTED_BY_HAND);
  if (!started.isValid) issues.push({ node: null, kind: 'no_trigger', message: started.error });
  for (const node of nodes) if (node.type !== STICKY) judgeNode(node, issues);
  return { issues };
}

function judgeNode(node, issues) {
  const name = typeof node.name === 'string' ? node.name : null;
  const { found, version, unknown } = resolve(node.type, node.typeVersion);
  if (unknown) return void issues.push({ node: name, kind: unknown, message: `${node.type} ${JSON.stringify(node.typeVersion)}` });
  if (node.disabled === true) return;
  const { description } = found;
  const judged = { ...node, typeVersion: version, parameters: isObject(node.parameters) ? structuredClone(node.parameters) : {} };
  try {
    // Publishing judges the parameters with defaults filled in.
    judged.parameters = W.NodeHelpers.getNodeParameters(description.properties, judged.parameters, true, false, judged, description) ?? {};
    const found = W.NodeHelpers.getNodeParametersIssues(description.properties, judged, description);
    for (const [at, messages] of Object.entries(found?.parameters ?? {})) {
      for (const message of new Set(messages)) issues.push({ node: name, kind: 'parameter', path: at, message });
    }
  } catch (error) {
    issues.push({ node: name, kind: 'parameter', path: '', message: `n8n throws: ${error.message}` });
  }
  try {
    for (const issue of W.validateNodeCredentials(judged, found)) {
      issues.push({ node: name, kind: 'credential', path: issue.credentialName, message: issue.displayName });
    }
  } catch (error) {
    issues.push({ node: name, kind: 'credential', path: '', message: `n8n throws: ${error.message}` });
  }
}

if (process.argv[1] === import.meta.filename) {
  const [folder, out] = process.argv.slice(2);
  const lines = fs.readdirSync(folder).filter(f => f.endsWith('.json')).sort()
    .map(file => JSON.stringify({ file, ...judge(JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8'))) }) + '\n');
  if (out) fs.writeFileSync(out, lines.join('')); else process.stdout.write(lines.join(''));
}
