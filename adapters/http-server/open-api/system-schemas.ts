import type {
  FunctionLogLine,
  FunctionRunSummary,
  FunctionRunView,
  FunctionView,
  RunExplanation,
  ScheduleView,
} from '../../../src/index.js';
import {
  anyObject,
  count,
  countMap,
  flag,
  integer,
  type JsonSchema,
  listOf,
  mapOf,
  number,
  objectSchema,
  orNull,
  strings,
  text,
  textMap,
  time,
  wholeObject,
} from './json-schema.js';

const objects: JsonSchema = { type: 'array', items: anyObject };
const health = objectSchema({ ok: flag, message: text }, ['ok', 'message']);

/** What reads carry in headers and register-shaped answers in the body. */
const metadata = { Index: count, LastContact: integer, KnownLeader: flag, NextToken: text };

/** The documents of the server, its nodes and its settings, by the names that the interface gives them. */
export const systemSchemas: Readonly<Record<string, JsonSchema>> = {
  SchedulerConfigurationAnswer: objectSchema({ SchedulerConfig: anyObject, ...metadata }, ['SchedulerConfig']),
  UpdatedConfiguration: objectSchema({ Updated: flag, Index: count }, ['Updated', 'Index']),
  Health: health,
  AgentHealth: objectSchema({ server: health, client: health }),
  AgentSelf: objectSchema({ config: anyObject, member: anyObject, stats: anyObject }, ['config', 'member', 'stats']),
  AgentMembers: objectSchema(
    { ServerName: text, ServerRegion: text, ServerDC: text, Members: { type: 'array', items: anyObject } },
    ['ServerName', 'Members'],
  ),
  Metrics: objectSchema({ Timestamp: text, Gauges: objects, Counters: objects, Samples: objects }, [
    'Timestamp',
    'Gauges',
  ]),
  StoreStatus: objectSchema(
    {
      Index: count,
      Figures: {
        type: 'array',
        items: objectSchema({ Name: text, Unit: text, Labels: anyObject, Value: { type: 'number' } }, [
          'Name',
          'Unit',
          'Labels',
          'Value',
        ]),
      },
      Notes: { type: 'array', items: text },
    },
    ['Index', 'Figures', 'Notes'],
  ),
  Address: text,
  RaftConfiguration: objectSchema(
    {
      Index: count,
      Servers: {
        type: 'array',
        items: objectSchema({ ID: text, Node: text, Address: text, Leader: flag, Voter: flag, RaftProtocol: text }, [
          'ID',
          'Node',
          'Address',
          'Leader',
          'Voter',
          'RaftProtocol',
        ]),
      },
    },
    ['Index', 'Servers'],
  ),
  Addresses: strings,
  RegionNames: strings,
  EvaluatedNode: objectSchema(
    {
      EvalIDs: orNull(strings),
      EvalCreateIndex: count,
      NodeModifyIndex: count,
      Index: count,
      SchedulingEligibility: text,
      NumNodes: count,
      LeaderRPCAddr: text,
      Servers: { type: 'array', items: anyObject },
    },
    ['Index'],
  ),
  ChangedNode: objectSchema(
    { EvalIDs: orNull(strings), EvalCreateIndex: count, NodeModifyIndex: count, Index: count },
    ['Index'],
  ),
  NodeMetadata: wholeObject({ Meta: textMap, Dynamic: mapOf({ type: ['string', 'null'] }), Static: textMap }),
  HostUsage: objectSchema({ Memory: anyObject, Uptime: count, Timestamp: count }, ['Memory', 'Uptime', 'Timestamp']),
};

const milliseconds: JsonSchema = { type: 'number', description: 'Milliseconds.' };
const anyJson: JsonSchema = { description: 'Any JSON.' };
const limit = { limit: count, scope: text, perKey: flag };
const kept = wholeObject({ age: milliseconds, count });

const retry = wholeObject({
  attempts: count,
  backoff: { anyOf: [{ enum: ['exponential', 'fixed', 'function'] }, listOf(milliseconds)] },
  delay: milliseconds,
  factor: number,
  max: milliseconds,
  jitter: number,
});

const ofSchedule = {
  id: text,
  schedule: text,
  timeZone: text,
  missed: { enum: ['skip', 'once', 'all'] },
  overlap: { enum: ['allow', 'skip', 'queue'] },
  isDeclared: flag,
  nextLaunch: time,
};

