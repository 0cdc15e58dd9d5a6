import type { NodeListStub } from '../../../../src/api/node-documents.js';
import { orThrow } from '../../../../src/client/index.js';
import { parseDuration } from '../../../../src/options/option-kinds.js';
import type { NodeMetadata } from '../../../../src/scheduler/index.js';
import { type Command, command, type Invocation, option } from '../../command-line/command.js';
import {
  changesOf,
  type DrainedAllocation,
  type DrainView,
  displayOn,
  drainFrame,
  drainNews,
  isDraining,
  noDisplay,
  wasCanceled,
} from '../../monitor/monitor.js';
import { allocationsOnNodeText, facts, short, tableOf } from '../../output/tables.js';
import { hostUsageText } from '../../output/usage.js';
import { Stopped } from '../../stopped.js';
import { existing, onlyMatch, queryPrefix } from '../find-record.js';
import { optional, pairs, yes } from '../option-values.js';
import { confirm, print } from '../print.js';

const self = {
  self: option.flag('the only node connected to the server'),
} as const;

const status = command({
  usage: 'node status [NODE]',
  summary: 'list the nodes, or show one',
  options: {
    ...self,
    stats: option.flag('current resource usage of the node'),
    allocs: option.flag('list the allocations of the node'),
    filter: option.text('EXPRESSION', 'only matching nodes'),
  },
  run: async (invocation, given) => {
    const { options, box } = invocation;
    const { stats, allocs, filter } = options;
    if (given === undefined && !options.self) {
      if (stats || allocs) throw new Stopped('--stats and --allocs are for one NODE', 2);
      const { items } = (await orThrow(box.nodes.list(optional('filter', filter)))).value;
      return print(invocation, items, nodesText);
    }
    if (filter !== undefined) throw new Stopped('--filter is for the list of nodes', 2);
    if (stats && allocs) throw new Stopped('give --stats or --allocs, not both', 2);
    const node = await chosenNode(invocation);
    if (stats) return print(invocation, await orThrow(box.nodes.stats({ nodeId: node.ID })), hostUsageText);
    if (allocs)
      return print(
        invocation,
        await existing(box.nodes.allocations(node.ID), `node ${node.ID}`),
        allocationsOnNodeText,
      );
    return print(invocation, node, nodeText);
  },
});

/** A table of nodes. */
export function nodesText(nodes: readonly NodeListStub[]): string {
  const rows = nodes.map((node) => [
    short(node.ID),
    node.NodePool,
    node.Datacenter,
    node.Name,
    node.NodeClass,
    `${node.Drain}`,
    node.SchedulingEligibility,
    node.Status,
  ]);
  const headings = ['ID', 'Pool', 'Datacenter', 'Name', 'Class', 'Drain', 'Eligibility', 'Status'];
  return tableOf(headings, rows, 'no nodes');
}

/** The node whose ID has the parameter as prefix, or the server's own. */
async function chosenNode(invocation: Invocation) {
  const [prefix] = invocation.parameters;
  const own = isGiven(invocation.options, 'self');
  if (own ? prefix !== undefined : prefix === undefined) throw new Stopped('name one NODE, or give --self', 2);
  if (!own) return nodeOf(invocation, prefix ?? '');
  const { stats } = await orThrow(invocation.box.system.agentSelf());
  const id = stats['client']?.['node_id'];
  if (id === undefined) throw new Stopped('--self needs exactly one node connected to the server: name the NODE');
  return nodeOf(invocation, id);
}

/** The only node whose ID has this prefix. */
async function nodeOf({ box }: Invocation, prefix: string) {
  const { value } = await orThrow(box.nodes.list({ prefix: queryPrefix(prefix) }));
  const { ID } = onlyMatch(value.items, prefix, 'node');
  return existing(box.nodes.read(ID), `node ${prefix}`);
}

