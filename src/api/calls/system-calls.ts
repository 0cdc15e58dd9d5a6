import type {
  AgentProcess,
  AllocationReport,
  NodeDescription,
  NodeWorkList,
  TaskVariables,
  TaskVariablesQuery,
} from '../../agent/link/node-work.js';
import type { LogEntry } from '../../operations/context/log-feed.js';
import type { TimeSeries } from '../../operations/context/series.js';
import type { AgentMembers, AgentSelf, RaftConfiguration } from '../../operations/store/describe-agent.js';
import type { Metrics } from '../../operations/store/read-metrics.js';
import type { StoreStatus } from '../../operations/store/store-figures.js';
import { byOperation, everybody, inArea, nodeAgent } from '../access.js';
import { type AnswerForm, computed, done, found } from '../answers.js';
import { readServer, socketServer, streamServer, system, writeServer } from '../call.js';
import { inBody, inPath, inQuery, required } from '../inputs.js';
import { jsonDocument, jsonTexts, namedSchema } from '../json-codecs.js';
import { base64From, boolean, bytesFromBase64, name, text, word } from '../text-codecs.js';

const encoder = new TextEncoder();

/** An entry as a line: time, level, message, and its fields as `name=value`; or as one JSON object. */
function logLine(entry: LogEntry, json: boolean): Uint8Array {
  return encoder.encode((json ? jsonText(entry) : plainText(entry)) + '\n');
}

/** The line in a frame, as clients of streams read them. */
function logFrame(entry: LogEntry, json: boolean): string {
  return JSON.stringify({ Data: base64From(logLine(entry, json)) });
}

/** The line of a frame; undefined for any other value. */
function lineOfFrame(frame: unknown): Uint8Array | undefined {
  const { Data } = frame as { readonly Data?: unknown };
  return typeof Data === 'string' ? bytesFromBase64(Data) : undefined;
}

function jsonText({ at, level, message, fields }: LogEntry): string {
  return printed({ ...fields, '@level': level, '@message': message, '@timestamp': new Date(at).toISOString() });
}

function plainText({ at, level, message, fields }: LogEntry): string {
  const values = Object.entries(fields).map(([name, value]) => ` ${name}=${valueText(value)}`);
  const head = `${new Date(at).toISOString()} [${level.toUpperCase()}]`.padEnd(longestHead);
  return `${head} ${oneLine(message)}${values.length === 0 ? '' : ':'}${values.join('')}`;
}

const longestHead = '2000-01-01T00:00:00.000Z [ERROR]'.length;

/** Values with spaces or line terminators are quoted. */
function valueText(value: unknown): string {
  if (typeof value !== 'string') return printed(value);
  return /^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value);
}

/** An entry is always one line of bounded length. */
function printed(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, longestValue);
  } catch {
    return '"unprintable"';
  }
}

const longestValue = 8192;

function oneLine(message: string): string {
  return message.replaceAll(/[\u0000-\u001f\u007f]+/g, ' ');
}

/** A health status; the message describes the failure. */
export interface Health {
  readonly ok: boolean;
  readonly message: string;
}

/** The two parts of a server: the control plane, and the runner on this host. */
export interface AgentHealth {
  readonly server?: Health;
  readonly client?: Health;
}

const ready: AnswerForm<Health, Health> = {
  ...computed<Health>('Health'),
  statusOf: ({ ok }) => (ok ? 200 : 503),
  otherStatuses: [503],
};

const agentHealth: AnswerForm<AgentHealth, AgentHealth> = {
  ...computed<AgentHealth>('AgentHealth'),
  statusOf: ({ server, client }) => (server?.ok === false || client?.ok === false ? 500 : 200),
  otherStatuses: [500],
};

/** The content type of the Prometheus text format. */
const prometheusType = 'text/plain; version=0.0.4; charset=utf-8';

const metrics: AnswerForm<Metrics | string, Metrics | string> = {
  ...computed<Metrics | string>('Metrics'),
  toWire: (value) => (typeof value === 'string' ? value : JSON.stringify(value)),
  otherContentType: prometheusType,
  contentTypeOf: (value) => (typeof value === 'string' ? prometheusType : undefined),
};

/** Clients get the lines as bytes; with `plain` over HTTP, in arbitrary chunks. */
const entries: AnswerForm<LogEntry, Uint8Array> = {
  schema: namedSchema('StreamFrame'),
  status: 200,
  toClient: (entry, input) => logLine(entry, input['json'] === true),
  fromWire: lineOfFrame,
  toWire: (entry, input) => logFrame(entry, input['json'] === true),
  toBytes: (entry, input) => logLine(entry, input['json'] === true),
  indexOf: () => undefined,
};

