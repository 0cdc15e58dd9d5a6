import { orThrow } from '../../../src/client/index.js';
import { parseDuration } from '../../../src/hcl/index.js';
import { type Command, command, type Invocation } from '../command-line/command.js';
import { facts, short, tableOf } from '../output/columns.js';
import { Stopped } from '../stopped.js';
import { followDrain } from './follow-drain.js';
import { askedBeginning, found, theOnly } from './found.js';
import { confirm, print } from './print.js';

const status = command({
  words: 'node status',
  parameters: '[NODE]',
  summary: 'the nodes, or one node',
  options: {},
  run: async (invocation) => {
    const [prefix] = invocation.parameters;
    if (prefix !== undefined) return print(invocation, await nodeOf(invocation, prefix), nodeText);
    const { items } = (await orThrow(invocation.box.nodes.list())).value;
    return print(invocation, items, nodesText);
  },
});

interface ListedNode {
  readonly ID: string;
  readonly NodePool: string;
  readonly Datacenter: string;
  readonly Name: string;
  readonly NodeClass: string;
  readonly Drain: boolean;
  readonly SchedulingEligibility: string;
  readonly Status: string;
}

/** A table of nodes. */
export function nodesText(nodes: readonly ListedNode[]): string {
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

/** The node whose ID begins so. */
export async function nodeOf({ box }: Invocation, prefix: string) {
  const { value } = await orThrow(box.nodes.list({ prefix: askedBeginning(prefix) }));
  const { ID } = theOnly(value.items, prefix, 'node');
  return found(box.nodes.read(ID), `node ${prefix}`);
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
  words: 'node eligibility',
  parameters: 'NODE',
  summary: 'let a node take new allocations, or not',
  options: {
    enable: { type: 'flag', summary: 'it takes new ones' },
    disable: { type: 'flag', summary: 'it keeps what it has and takes nothing new' },
  },
  run: async (invocation) => {
    const { enable, disable } = invocation.options;
    assertOneOf({ enable, disable });
    const { ID } = await nodeOf(invocation, invocation.parameters[0] ?? '');
    const wanted = enable ? 'eligible' : 'ineligible';
    return confirm(invocation, invocation.box.nodes.setEligibility(ID, wanted), `node ${short(ID)} is ${wanted}`);
  },
});

/** What belongs to one of the orders alone. */
const drainOptions = {
  detach: { type: 'flag', of: 'enable', summary: 'do not wait until the node is empty' },
  deadline: { type: 'text', of: 'enable', value: 'DURATION', summary: 'what is still there then is stopped (1h)' },
  force: { type: 'flag', of: 'enable', summary: 'stop everything at once' },
  'ignore-system': { type: 'flag', of: 'enable', summary: 'leave the allocations of system jobs' },
  'keep-ineligible': { type: 'flag', of: 'disable', summary: 'with --disable: nothing new all the same' },
} as const;

function isGiven(options: Readonly<Record<string, unknown>>, name: string): boolean {
  return options[name] !== undefined && options[name] !== false;
}

const drain = command({
  words: 'node drain',
  parameters: 'NODE',
  summary: 'move everything away from a node, or end that; waits until the node is empty',
  options: {
    enable: { type: 'flag', summary: 'begin' },
    disable: { type: 'flag', summary: 'end, and let it take new allocations' },
    monitor: { type: 'flag', summary: 'only show how a drain goes on' },
    ...drainOptions,
  },
  run: async (invocation) => {
    const { options, parameters, box, json } = invocation;
    const { enable, disable, monitor } = options;
    assertOneOf({ enable, disable, monitor });
    for (const [option, { of }] of Object.entries(drainOptions)) {
      if (isGiven(options, option) && !options[of]) throw new Stopped(`--${option} is for --${of}`, 2);
    }
    const spec = {
      Deadline: options.force ? -1 : nanoseconds(options.deadline ?? '1h'),
      IgnoreSystemJobs: options['ignore-system'],
    };
    const { ID } = await nodeOf(invocation, parameters[0] ?? '');
    if (monitor) return followDrain(invocation, ID);
    const order = box.nodes.drain(ID, enable ? { spec } : { markEligible: !options['keep-ineligible'] });
    if (disable) return confirm(invocation, order, `node ${short(ID)} drains no more`);
    if (options.detach || json) return confirm(invocation, order, `node ${short(ID)} drains`);
    await orThrow(order);
    return followDrain(invocation, ID);
  },
});

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
