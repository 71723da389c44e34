// Ways to break a workflow on purpose. Each takes (workflow, random, node, type) and changes the workflow in place;
// it returns false when there is nothing to break. `type` is n8n's description of the node, where it knows the node.
import { TYPES } from './n8n.mjs';

export const isObject = value => value !== null && typeof value === 'object' && !Array.isArray(value);
const clone = value => structuredClone(value);

/** Values that tell n8n's rules apart: each empty in its own way, or read as another type. */
const VALUES = [null, '', ' ', '=', '={{ $json.x }}', '=x', 'text', '0', '1', 0, 1, -1, 1.5, 1e21, true, false, 'true', 'FALSE', [], {}, [''], [null], ['a', 'b'], [1], { a: 1 }, { value: '' }, { value: 'x', mode: 'id' },
  { __rl: true, mode: 'list', value: '' }, { __rl: true, mode: 'id', value: 'abc' }, { __rl: true, value: 0, mode: 'id' }, 'undefined', 'null', '{}', '[]', '{"a":1}', "{a: 1}", "['a']", 'https://example.com/a', 'example.com', 'not a url', '2024-02-30', '2024-01-01T10:00', '12:30', '12:3'];
/** For values that n8n checks against a type. */
const TYPED = [...VALUES, 'http://', 'http://[', 'ftp://x', 'mailto:a@b.c', '//x', 'http://a b', 'https://ex ample.com', 'http://%', 'http://a:99999', 'http://a:b', 'javascript:1', 'http:///x', '://', 'a:b', 'https://münchen.de', 'http://1.2.3.4.5', 'http://256.1.1.1',
  '0x1f', '1e3', '1_000', ' 12 ', 'Infinity', '-Infinity', '+5', '.5', '5.', '--5', '1,5', 'NaN', 'abc_1', '1abc', 'a-b', 'ä', 'a\n', 'no', 'yes', 'False', 'TRUE ', 2, '01', '1.0', '0.0',
  '2024-13-01', '2024-W10', '2024-060', 'Mon, 01 Jan 2024 00:00:00 GMT', 'Mon, 01 Jan 2024 00:00:00 +0100', '2024-01-01 10:00', 'January 5, 2024', 'tomorrow', 'Jan', '5', 'x 5', '2024/1/5', '1/2/2024', '13/13/2024', 'now', 1700000000000, '12:30:45', '12:30+0100', '12:30+1:30', '25:99', '12.30',
  '[1, 2]', "['x', 'y']", '[1,', '{"a":', '{a: b}', '{a: 1, }', '({a: 1})', '{a: [1, "x"], b: {c: null}}', 'null', '"text"', '12', '{ "a": undefined }', "{'a': true}", '{a: -1}', '{a: f()}', '{}}', 'a.b.c', 'a.b', 'a..', '.a.b', 'a.b.=', 'ab.cd.ef/+=',
  '[{"fieldLabel":"a"}]', '[{"fieldLabel":"a","fieldType":"text"}]', '[{"fieldType":"nope"}]', '[{"nope":1}]', '[{"fieldType":"dropdown","fieldOptions":{"values":[{"option":"a"}]}}]', '[{"fieldOptions":[{"option":"a"}]}]', '[{"fieldOptions":[{"option":1}]}]', '[{"fieldOptions":"x"}]', '[1]', '[[]]', '[{fieldLabel: "a"}]'];
