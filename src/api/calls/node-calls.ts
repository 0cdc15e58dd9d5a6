import type { Job } from '../../jobs/document/job.js';
import type { ChangedNode } from '../../operations/nodes/change-node.js';
import type { EvaluatedNode } from '../../operations/nodes/evaluate-node.js';

import type { AllocationDocument } from '../../scheduler/allocation-document.js';
import { inArea } from '../access.js';
import { type AnswerForm, listSchema, type StoredRow, shown, written } from '../answers.js';
import { readServer, writeServer } from '../call.js';
import { eitherOf, inBody, inPath, inQuery } from '../inputs.js';
import { jsonBoolean, jsonInteger, jsonObject, jsonText, jsonTextMap, member, namedSchema } from '../json-codecs.js';
import { strictBoolean, type TextCodec, text } from '../text-codecs.js';

const nodeId = inPath('node_id', text);

const enableDescription =
  'Form of old clients, without a body: true stops all allocations immediately, false ends the drain';

/** The value of a parameter that does not set this input. */
function notGiven<T>(): T {
  return undefined as T;
}

/** `enable=true` of old clients: a drain that stops all allocations immediately. */
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