function nodeText(node: Awaited<ReturnType<typeof nodeOf>>): string {
  const drivers = Object.entries(node.Drivers ?? {}).filter(([, { Healthy }]) => Healthy);
  return facts({
    ID: node.ID,
    Name: node.Name,
    Class: node.NodeClass,
    Pool: node.NodePool,
    Datacenter: node.Datacenter,
    Eligibility: node.SchedulingEligibility,
    Status: node.Status,
    Description: node.StatusDescription,
    Drivers: drivers.map(([name]) => name).join(','),
  });
}

const eligibility = command({
  usage: 'node eligibility [NODE]',
  summary: 'make a node eligible or ineligible for new allocations',
  options: {
    enable: option.flag('eligible: it receives new allocations'),
    disable: option.flag('ineligible: it keeps its allocations and receives no new ones'),
    ...self,
  },
  run: async (invocation) => {
    const { enable, disable } = invocation.options;
    assertOneOf({ enable, disable });
    const { ID } = await chosenNode(invocation);
    const wanted = enable ? 'eligible' : 'ineligible';
    return confirm(invocation, invocation.box.nodes.setEligibility(ID, wanted), `node ${short(ID)} is ${wanted}`);
  },
});

/** Options that are valid with one of the actions only. */
const drainOptions = {
  detach: { type: 'flag', of: 'enable', summary: 'do not wait until the node is empty' },
  deadline: {
    type: 'text',
    of: 'enable',
    value: 'DURATION',
    summary: 'after this time the remaining allocations are stopped (1h)',
  },
  'no-deadline': { type: 'flag', of: 'enable', summary: 'never stop the remaining allocations' },
  m: { type: 'text', of: 'enable', value: 'TEXT', summary: 'a message stored with the drain' },
  meta: { type: 'list', of: 'enable', value: 'KEY=VALUE', summary: 'metadata stored with the drain, may be repeated' },
  force: { type: 'flag', of: 'enable', summary: 'stop all allocations immediately' },
  'ignore-system': { type: 'flag', of: 'enable', summary: 'keep the allocations of system jobs' },
  'keep-ineligible': {
    type: 'flag',
    of: 'disable',
    summary: 'with --disable: the node stays ineligible for new allocations',
  },
} as const;

function isGiven(options: Readonly<Record<string, unknown>>, name: string): boolean {
  const value = options[name];
  return value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);
}

const drain = command({
  usage: 'node drain [NODE]',
  summary: 'drain a node: move its allocations to other nodes and wait until it is empty; or end its drain',
  options: {
    enable: option.flag('start the drain'),
    disable: option.flag('end the drain and make the node eligible again'),
    monitor: option.flag('only show the progress of a drain'),
    ...self,
    ...yes,
    ...drainOptions,
  },
  run: async (invocation) => {
    const { options, box, json } = invocation;
    const { enable, disable, monitor } = options;
    assertOneOf({ enable, disable, monitor });
    for (const [option, { of }] of Object.entries(drainOptions)) {
      if (isGiven(options, option) && !options[of]) throw new Stopped(`--${option} is for --${of}`, 2);
    }
    const spec = { Deadline: deadlineOf(options), IgnoreSystemJobs: options['ignore-system'] };
    const meta = { ...pairs('meta', options.meta), ...optional('message', options.m) };
    const { ID } = await chosenNode(invocation);
    if (monitor) return followDrain(invocation, ID);
    const order = () => box.nodes.drain(ID, enable ? { spec, meta } : { markEligible: !options['keep-ineligible'] });
    if (disable) return confirm(invocation, order(), `node ${short(ID)} is no longer draining`);
    if (options.detach || json) return confirm(invocation, order(), `node ${short(ID)} is draining`);
    const { value: ordered } = await orThrow(box.nodes.allocations(ID));
    await orThrow(order());
    return followDrain(invocation, ID, ordered ?? []);
  },
});

interface Deadlines {
  readonly deadline: string | undefined;
  readonly force: boolean;
  readonly 'no-deadline': boolean;
}

/** In nanoseconds; negative: stop everything immediately; 0: no deadline. */
function deadlineOf({ deadline, force, 'no-deadline': none }: Deadlines): number {
  if ([deadline !== undefined, force, none].filter(Boolean).length > 1) {
    throw new Stopped('give one of --deadline, --no-deadline, --force', 2);
  }
  if (none) return 0;
  return force ? -1 : nanoseconds(deadline ?? '1h');
}

