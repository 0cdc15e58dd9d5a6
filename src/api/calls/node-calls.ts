import type { Job } from '../../jobs/document/job.js';
import type { ChangedNode, EvaluatedNode } from '../../operations/nodes/index.js';
import type { AllocationDocument } from '../../scheduler/allocation-document.js';
import type { ReadNodePool } from '../../scheduler/node-pool.js';
import type { SchedulerConfiguration } from '../../scheduler/scheduler-configuration.js';
import { anyCaller, inArea, onNodePool } from '../access.js';
import {
  type AnswerForm,
  done,
  found,
  type Indexed,
  listSchema,
  page,
  type StoredRow,
  shown,
  written,
} from '../answers.js';
import { readServer, writeServer } from '../call.js';
import { filterFaults, nodeDetails, pageInputs } from '../common-inputs.js';
import { eitherOf, inBody, inPath, inQuery, repeatedInBody, required } from '../inputs.js';
import {
  jsonBoolean,
  jsonDurationText,
  jsonInteger,
  jsonObject,
  jsonText,
  jsonTextMap,
  jsonUnsigned,
  member,
} from '../json-codecs.js';
import { namedSchema } from '../json-schema.js';
import { nodePage } from '../node-documents.js';
import { strictBoolean, type TextCodec, text, unsigned } from '../text-codecs.js';

const nodeId = inPath('node_id', text);
const poolName = inPath('name', text);

const enableDescription =
  'Spelling of old clients, without a body: true stops everything at once, false ends the drain';

/** A parameter that says nothing about this input. */
function notGiven<T>(): T {
  return undefined as T;
}

/** What `enable=true` of old clients asks for: a drain without a deadline to wait for. */
const enabledDrain: TextCodec<{ readonly Deadline: number }> = {
  schema: strictBoolean.schema,
  parse: (written, name) =>
    strictBoolean.parse(written, name).map((enabled) => (enabled ? { Deadline: -1_000_000_000 } : notGiven())),
  print: () => 'true',
};