const LOCATOR_VALUES = ['', ' ', 0, 5, '0', 'abc', 'a b', '!!', 'ABC123', '1234567890', 'C0123ABCD', '@user', '#general', 'https://', 'https://example.com', 'http://example.com/x/y', 'https://docs.google.com/spreadsheets/d/1AbC-d_EfGh/edit#gid=0', 'https://docs.google.com/document/d/1AbC/edit', 'https://drive.google.com/file/d/1AbCdEf/view',
  'https://drive.google.com/drive/folders/1AbC', 'https://airtable.com/appAAAAAAAAAAAAAA/tblBBBBBBBBBBBBBB', 'appAAAAAAAAAAAAAA', 'tblBBBBBBBBBBBBBB', 'recCCCCCCCCCCCCCC', 'https://www.notion.so/x/0123456789abcdef0123456789abcdef', '01234567-89ab-cdef-0123-456789abcdef', '0123456789abcdef0123456789abcdef', 'https://github.com/a', 'https://github.com/a/b',
  'https://trello.com/b/abc/x', 'https://app.slack.com/client/T0/C0ABC', 'https://discord.com/channels/1/2/3', '={{ $json.id }}', '=', 'https://linear.app/x', 'https://gitlab.com/a/b', 'me@example.com', '2024-01-01', 'a\nb', 'ünï', null, false, true, {}, [], ['a'], { a: 1 }, 'https://www.youtube.com/watch?v=abc', 'x'.repeat(200)];

// ---- looking around ---------------------------------------------------------------------------------------------
/** Every place below a value: [parent, key], parents first. */
export function places(root, below = []) {
  for (const key of Object.keys(root)) {
    below.push([root, key]);
    if (root[key] !== null && typeof root[key] === 'object') places(root[key], below);
  }
  return below;
}
const leaves = root => places(root).filter(([parent, key]) => parent[key] === null || typeof parent[key] !== 'object');
const parameters = node => (isObject(node.parameters) ? node.parameters : (node.parameters = {}));

/** Set parameters with their properties, at every level that n8n's description speaks of. */
function described(properties, values, out = []) {
  for (const property of properties) {
    const value = values[property.name];
    if (value === undefined) continue;
    out.push({ property, parent: values });
    if (property.type === 'collection' && isObject(value)) described(property.options ?? [], value, out);
    if (property.type === 'fixedCollection' && isObject(value)) {
      for (const group of property.options ?? []) {
        for (const item of [value[group.name]].flat()) if (isObject(item)) described(group.values ?? [], item, out);
      }
    }
  }
  return out;
}
const set = (type, node, wanted) => (type ? described(type.properties, parameters(node)).filter(wanted) : []);
/** Properties of the top level that could be shown with the values as they are, or any. */
function offered(type, node, random, wanted) {
  if (!type) return undefined;
  const fits = type.properties.filter(wanted);
  const shown = fits.filter(property => {
    const rules = property.displayOptions?.show ?? {};
    return Object.entries(rules).every(([name, values]) => name.startsWith('@') || name.startsWith('/') || node.parameters?.[name] === undefined || values.includes?.(node.parameters[name]));
  });
  return random.of(shown.length && random.chance(0.85) ? shown : fits);
}