const ofFunction = {
  name: text,
  namespace: text,
  version: count,
  hasHandler: flag,
  priority: integer,
  retry,
  limits: listOf(wholeObject(limit)),
  rates: listOf(wholeObject({ ...limit, per: milliseconds, burst: count })),
  keep: wholeObject({ succeeded: kept, others: kept }),
  isPaused: flag,
  pausedKeys: strings,
  schedules: listOf(
    objectSchema<ScheduleView>({ ...ofSchedule, lastLaunch: time, lastRun: text }, Object.keys(ofSchedule)),
  ),
  counts: countMap,
  hasMore: flag,
};

const state = { enum: ['scheduled', 'queued', 'running', 'waiting', 'succeeded', 'failed', 'cancelled', 'timed_out'] };
const ofRun = {
  id: text,
  function: text,
  version: count,
  state,
  priority: integer,
  attempt: count,
  interruptions: count,
  enqueuedAt: time,
  dueAt: time,
  meta: textMap,
};
const listedRun = {
  ...ofRun,
  startedAt: time,
  endedAt: time,
  batch: text,
  parent: text,
  progress: anyJson,
  error: objectSchema({ name: text, message: text, stack: text, code: text }, ['name', 'message']),
};

/** The schemas of functions of the host. */
export const functionSchemas: Readonly<Record<string, JsonSchema>> = {
  Function: objectSchema<FunctionView>(
    { ...ofFunction, timeout: milliseconds, missingSince: time },
    Object.keys(ofFunction),
  ),
  FunctionRunSummary: objectSchema<FunctionRunSummary>(listedRun, Object.keys(ofRun)),
  FunctionRun: objectSchema<FunctionRunView>({ ...listedRun, input: anyJson, result: anyJson, steps: strings }, [
    ...Object.keys(ofRun),
    'steps',
  ]),
  FunctionRunExplanation: wholeObject<RunExplanation>({ reason: text, message: text }),
  FunctionLogLine: wholeObject<FunctionLogLine>({ at: time, level: { enum: ['info', 'error'] }, text }),
  EnqueuedFunctionRun: wholeObject({ id: text, isNew: flag }),
  ChangedFunctionRun: wholeObject({ isChanged: flag }),
  ChangedFunctionRuns: wholeObject({ count }),
};

const listOfObjects: JsonSchema = { type: 'array', items: anyObject };
const variableReads: JsonSchema = {
  type: 'array',
  items: objectSchema({ path: text, namespace: text }, ['path']),
};

/** The documents that agents and servers exchange, by the names that the interface gives them. */
export const agentSchemas: Readonly<Record<string, JsonSchema>> = {
  AgentNode: objectSchema(
    { ID: text, Name: text, Datacenter: text, NodePool: text, NodeResources: anyObject, Drivers: anyObject },
    ['ID', 'Name', 'Datacenter', 'NodePool', 'NodeResources', 'ReservedResources', 'Drivers'],
  ),
  AgentProcess: objectSchema({ instance: text, folder: text, boot: text }, ['instance']),
  AgentRegistered: objectSchema({ index: count, heartbeatTtl: count }, ['index', 'heartbeatTtl']),
  AgentHeard: objectSchema({ heartbeatTtl: count }, ['heartbeatTtl']),
  AgentWork: objectSchema(
    {
      index: count,
      complete: flag,
      work: { type: 'array', items: objectSchema({ allocation: anyObject, job: anyObject }, ['allocation']) },
      gone: strings,
      collected: flag,
      now: number,
    },
    ['index', 'complete', 'work', 'gone'],
  ),
  AgentVariablesQuery: objectSchema(
    { allocationId: text, task: text, variables: variableReads, prefixes: variableReads, known: orNull(text) },
    ['allocationId', 'task', 'variables', 'prefixes', 'known'],
  ),
  AgentVariables: objectSchema(
    {
      version: text,
      items: { type: 'array', items: orNull(anyObject) },
      lists: { type: 'array', items: listOfObjects },
    },
    ['version', 'items', 'lists'],
  ),
  AgentReports: {
    type: 'array',
    items: objectSchema(
      {
        allocationId: text,
        clientStatus: { enum: ['pending', 'running', 'complete', 'failed'] },
        clientDescription: text,
        taskStates: anyObject,
        healthy: orNull(flag),
      },
      ['allocationId', 'clientStatus', 'clientDescription', 'taskStates'],
    ),
  },
  AgentReported: objectSchema({ index: count, unknown: strings }, ['index', 'unknown']),
  AgentFrame: { type: 'string', contentEncoding: 'binary' },
};
