import type { HostUsage } from '../../agent/link/node-command.js';
import type { Job } from '../../jobs/document/job.js';
import type { ChangedNode } from '../../operations/nodes/drain-and-eligibility.js';
import type { EvaluatedNode } from '../../operations/nodes/evaluate-node.js';
import type { AllocationDocument } from '../../scheduler/allocation-views.js';
import type { NodeMetadata } from '../../scheduler/nodes/node-metadata.js';
import { inArea } from '../access.js';
import { type AnswerForm, computed, listSchema, nothing, type StoredRow, shown, written } from '../answers.js';
import { readServer, writeServer } from '../call.js';
import { commandErrors, eitherOf, inBody, inPath, inQuery, required } from '../inputs.js';
import {
  jsonBoolean,
  jsonInteger,
  jsonName,
  jsonObject,
  jsonText,
  jsonTextMap,
  jsonTextsOrNulls,
  member,
  namedSchema,
} from '../json-codecs.js';
import { boolean, type TextCodec, text } from '../text-codecs.js';

const nodeId = inPath('node_id', text);

const enableDescription =
  'Form of old clients, without a body: true stops all allocations immediately, false ends the drain';

/** The value of a parameter that does not set this input. */
function notGiven<T>(): T {
  return undefined as T;
}

/** `enable=true` of old clients: a drain that stops all allocations immediately. */
const enabledDrain: TextCodec<{ readonly Deadline: number }> = {
  schema: boolean.schema,
  parse: (written, name) =>
    boolean.parse(written, name).map((enabled) => (enabled ? { Deadline: -1_000_000_000 } : notGiven())),
  print: () => 'true',
};

/** `enable=false` of old clients makes the node eligible again. */
const disabledDrain: TextCodec<boolean> = {
  ...boolean,
  parse: (written, name) => boolean.parse(written, name).map((enabled) => (enabled ? notGiven() : true)),
  print: () => 'false',
};

/** On the wire, an empty list of evaluations is `null`. */
function changedNode(constants: Readonly<Record<string, unknown>> = {}): AnswerForm<ChangedNode, ChangedNode> {
  const names = {
    evalIds: 'EvalIDs',
    evalCreateIndex: 'EvalCreateIndex',
    nodeModifyIndex: 'NodeModifyIndex',
    index: 'Index',
  } as const;
  const form = written<ChangedNode>('ChangedNode', names, constants);
  return {
    ...form,
    toWire: (value, input) =>
      form.toWire(value.evalIds.length > 0 ? value : { ...value, evalIds: null as unknown as string[] }, input),
  };
}

/** Members that only server-to-server traffic uses. */
const registration = {
  HeartbeatTTL: 0,
  Features: 0,
  KnownLeader: false,
  LastContact: 0,
  NextToken: '',
} as const;

/** The same, with the server addresses for agents; node identities are not issued. */
const evaluatedNode: AnswerForm<EvaluatedNode, EvaluatedNode> = {
  status: 200,
  schema: namedSchema('EvaluatedNode'),
  toClient: (value) => value,
  toWire: ({ eligibility, nodeCount, server, datacenter, ...changed }, input) =>
    changedNode({
      ...registration,
      SchedulingEligibility: eligibility,
      NumNodes: nodeCount,
      LeaderRPCAddr: server,
      Servers: [{ RPCAdvertiseAddr: server, RPCMajorVersion: 0, RPCMinorVersion: 0, Datacenter: datacenter }],
      SignedIdentity: null,
    }).toWire(changed, input),
  indexOf: ({ index }) => index,
};

/** An allocation with the stored job version that it runs. */
export interface NodeAllocation {
  readonly document: AllocationDocument;
  readonly job: StoredRow<Job> | undefined;
}