// ---- values that fit, more or less --------------------------------------------------------------------------------
export function sample(property, random, depth = 0) {
  if (random.chance(0.12)) return clone(random.of(VALUES));
  if (random.chance(0.1)) return clone(property.default);
  switch (property.type) {
    case 'options': return property.options?.length ? random.of(property.options).value : '';
    case 'multiOptions': return random.chance(0.2) ? [] : (property.options ?? []).filter(() => random.chance(0.4)).map(o => o.value);
    case 'boolean': return random.chance(0.5);
    case 'number': return random.of([0, 1, 5, -3, 2.5]);
    case 'collection': return Object.fromEntries((property.options ?? []).filter(() => random.chance(0.3)).map(o => [o.name, sample(o, random, depth + 1)]));
    case 'fixedCollection': return groups(property, random, depth);
    case 'resourceLocator': case 'workflowSelector': case 'agentSelector': return locator(property, random);
    case 'resourceMapper': return mapper(random);
    case 'filter': return { conditions: random.of([[], {}, [{ leftValue: '', rightValue: '', operator: { type: 'string', operation: 'equals' } }]]), ...(random.chance(0.7) ? { combinator: 'and' } : {}) };
    case 'assignmentCollection': return { assignments: [{ id: '1', name: 'a', value: 'b', type: 'string' }] };
    default: return clone(random.of(random.chance(0.3) ? VALUES : ['text', '', '={{ $json.a }}', 'a@b.co', 'https://example.com']));
  }
}
function groups(property, random, depth) {
  const many = property.typeOptions?.multipleValues;
  const one = group => Object.fromEntries((group.values ?? []).filter(() => random.chance(0.6)).map(p => [p.name, depth < 3 ? sample(p, random, depth + 1) : '']));
  const out = {};
  for (const group of property.options ?? []) {
    if (random.chance(0.5)) out[group.name] = many ? Array.from({ length: random.below(3) }, () => one(group)) : one(group);
  }
  return out;
}
function locator(property, random) {
  const modes = (property.modes ?? []).map(m => m.name);
  const mode = random.chance(0.1) ? 'nowhere' : random.of(modes.length ? modes : ['id']);
  return { __rl: true, value: clone(random.of(LOCATOR_VALUES)), mode };
}
function mapper(random) {
  const types = ['string', 'number', 'boolean', 'dateTime', 'time', 'object', 'array', 'options', 'url', 'jwt', 'string-alphanumeric', 'form-fields', 'binary', 'color', undefined];
  const ids = ['a', 'b c', 'd.e', 'f/g', '1'];
  const schema = ids.filter(() => random.chance(0.6)).map(id => ({ id, displayName: id, required: random.chance(0.4), type: random.of(types), ...(random.chance(0.2) ? { options: [{ name: 'x', value: 'x' }] } : {}) }));
  const value = random.chance(0.15) ? null : Object.fromEntries(ids.filter(() => random.chance(0.6)).map(id => [id, clone(random.of(TYPED))]));
  return { mappingMode: random.of(['defineBelow', 'defineBelow', 'autoMapInputData']), value, schema, matchingColumns: [] };
}

// ---- the kinds ------------------------------------------------------------------------------------------------------
const put = (list, random, change) => { const at = random.of(list); if (!at) return false; change(at); };
const replace = (list, random, value) => put(list, random, ([parent, key]) => { parent[key] = value(parent[key], key); });
const links = workflow => Object.values(workflow.connections ?? {}).filter(isObject).flatMap(kinds => Object.values(kinds)).filter(Array.isArray).flat().filter(Array.isArray).flatMap(list => list.map((_, i) => [list, i]));
const locators = (type, node) => set(type, node, at => ['resourceLocator', 'workflowSelector', 'agentSelector'].includes(at.property.type));
const withLocator = (change) => (workflow, random, node, type) => {
  let at = random.of(locators(type, node).filter(l => isObject(l.parent[l.property.name])));
  if (!at) {
    const property = offered(type, node, random, p => p.type === 'resourceLocator');
    if (!property) return false;
    parameters(node)[property.name] = locator(property, random);
    at = { property, parent: node.parameters };
  }
  change(at.parent[at.property.name], random, at);
};
const collections = (type, node) => set(type, node, at => at.property.type === 'fixedCollection' && isObject(at.parent[at.property.name]));
const anyCollection = change => (workflow, random, node, type) => {
  let at = random.of(collections(type, node));
  if (!at) {
    const property = offered(type, node, random, p => p.type === 'fixedCollection');
    if (!property) return false;
    parameters(node)[property.name] = groups(property, random, 0);
    at = { property, parent: node.parameters };
  }
  return change(at, random);
};
const versions = node => [...(TYPES.get(node.type)?.versions.keys() ?? [])];
const otherVersion = wanted => (workflow, random, node) => {
  const list = versions(node).filter(v => wanted(v, node.typeVersion));
  if (!list.length) return false;
  node.typeVersion = random.of(list);
};
const rename = (map, from, to) => Object.fromEntries(Object.entries(map).map(([k, v]) => [k === from ? to : k, v]));