/** Information about the server itself. None of these calls reveals stored records. */
export const systemCalls = {
  /** Liveness: the process answers. */
  health: system({
    path: '/health',
    access: everybody,
    summary: 'Liveness: the process answers',
    inputs: {},
    answer: computed<Health>('Health'),
  }),

  /** Readiness: the store can be written. */
  ready: system({
    path: '/ready',
    access: everybody,
    summary: 'Readiness: the store can be written',
    inputs: {},
    answer: ready,
  }),

  /** Health of the control plane, and of the runner on this host. */
  agentHealth: system({
    methods: ['GET'],
    path: '/v1/agent/health',
    access: everybody,
    summary: 'Health of the control plane, and of the runner on this host',
    inputs: { type: inQuery('type', text, '`server` or `client`; default: both; none for other values') },
    answer: agentHealth,
  }),

  /** This server: version, address, statistics. */
  agentSelf: system({
    methods: ['GET'],
    path: '/v1/agent/self',
    access: inArea('agent', 'read'),
    summary: 'This server: version, address, statistics',
    inputs: {},
    answer: computed<AgentSelf>('AgentSelf'),
  }),

  /** The servers of the region: this one. */
  members: writeServer({
    methods: ['GET'],
    path: '/v1/agent/members',
    access: inArea('node', 'read'),
    summary: 'The servers of the region: this one',
    inputs: {},
    answer: computed<AgentMembers>('AgentMembers'),
  }),

  /** Addresses of the servers for agents: this one. */
  servers: system({
    methods: ['GET'],
    path: '/v1/agent/servers',
    access: inArea('agent', 'read'),
    summary: 'Addresses of the servers for agents: this one',
    inputs: {},
    answer: computed<readonly string[]>('Addresses'),
  }),

  /** The server's log, from now on. */
  monitor: streamServer({
    framing: 'joined',
    path: '/v1/agent/monitor',
    access: inArea('agent', 'read'),
    summary: "The server's log, from now on",
    inputs: {
      level: inQuery(
        'log_level',
        text,
        'The minimum level: `trace`, `debug`, `info`, `warn` or `error`; default: `info`',
      ),
      json: inQuery('log_json', boolean, 'Whether entries are JSON objects instead of lines'),
      plain: inQuery('plain', boolean, 'Whether to send raw lines without frames'),
      nodeId: inQuery('node_id', text, 'The node whose log to stream; a node that runs in this server shares its log'),
      serverId: inQuery('server_id', text, 'The server whose log to stream: the name of this server, or `leader`'),
    },
    errors: ['invalid_request', 'command_invalid', 'command_not_found', 'command_failed'],
    bytesWhen: 'plain',
    contentType: 'text/plain; charset=utf-8',
    answer: entries,
  }),

  /** Metrics: the state of the scheduler, and the observer's measurements; `prometheus` selects the Prometheus text format. */
  metrics: system({
    methods: ['GET'],
    path: '/v1/metrics',
    access: everybody,
    summary: 'Metrics, as JSON or in the Prometheus text format',
    inputs: { format: inQuery('format', word('json', 'prometheus'), '`json` or `prometheus`; default: `json`') },
    answer: metrics,
  }),

  /** What this process has measured over the last hour or day, in slots of time. */
  series: system({
    methods: ['GET'],
    path: '/v1/metrics/series',
    access: inArea('agent', 'read'),
    summary: 'What this process has measured: the last hour in slots of 10 s, or the last day in slots of 5 min',
    inputs: { range: inQuery('range', word('hour', 'day'), '`hour` or `day`; default: `hour`') },
    answer: computed<TimeSeries>('TimeSeries'),
  }),

  /** Address of the leader: this server, which has no peers. */
  leader: writeServer({
    methods: ['GET'],
    path: '/v1/status/leader',
    access: everybody,
    summary: 'Address of the leader: this server, which has no peers',
    inputs: {},
    answer: { ...computed<string>('Address'), schema: namedSchema('Address') },
  }),

  /** Addresses of all servers: this one. */
  peers: writeServer({
    methods: ['GET'],
    path: '/v1/status/peers',
    access: everybody,
    summary: 'Addresses of all servers: this one',
    inputs: {},
    answer: computed<readonly string[]>('Addresses'),
  }),

  /** The servers of the cluster: this one, which leads. */
  raftConfiguration: writeServer({
    methods: ['GET'],
    path: '/v1/operator/raft/configuration',
    access: inArea('operator', 'read'),
    summary: 'The servers of the cluster: this one, which leads',
    inputs: {},
    answer: computed<RaftConfiguration>('RaftConfiguration'),
  }),

  /** The state of the store: sizes, counts of this process, and what holds up the removal of old rows. */
  store: system({
    methods: ['GET'],
    path: '/store',
    access: inArea('operator', 'read'),
    summary: 'The state of the store: sizes, counts of this process, and what holds up the removal of old rows',
    inputs: {},
    answer: computed<StoreStatus>('StoreStatus'),
  }),

  /** The regions: this one. */
  regions: system({
    methods: ['GET'],
    path: '/v1/regions',
    access: everybody,
    summary: 'The regions: this one',
    inputs: {},
    answer: computed<readonly string[]>('RegionNames'),
  }),
} as const;

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
    access: byOperation(nodeAgent),
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