/** Actions on nodes. */
export const nodeActionCalls = {
  /** The allocations of the node, including ended ones that are still kept. */
  allocations: readServer({
    path: '/v1/node/{node_id}/allocations',
    access: inArea('node', 'read'),
    summary: 'The allocations of a node, each with the job that it runs',
    args: ['nodeId'],
    inputs: { nodeId },
    answer: shown(listSchema('Allocation'), (rows: readonly NodeAllocation[]) =>
      rows.map(({ document, job }) => ({
        ...(job === undefined ? {} : { Job: job.record }),
        ...document,
      })),
    ),
  }),

  /** Sets whether a node is eligible for new allocations. */
  setEligibility: writeServer({
    path: '/v1/node/{node_id}/eligibility',
    access: inArea('node', 'write'),
    summary: 'Sets whether a node is eligible for new allocations',
    args: ['nodeId', 'eligibility'],
    inputs: { nodeId, eligibility: inBody('Eligibility', jsonText) },
    errors: ['node_not_found', 'node_refused'],
    answer: changedNode({ NodeModifyIndex: 0 }),
  }),

  /** Drains a node; a null spec ends the drain. */
  drain: writeServer({
    path: '/v1/node/{node_id}/drain',
    access: inArea('node', 'write'),
    summary: 'Drains a node; without a spec the drain ends',
    optionalBody: { withParameter: 'enable' },
    args: ['nodeId'],
    inputs: {
      nodeId,
      spec: eitherOf(
        inBody(
          'DrainSpec',
          jsonObject({
            Deadline: member('Deadline', jsonInteger),
            IgnoreSystemJobs: member('IgnoreSystemJobs', jsonBoolean),
          }),
        ),
        inQuery('enable', enabledDrain, enableDescription),
      ),
      markEligible: eitherOf(inBody('MarkEligible', jsonBoolean), inQuery('enable', disabledDrain, enableDescription)),
      meta: inBody('Meta', jsonTextMap),
    },
    errors: ['node_not_found', 'node_refused'],
    answer: changedNode(),
  }),

  /** Creates evaluations of all jobs that the node affects. */
  evaluate: writeServer({
    path: '/v1/node/{node_id}/evaluate',
    access: inArea('node', 'write'),
    summary: 'Creates evaluations of all jobs that the node affects',
    args: ['nodeId'],
    inputs: { nodeId },
    errors: ['node_not_found'],
    answer: evaluatedNode,
  }),

  /** Removes a node; its allocations are lost. */
  purge: writeServer({
    path: '/v1/node/{node_id}/purge',
    access: inArea('node', 'write'),
    summary: 'Removes a node; its allocations are lost and replaced on other nodes',
    args: ['nodeId'],
    inputs: { nodeId },
    errors: ['node_not_found'],
    answer: changedNode(registration),
  }),
} as const;

function hostUsageOnTheWire({ memory, processors, disk, uptime, at }: HostUsage): unknown {
  const { total, available } = memory;
  // Without a folder zeros: clients read the members without checking.
  const { folder, size, available: free } = disk ?? { folder: '', size: 0, available: 0 };
  const diskDocument = {
    Device: '',
    Mountpoint: folder,
    Size: size,
    Used: size - free,
    Available: free,
    UsedPercent: size === 0 ? 0 : (100 * (size - free)) / size,
    InodesUsedPercent: 0,
  };
  return {
    Memory: { Total: total, Available: available, Used: total - available, Free: available },
    CPU: processors.map(({ user, system, idle, megahertz }, number) => ({
      CPU: `cpu${number}`,
      User: user,
      System: system,
      Idle: idle,
      TotalPercent: user + system,
      TotalTicks: ((user + system) / 100) * megahertz,
    })),
    DiskStats: disk === null ? [] : [diskDocument],
    AllocDirStats: diskDocument,
    DeviceStats: [],
    Uptime: uptime,
    CPUTicksConsumed: processors.reduce(
      (sum, { user, system, megahertz }) => sum + ((user + system) / 100) * megahertz,
      0,
    ),
    Timestamp: at * 1_000_000,
  };
}

/** Commands for whole nodes. */
export const nodeCommandCalls = {
  /** The current resource usage of a host. */
  stats: writeServer({
    path: '/v1/client/stats',
    methods: ['GET'],
    access: inArea('node', 'read'),
    summary: 'The current resource usage of a host: memory, processors, the disk of its allocations',
    inputs: { nodeId: inQuery('node_id', text, 'The node; default: the only node connected to this server') },
    errors: commandErrors,
    answer: computed<HostUsage>('HostUsage', hostUsageOnTheWire),
  }),

  /** Removes the folders of all ended allocations from a node, with the logs. */
  collect: writeServer({
    path: '/v1/client/gc',
    methods: ['PUT', 'POST', 'GET'],
    access: inArea('node', 'write'),
    summary: 'Removes the folders of all ended allocations from a node, with the logs',
    inputs: { nodeId: inQuery('node_id', text, 'The node; default: all nodes connected to this server') },
    errors: commandErrors,
    answer: nothing(200),
  }),
} as const;

const nodeInQuery = inQuery('node_id', text, 'The node; default: the only node connected to this server');

/** Dynamic node metadata: names and values for constraints, in addition to those of the agent. */
export const nodeMetadataCalls = {
  /** The metadata of a node: effective, set dynamically, and reported by its agent. */
  readMeta: writeServer({
    path: '/v1/client/metadata',
    methods: ['GET'],
    access: inArea('node', 'read'),
    summary: 'The metadata of a node: effective, set dynamically, and reported by its agent',
    inputs: { nodeId: nodeInQuery },
    errors: ['node_not_found', 'node_refused'],
    answer: computed<NodeMetadata>('NodeMetadata'),
  }),

  /** Sets and removes metadata of a node; removing a value reported by the agent only hides it. */
  applyMeta: writeServer({
    path: '/v1/client/metadata',
    methods: ['POST', 'PUT'],
    access: inArea('node', 'write'),
    summary: 'Sets metadata of a node, and removes names with a null value',
    inputs: {
      nodeId: eitherOf(nodeInQuery, inBody('NodeID', jsonName)),
      changes: required(inBody('Meta', jsonTextsOrNulls)),
    },
    errors: ['node_not_found', 'node_refused'],
    answer: computed<NodeMetadata>('NodeMetadata'),
  }),
} as const;