export const KINDS = {
  'parameter-deleted': (w, r, node) => put(Object.keys(parameters(node)), r, key => { delete node.parameters[key]; }),
  'nested-parameter-deleted': (w, r, node) => put(places(parameters(node)).filter(([p]) => p !== node.parameters), r, ([p, k]) => { if (Array.isArray(p)) p.splice(k, 1); else delete p[k]; }),
  'all-parameters-deleted': (w, r, node) => { node.parameters = {}; },
  'operation-changed': (w, r, node, type) => {
    const property = offered(type, node, r, p => ['resource', 'operation', 'mode', 'authentication'].includes(p.name) && p.type === 'options');
    if (!property) return false;
    parameters(node)[property.name] = r.chance(0.1) ? 'nothing' : r.of(property.options)?.value;
  },
  'option-changed': (w, r, node, type) => put(set(type, node, at => ['options', 'boolean', 'multiOptions'].includes(at.property.type)), r, at => { at.parent[at.property.name] = sample(at.property, r); }),
  'version-older': otherVersion((v, now) => v < now),
  'version-newer': otherVersion((v, now) => v > now),
  'version-unknown': (w, r, node) => { node.typeVersion = r.of([0, -1, 99, 1.05, 3.14, 1e9, (node.typeVersion ?? 1) + 0.01]); },
  'version-no-number': (w, r, node) => { node.typeVersion = r.of(['1', null, '', [1], {}, true, '2.1']); },
  'version-missing': (w, r, node) => { delete node.typeVersion; },
  'locator-emptied': withLocator((l, r) => { l.value = r.of(['', null, undefined, 0, false]); if (l.value === undefined) delete l.value; }),
  'locator-mode-wrong': withLocator((l, r, at) => { l.mode = r.of(['nowhere', '', null, 'id', 'url', 'name', 'list', ...(at.property.modes ?? []).map(m => m.name)]); }),
  'locator-value-wrong': withLocator((l, r, at) => { const modes = at.property.modes ?? []; if (modes.length) l.mode = r.of(modes).name; l.value = clone(r.of(LOCATOR_VALUES)); }),
  'locator-no-locator': withLocator((l, r, at) => { at.parent[at.property.name] = clone(r.of([null, '', 'text', 5, 0, [], ['a'], {}, true, false, { value: 'x' }, { mode: 'id' }, '={{ 1 }}'])); }),
  'collection-item-emptied': anyCollection((at, r) => {
    const lists = Object.values(at.parent[at.property.name]).filter(Array.isArray).filter(l => l.length);
    const list = r.of(lists); if (!list) return false;
    list[r.below(list.length)] = clone(r.of([{}, {}, null, '', 'text', 5, 0, [], false]));
  }),
  'collection-part-wrong': anyCollection((at, r) => {
    const value = at.parent[at.property.name], names = Object.keys(value);
    const name = r.of(names.length && r.chance(0.7) ? names : (at.property.options ?? []).map(o => o.name)); if (!name) return false;
    value[name] = clone(r.of([null, {}, [], '', 'text', 5, 0, [{}], [[]], { 0: {} }, true]));
  }),
  'collection-part-renamed': anyCollection((at, r) => {
    const name = r.of(Object.keys(at.parent[at.property.name])); if (!name) return false;
    at.parent[at.property.name] = rename(at.parent[at.property.name], name, r.of(['values', 'other', ...(at.property.options ?? []).map(o => o.name)]));
  }),
  'collection-item-added': anyCollection((at, r) => {
    const group = r.of(at.property.options ?? []); if (!group) return false;
    const item = Object.fromEntries((group.values ?? []).filter(() => r.chance(0.6)).map(p => [p.name, sample(p, r, 1)]));
    const value = at.parent[at.property.name];
    if (at.property.typeOptions?.multipleValues) value[group.name] = [...(Array.isArray(value[group.name]) ? value[group.name] : []), item]; else value[group.name] = item;
  }),
  'collection-replaced': anyCollection((at, r) => { at.parent[at.property.name] = clone(r.of(VALUES)); }),
  'options-added': (w, r, node, type) => {
    const property = offered(type, node, r, p => p.type === 'collection'); if (!property?.options?.length) return false;
    const now = parameters(node)[property.name];
    node.parameters[property.name] = { ...(isObject(now) ? now : {}), ...Object.fromEntries(Array.from({ length: 1 + r.below(4) }, () => r.of(property.options)).map(o => [o.name, sample(o, r, 1)])) };
  },
  'value-type-wrong': (w, r, node) => replace(places(parameters(node)), r, () => clone(r.of(VALUES))),
  'checked-value-wrong': (w, r, node, type) => {
    const at = r.of(set(type, node, a => a.property.validateType)) ?? (p => p && { property: p, parent: parameters(node) })(offered(type, node, r, p => p.validateType));
    if (!at) return false;
    at.parent[at.property.name] = clone(r.of(TYPED));
  },
  'expression-put': (w, r, node) => replace(r.chance(0.5) ? Object.keys(parameters(node)).map(k => [node.parameters, k]) : leaves(parameters(node)), r, () => r.of(['={{ $json.x }}', '=', '==', '=text', "={{ $fromAI('a', 'b') }}", "={{ $fromAI('a') }} and", '=true', ' ={{ 1 }}', "={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('a', ``, 'string') }}"])),
  'required-emptied': (w, r, node, type) => {
    const property = offered(type, node, r, p => p.required === true); if (!property) return false;
    parameters(node)[property.name] = clone(r.of(['', null, [], {}, 0, false, ' ', undefined, { value: '' }]));
    if (node.parameters[property.name] === undefined) delete node.parameters[property.name];
  },
  'parameter-sampled': (w, r, node, type) => {
    const property = offered(type, node, r, p => !['notice', 'callout'].includes(p.type)); if (!property) return false;
    parameters(node)[property.name] = sample(property, r);
  },
  'mapper-changed': (w, r, node, type) => {
    const property = offered(type, node, r, p => p.type === 'resourceMapper'); if (!property) return false;
    const value = mapper(r);
    if (r.chance(0.15)) value.schema = clone(r.of([null, [], {}, [null], 'text', [{}], [{ id: 5, required: true }]]));
    if (r.chance(0.1)) delete value[r.of(['mappingMode', 'value', 'schema'])];
    parameters(node)[property.name] = value;
  },
  'filter-changed': (w, r, node, type) => {
    const property = offered(type, node, r, p => p.type === 'filter'); if (!property) return false;
    const now = parameters(node)[property.name];
    const filter = isObject(now) ? now : sample(property, r);
    node.parameters[property.name] = filter;
    if (!isObject(filter)) return;
    r.of([() => { delete filter.combinator; }, () => { delete filter.conditions; }, () => { filter.conditions = clone(r.of([null, {}, 'x', [null], [{}], [{ operator: null }], 5])); }, () => { filter.options = clone(r.of([null, [], 'x', {}, ['a']])); }, () => { filter.combinator = clone(r.of([null, 'xor', 1])); },
      () => { const c = r.of(filter.conditions ?? []); if (isObject(c)) c[r.of(['operator', 'leftValue', 'rightValue'])] = clone(r.of(VALUES)); }])();
  },
  'credentials-removed': (w, r, node) => { if (node.credentials === undefined) return false; delete node.credentials; },
  'credentials-emptied': (w, r, node, type) => {
    const name = r.of([...Object.keys(isObject(node.credentials) ? node.credentials : {}), ...(type?.credentials ?? []).map(c => c.name)]); if (!name) return false;
    node.credentials = { ...(isObject(node.credentials) ? node.credentials : {}), [name]: clone(r.of([{}, null, '', 'id', { id: '' }, { id: null, name: 'x' }, { id: 0 }, { id: 7 }, [], { name: 'x' }, { id: '', __aiGatewayManaged: true }, 5, true])) };
  },
  'credentials-wrong': (w, r, node, type) => {
    if (r.chance(0.3)) { node.credentials = clone(r.of([null, [], 'x', 5, {}, true])); return; }
    const name = r.of((type?.credentials ?? []).map(c => c.name)) ?? 'otherApi';
    node.credentials = { [name]: { id: '1', name: 'x' } };
  },
  'type-unknown': (w, r, node) => { node.type = r.of(['n8n-nodes-base.nothing', 'nothing', node.type.toLowerCase(), `${node.type}Tool`, `${node.type}HitlTool`, node.type.replace(/Tool$/, ''), node.type.replace(/^.*\./, ''), node.type.replace('n8n-nodes-base.', '@n8n/n8n-nodes-langchain.'), 'n8n-nodes-community.thing', `${node.type} `]); },
  'type-changed': (w, r, node) => { node.type = r.of([...TYPES.keys()]); if (r.chance(0.5)) node.typeVersion = r.of(versions(node)); },
  'connection-target-unknown': (w, r) => put(links(w), r, ([list, i]) => { if (isObject(list[i])) list[i].node = r.of(['Nowhere', '', `${list[i].node} `, String(list[i].node).toLowerCase(), 5, null]); }),
  'connection-source-unknown': (w, r) => put(Object.keys(w.connections ?? {}), r, name => { w.connections = rename(w.connections, name, r.of(['Nowhere', '', `${name} `, '7'])); }),
  'connection-shape-wrong': (w, r) => {
    const list = places(w.connections ?? {}); if (!list.length) return false;
    return replace(list, r, () => clone(r.of([null, [], {}, 'main', 5, -1, 0.5, [null], [[]], [[null]], [[{}]], true, ''])));
  },
  'connections-missing': (w, r) => { if (r.chance(0.4)) delete w.connections; else w.connections = clone(r.of([null, [], {}, 'x', 5])); },
  'name-duplicate': (w, r, node) => { const other = r.of(w.nodes); if (other === node || !isObject(other)) return false; node.name = other.name; },
  'name-changed': (w, r, node) => { node.name = r.of(['', 'Renamed', `${node.name}1`, 5, null, undefined, '__proto__', 'constructor', '12', ' ']); if (node.name === undefined) delete node.name; },
  'id-changed': (w, r, node) => { const other = r.of(w.nodes); node.id = r.of([isObject(other) ? other.id : '', '', 5, null, 'new', undefined]); if (node.id === undefined) delete node.id; },
  'node-field-deleted': (w, r, node) => put(Object.keys(node), r, key => { delete node[key]; }),
  'position-wrong': (w, r, node) => { node.position = clone(r.of([[1], [1, 2, 3], ['1', 2], null, 'x', {}, [null, 1], [], [1.5, -2], [1, true, 'x'], undefined])); if (node.position === undefined) delete node.position; },
  'disabled-changed': (w, r, node) => { node.disabled = r.of([true, true, true, false, 'true', null, 1]); },
  'trigger-missing': (w, r) => {
    const starts = w.nodes.filter(n => isObject(n) && [...(TYPES.get(n.type)?.versions.values() ?? [])].some(v => v.trigger)); if (!starts.length) return false;
    if (r.chance(0.5)) for (const n of starts) n.disabled = true; else w.nodes = w.nodes.filter(n => !starts.includes(n));
  },
  'node-replaced': (w, r, node) => { w.nodes[w.nodes.indexOf(node)] = clone(r.of([null, 5, 'x', [], {}, { name: 'Only name' }])); },
  'parameters-no-object': (w, r, node) => { node.parameters = clone(r.of([null, [], 'x', 5, undefined, [{ a: 1 }]])); if (node.parameters === undefined) delete node.parameters; },
};