function assertOneOf(flags: Readonly<Record<string, boolean>>): void {
  const names = Object.keys(flags).map((name) => `--${name}`);
  if (Object.values(flags).filter(Boolean).length !== 1) throw new Stopped(`give one of ${names.join(', ')}`, 2);
}

function nanoseconds(text: string): number {
  const duration = parseDuration(text);
  if (duration === undefined) throw new Stopped(`--deadline takes a duration such as 30m, not ${text.slice(0, 40)}`, 2);
  return Number(duration);
}

export const nodeCommands: readonly Command[] = [status, eligibility, drain];

/**
 * Shows the progress of a drain until it ends. Returns the exit code: 1 if the drain was cancelled.
 * `ordered`: the node's allocations at the start of the drain, if this command started it.
 */
async function followDrain(
  invocation: Invocation,
  nodeId: string,
  ordered?: readonly DrainedAllocation[],
): Promise<number> {
  const { box, terminal, json } = invocation;
  const display = json ? noDisplay : displayOn(terminal);
  let before: DrainView | undefined;
  const changes = changesOf(
    async (waiting) => {
      const { value, index } = await orThrow(box.nodes.read(nodeId, waiting));
      if (value === undefined) throw new Stopped(`node ${nodeId} no longer exists`);
      return { value, index };
    },
    async (waiting) => {
      const { value, index } = await orThrow(box.nodes.allocations(nodeId, waiting));
      return { value: value ?? [], index };
    },
  );
  for await (const [node, allocations] of changes) {
    const view = { node, allocations };
    const [frame, news] = [drainFrame(view), drainNews(before, view, ordered)];
    before = view;
    if (isDraining(node)) {
      display.show(frame, news);
      continue;
    }
    display.end(frame, news);
    if (json) print(invocation, node, () => '');
    return wasCanceled(node) ? 1 : 0;
  }
  throw new Stopped(`cannot follow the drain of node ${nodeId}`);
}

const read = command({
  usage: 'node meta read NODE',
  summary: 'show the metadata of a node with its sources',
  run: async (invocation, node = '') => {
    const { box } = invocation;
    const { ID } = await nodeOf(invocation, node);
    return print(invocation, await orThrow(box.nodes.readMeta({ nodeId: ID })), metaText);
  },
});

const apply = command({
  usage: 'node meta apply NODE [KEY=VALUE...]',
  summary: 'set metadata of a node; constraints of jobs refer to it as ${meta.KEY}',
  options: { unset: option.list('KEY', 'remove this key, may be repeated') },
  run: async (invocation) => {
    const { box, options, parameters } = invocation;
    const [prefix = '', ...words] = parameters;
    if (words.length + options.unset.length === 0) throw new Stopped('give KEY=VALUE or --unset', 2);
    const removed = Object.fromEntries(options.unset.map((key) => [key, null]));
    const changes = { ...removed, ...namedValues(words) };
    const { ID } = await nodeOf(invocation, prefix);
    return print(invocation, await orThrow(box.nodes.applyMeta({ nodeId: ID, changes })), metaText);
  },
});

function namedValues(words: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    words.map((word) => {
      const equals = word.indexOf('=');
      if (equals < 1) throw new Stopped(`expected KEY=VALUE, not ${JSON.stringify(word.slice(0, 40))}`, 2);
      return [word.slice(0, equals), word.slice(equals + 1)];
    }),
  );
}

function metaText({ Meta, Dynamic, Static }: NodeMetadata): string {
  const names = [...new Set([...Object.keys(Static), ...Object.keys(Dynamic)])].sort();
  const rows = names.map((name) => {
    if (!Object.hasOwn(Dynamic, name)) return [name, Meta[name] ?? '', 'agent'];
    return Dynamic[name] === null ? [name, '', 'agent, hidden'] : [name, Meta[name] ?? '', 'applied'];
  });
  return tableOf(['Name', 'Value', 'From'], rows, 'the node has no metadata');
}

export const nodeMetaCommands: readonly Command[] = [read, apply];