/** `enable=false` of old clients makes the node eligible again. */
const disabledDrain: TextCodec<boolean> = {
  ...strictBoolean,
  parse: (written, name) => strictBoolean.parse(written, name).map((enabled) => (enabled ? notGiven() : true)),
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
  /** What is or was on the node and is still kept. */
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

  /** Lets a node take new allocations, or not. */
  setEligibility: writeServer({
    path: '/v1/node/{node_id}/eligibility',
    access: inArea('node', 'write'),
    summary: 'Lets a node take new allocations, or not',
    args: ['nodeId', 'eligibility'],
    inputs: { nodeId, eligibility: inBody('Eligibility', jsonText) },
    errors: ['node_not_found', 'node_refused'],
    answer: changedNode({ NodeModifyIndex: 0 }),
  }),

  /** Empties a node; a spec of null ends that. */
  drain: writeServer({
    path: '/v1/node/{node_id}/drain',
    access: inArea('node', 'write'),
    summary: 'Empties a node; without a spec the drain ends',
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

  /** Has the scheduler look at every job that the node concerns. */
  evaluate: writeServer({
    path: '/v1/node/{node_id}/evaluate',
    access: inArea('node', 'write'),
    summary: 'Has the scheduler look at every job that the node concerns',
    args: ['nodeId'],
    inputs: { nodeId },
    errors: ['node_not_found'],
    answer: evaluatedNode,
  }),

  /** Removes a node; what ran on it is lost. */
  purge: writeServer({
    path: '/v1/node/{node_id}/purge',
    access: inArea('node', 'write'),
    summary: 'Removes a node; what ran on it is lost and placed elsewhere',
    args: ['nodeId'],
    inputs: { nodeId },
    errors: ['node_not_found'],
    answer: changedNode(registration),
  }),
} as const;

const poolContent = {
  description: inBody('Description', jsonText),
  meta: inBody('Meta', jsonTextMap),
  schedulerConfiguration: inBody(
    'SchedulerConfiguration',
    jsonObject({
      SchedulerAlgorithm: member('SchedulerAlgorithm', jsonText),
      MemoryOversubscriptionEnabled: member('MemoryOversubscriptionEnabled', jsonBoolean),
    }),
  ),
  nodeIdentityTtl: inBody('NodeIdentityTTL', jsonDurationText),
} as const;

/** Node pools: sets of nodes that jobs choose by name. */
export const nodePoolCalls = {
  list: readServer({
    path: '/v1/node/pools',
    access: anyCaller,
    summary: 'The node pools that the caller may read, by name',
    inputs: { ...pageInputs, prefix: inQuery('prefix', text, 'Only names that begin with this') },
    errors: filterFaults,
    answer: page<ReadNodePool>('NodePool'),
  }),

  read: readServer({
    path: '/v1/node/pool/{name}',
    access: onNodePool('read'),
    summary: 'One node pool',
    args: ['name'],
    inputs: { name: poolName },
    answer: found<ReadNodePool | undefined>('NodePool'),
    absent: 'node pool not found',
  }),

  nodes: readServer({
    path: '/v1/node/pool/{name}/nodes',
    access: inArea('node', 'read'),
    summary: 'The nodes of a pool, by ID',
    args: ['name'],
    inputs: {
      name: poolName,
      filter: pageInputs.filter,
      perPage: pageInputs.perPage,
      nextToken: pageInputs.nextToken,
      reverse: pageInputs.reverse,
      ...nodeDetails,
    },
    errors: [...filterFaults, 'node_pool_not_found'],
    statuses: { node_pool_not_found: 404 },
    answer: nodePage,
  }),

  /** Makes a pool, or changes it; what is left out is cleared. */
  put: writeServer({
    path: '/v1/node/pools',
    access: onNodePool('write'),
    summary: 'Makes a node pool, or changes it; what is left out is cleared',
    args: ['name'],
    inputs: { name: required(inBody('Name', jsonText)), ...poolContent },
    errors: ['invalid_node_pool', 'node_pool_not_found', 'node_pool_in_use'],
    answer: done(),
  }),

  putNamed: writeServer({
    path: '/v1/node/pool/{name}',
    access: onNodePool('write'),
    summary: 'The same for the pool of the path',
    args: ['name'],
    inputs: { name: repeatedInBody(poolName, { name: 'Name', required: true, what: 'name' }), ...poolContent },
    errors: ['invalid_node_pool', 'node_pool_not_found', 'node_pool_in_use'],
    answer: done(),
  }),

  remove: writeServer({
    methods: ['DELETE'],
    path: '/v1/node/pool/{name}',
    access: onNodePool('delete'),
    summary: 'Removes a node pool that holds no node and no living job',
    args: ['name'],
    inputs: { name: poolName },
    errors: ['invalid_node_pool', 'node_pool_not_found', 'node_pool_in_use'],
    answer: done(),
  }),
} as const;

const metadata = { LastContact: 0, KnownLeader: true, NextToken: '' } as const;

/** The configuration; on the wire wrapped in an object. */
const configuration: AnswerForm<Indexed<SchedulerConfiguration>, Indexed<SchedulerConfiguration>> = {
  schema: namedSchema('SchedulerConfigurationAnswer'),
  status: 200,
  toClient: (answer) => answer,
  toWire: ({ index, value }) => JSON.stringify({ SchedulerConfig: value, Index: index, ...metadata }),
  indexOf: ({ index }) => index,
};

const preemption = {
  SystemSchedulerEnabled: member('SystemSchedulerEnabled', jsonBoolean),
  SysBatchSchedulerEnabled: member('SysBatchSchedulerEnabled', jsonBoolean),
  BatchSchedulerEnabled: member('BatchSchedulerEnabled', jsonBoolean),
  ServiceSchedulerEnabled: member('ServiceSchedulerEnabled', jsonBoolean),
} as const;

/** Scheduler configuration of the whole installation. */
export const schedulerCalls = {
  readConfiguration: readServer({
    path: '/v1/operator/scheduler/configuration',
    access: inArea('operator', 'read'),
    summary: 'How placements are chosen in the whole installation',
    inputs: {},
    answer: configuration,
  }),

  /** Replaces the configuration; what is left out is set to its default. */
  setConfiguration: writeServer({
    path: '/v1/operator/scheduler/configuration',
    access: inArea('operator', 'write'),
    summary: 'Replaces the configuration of the scheduler; what is left out is set to its default',
    inputs: {
      checkIndex: inQuery('cas', unsigned('Error parsing cas value'), 'Only when it was last changed at this index'),
      SchedulerAlgorithm: inBody('SchedulerAlgorithm', jsonText),
      PreemptionConfig: inBody('PreemptionConfig', jsonObject(preemption)),
      MemoryOversubscriptionEnabled: inBody('MemoryOversubscriptionEnabled', jsonBoolean),
      RejectJobRegistration: inBody('RejectJobRegistration', jsonBoolean),
      PauseEvalBroker: inBody('PauseEvalBroker', jsonBoolean),
      NodeLimitForFeasibilityChecks: inBody('NodeLimitForFeasibilityChecks', jsonUnsigned),
    },
    errors: ['invalid_request'],
    answer: written<{ readonly updated: boolean; readonly index: number }>('UpdatedConfiguration', {
      updated: 'Updated',
      index: 'Index',
    }),
  }),
} as const;