/** Kinds that the validator was not corrected against: for checking that the corrections are rules. */
export const HELD_OUT = {
  'two-at-once': (w, r, node, type) => { const names = Object.keys(KINDS); const one = KINDS[r.of(names)](w, r, node, type); const two = w.nodes.includes(node) ? KINDS[r.of(names)](w, r, node, type) : false; return one === false && two === false ? false : undefined; },
  'node-from-the-catalog': (w, r) => { w.nodes.push(fresh(w, r)); },
  'catalog-only': (w, r) => { w.nodes = []; w.connections = {}; for (let i = 0; i < 12; i++) w.nodes.push(fresh(w, r)); },
  'parameters-of-another-node': (w, r, node) => { const other = r.of(w.nodes); if (!isObject(other) || other === node) return false; node.parameters = clone(other.parameters); },
  'wrapped-in-a-list': (w, r, node) => replace(places(parameters(node)), r, value => [value]),
  'unwrapped': (w, r, node) => replace(places(parameters(node)).filter(([p, k]) => p[k] !== null && typeof p[k] === 'object'), r, value => Object.values(value)[0] ?? null),
  'turned-to-text': (w, r, node) => replace(places(parameters(node)), r, value => (typeof value === 'string' ? Number(value) || value.length : JSON.stringify(value) ?? null)),
  'key-spelled-otherwise': (w, r, node) => put(places(parameters(node)).filter(([p]) => isObject(p)), r, ([p, k]) => { const value = p[k]; delete p[k]; p[r.of([k.toLowerCase(), `${k}s`, k.toUpperCase(), ` ${k}`, k.replace(/[A-Z]/g, c => `_${c.toLowerCase()}`), `${k}.x`])] = value; }),
  'moved-up-or-down': (w, r, node) => put(places(parameters(node)).filter(([p, k]) => isObject(p[k])), r, ([p, k]) => { if (r.chance(0.5)) { const inner = p[k]; delete p[k]; Object.assign(p, inner); } else p[k] = { [k]: p[k] }; }),
  'anywhere': (w, r) => replace(places(w).filter(([p]) => p !== w), r, () => clone(r.of(VALUES))),
  'anything-deleted': (w, r) => put(places(w).filter(([p]) => p !== w), r, ([p, k]) => { if (Array.isArray(p)) p.splice(k, 1); else delete p[k]; }),
  'anything-copied': (w, r) => { const list = places(w).filter(([p]) => p !== w); const from = r.of(list), to = r.of(list); if (!from) return false; to[0][to[1]] = clone(from[0][from[1]]); },
  'keys-in-another-order': (w, r, node) => { const list = Object.entries(parameters(node)); for (let i = list.length - 1; i > 0; i--) { const j = r.below(i + 1); [list[i], list[j]] = [list[j], list[i]]; } node.parameters = Object.fromEntries(list); delete node.parameters[r.of(Object.keys(node.parameters))]; },
  'other-language': (w, r, node) => replace(leaves(parameters(node)).filter(([p, k]) => typeof p[k] === 'string'), r, value => r.of([`${value}ü`, `${value}\u2028`, `日本${value}`, value.toUpperCase(), value.replace(/\d/g, '٣'), ` ${value}`, `${value}\n`])),
};

