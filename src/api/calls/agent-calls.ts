import type {
  AgentProcess,
  AllocationReport,
  NodeDescription,
  NodeWorkList,
  TaskVariables,
  TaskVariablesQuery,
} from '../../agent/link/node-work.js';
import { nodeAgent } from '../access.js';
import { computed, done, found } from '../answers.js';
import { readServer, socketServer, writeServer } from '../call.js';
import { inBody, inPath, inQuery, required } from '../inputs.js';
import { jsonDocument, jsonTexts, namedSchema } from '../json-codecs.js';
import { name, text } from '../text-codecs.js';

const nodeId = inPath('node_id', text);
const instance = inQuery('instance', name, 'The calling process: the value given at the registration of the node');

/** The answer to a node's agent: the time until its next heartbeat is due, in milliseconds. */
export interface Heard {
  readonly heartbeatTtl: number;
}

/**
 * Calls of a node's agent to its server, with the node's own token. Only agents make these calls: their documents
 * have the same form on the wire and in the client.
 */
export const agentCalls = {
  /** Registers the node, or updates its description, and makes it ready. */
  register: writeServer({
    path: '/v1/node/{node_id}/agent/register',
    access: nodeAgent,
    summary: 'Registers a node, or updates its description, and makes it ready',
    args: ['nodeId', 'node'],
    inputs: {
      nodeId,
      node: required(
        inBody(
          'node',
          jsonDocument<NodeDescription>(() => namedSchema('AgentNode')),
        ),
      ),
      agent: inBody(
        'agent',
        jsonDocument<AgentProcess>(() => namedSchema('AgentProcess')),
      ),
    },
    errors: ['claim_refused', 'node_taken', 'invalid_request'],
    answer: computed<Heard & { readonly index: number }>('AgentRegistered'),
  }),

  /** Sends a heartbeat. */
  heartbeat: writeServer({
    path: '/v1/node/{node_id}/agent/heartbeat',
    access: nodeAgent,
    summary: 'Sends a heartbeat of a node',
    args: ['nodeId'],
    inputs: { nodeId, instance },
    errors: ['node_not_found'],
    answer: computed<Heard>('AgentHeard'),
  }),

  /** The allocations of the node, or with an index the changes since. */
  work: readServer({
    path: '/v1/node/{node_id}/agent/work',
    access: nodeAgent,
    summary: 'The allocations of a node, or with an index the changes since',
    args: ['nodeId'],
    inputs: { nodeId, instance },
    errors: ['node_not_found'],
    answer: found<NodeWorkList>('AgentWork'),
  }),

  /** The variables that a task of the node may read. With `known`, waits up to half a minute for a change. */
  variables: writeServer({
    path: '/v1/node/{node_id}/agent/variables',
    access: nodeAgent,
    summary: 'The variables that the templates of a task on a node use, with the rights of the task',
    args: ['nodeId', 'query'],
    inputs: {
      nodeId,
      query: required(
        inBody(
          'query',
          jsonDocument<Omit<TaskVariablesQuery, 'nodeId' | 'instance'>>(() => namedSchema('AgentVariablesQuery')),
        ),
      ),
      instance,
    },
    errors: [
      'claim_refused',
      'node_not_found',
      'invalid_request',
      'command_invalid',
      'command_not_found',
      'command_failed',
    ],
    answer: computed<TaskVariables>('AgentVariables'),
  }),

  /** Reports the state of allocations of the node. */
  report: writeServer({
    path: '/v1/node/{node_id}/agent/report',
    access: nodeAgent,
    summary: "Reports the state of a node's allocations; returns those that do not belong to it",
    args: ['nodeId', 'reports'],
    inputs: {
      nodeId,
      reports: required(
        inBody(
          'reports',
          jsonDocument<readonly AllocationReport[]>(() => namedSchema('AgentReports')),
        ),
      ),
      ended: inBody('ended', jsonTexts),
      kept: inBody('kept', jsonTexts),
      instance,
    },
    errors: ['node_not_found', 'invalid_request'],
    answer: computed<{ readonly index: number; readonly unknown: readonly string[] }>('AgentReported'),
  }),

  /** The node will not return: it is marked down, and its allocations are replaced immediately. */
  leave: writeServer({
    path: '/v1/node/{node_id}/agent/leave',
    access: nodeAgent,
    summary: 'Marks a node down whose agent will not return',
    args: ['nodeId'],
    inputs: { nodeId, instance },
    errors: ['node_not_found'],
    answer: done(),
  }),

  /** Opens a connection over which the server sends commands for the node's allocations. */
  commands: socketServer({
    path: '/v1/node/{node_id}/agent/commands',
    access: nodeAgent,
    summary: 'Opens a connection over which the server sends commands for the allocations of a node',
    args: ['nodeId'],
    inputs: { nodeId, instance },
    answer: computed<unknown>('AgentFrame'),
  }),
} as const;