/** A node of any type and version with parameters made up from its description. */
function fresh(workflow, random) {
  const type = TYPES.get(random.of([...TYPES.keys()]));
  const [version, { description }] = random.of([...type.versions]);
  const values = {};
  for (const property of description.properties) {
    if (['resource', 'operation', 'mode'].includes(property.name) ? random.chance(0.8) : random.chance(0.35)) values[property.name] = sample(property, random);
  }
  const credentials = Object.fromEntries((description.credentials ?? []).filter(() => random.chance(0.5)).map(c => [c.name, { id: 'x', name: 'x' }]));
  return { id: `fresh-${random.below(1e9)}`, name: `Fresh ${workflow.nodes.length} ${random.below(1e6)}`, type: type.name, typeVersion: version, position: [0, 0], parameters: values, credentials };
}

/** Applies one mutation of the kind to a copy. Undefined when nothing in the workflow can be broken that way. */
export function mutant(workflow, kinds, kind, random) {
  for (let attempt = 0; attempt < 8; attempt++) {
    const copy = structuredClone(workflow);
    const nodes = copy.nodes.filter(n => isObject(n) && n.type !== 'n8n-nodes-base.stickyNote' && typeof n.type === 'string');
    const node = random.of(nodes);
    if (!node) return undefined;
    const versions = TYPES.get(node.type)?.versions;
    const type = versions?.get(node.typeVersion)?.description;
    if (kinds[kind](copy, random, node, type) !== false) return copy;
  }
  return undefined;
}
