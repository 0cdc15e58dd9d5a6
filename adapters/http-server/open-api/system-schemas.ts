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
  metadata,
  number,
  objectSchema,
  orNull,
  strings,
  text,
  textMap,
  time,
  wholeObject,
} from './json-schema.js';

const objects: JsonSchema = listOf(anyObject);
const health = wholeObject({ ok: flag, message: text });

/** The documents of the server, its nodes and its settings, by the names that the interface gives them. */
export const systemSchemas: Readonly<Record<string, JsonSchema>> = {
  SchedulerConfigurationAnswer: objectSchema({ SchedulerConfig: anyObject, ...metadata }, ['SchedulerConfig']),
  UpdatedConfiguration: wholeObject({ Updated: flag, Index: count }),
  Health: health,
  AgentHealth: objectSchema({ server: health, client: health }),
  AgentSelf: wholeObject({ config: anyObject, member: anyObject, stats: anyObject }),
  AgentMembers: objectSchema({ ServerName: text, ServerRegion: text, ServerDC: text, Members: listOf(anyObject) }, [
    'ServerName',
    'Members',
  ]),
  TimeSeries: wholeObject({
    ...{ from: number, step: count },
    series: listOf(
      objectSchema(
        { name: text, unit: text, labels: textMap, counts: listOf(number), p50: listOf(number), p95: listOf(number) },
        ['name', 'unit', 'labels', 'counts'],
      ),
    ),
  }),
  Metrics: objectSchema({ Timestamp: text, Gauges: objects, Counters: objects, Samples: objects }, [
    'Timestamp',
    'Gauges',
  ]),
  StoreStatus: wholeObject({
    Index: count,
    Figures: listOf(wholeObject({ Name: text, Unit: text, Labels: anyObject, Value: { type: 'number' } })),
    Notes: listOf(text),
  }),
  Address: text,
  RaftConfiguration: wholeObject({
    Index: count,
    Servers: listOf(
      wholeObject({ ID: text, Node: text, Address: text, Leader: flag, Voter: flag, RaftProtocol: text }),
    ),
  }),
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
      Servers: listOf(anyObject),
    },
    ['Index'],
  ),
  ChangedNode: objectSchema(
    { EvalIDs: orNull(strings), EvalCreateIndex: count, NodeModifyIndex: count, Index: count },
    ['Index'],
  ),
  NodeMetadata: wholeObject({ Meta: textMap, Dynamic: mapOf({ type: ['string', 'null'] }), Static: textMap }),
  HostUsage: wholeObject({ Memory: anyObject, Uptime: count, Timestamp: count }),
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

const listOfObjects: JsonSchema = listOf(anyObject);
const variableReads: JsonSchema = listOf(objectSchema({ path: text, namespace: text }, ['path']));

/** The documents that agents and servers exchange, by the names that the interface gives them. */
export const agentSchemas: Readonly<Record<string, JsonSchema>> = {
  AgentNode: objectSchema(
    { ID: text, Name: text, Datacenter: text, NodePool: text, NodeResources: anyObject, Drivers: anyObject },
    ['ID', 'Name', 'Datacenter', 'NodePool', 'NodeResources', 'ReservedResources', 'Drivers'],
  ),
  AgentProcess: objectSchema({ instance: text, folder: text, boot: text }, ['instance']),
  AgentRegistered: wholeObject({ index: count, heartbeatTtl: count }),
  AgentHeard: wholeObject({ heartbeatTtl: count }),
  AgentWork: objectSchema(
    {
      index: count,
      complete: flag,
      work: listOf(objectSchema({ allocation: anyObject, job: anyObject }, ['allocation'])),
      gone: strings,
      collected: flag,
      now: number,
    },
    ['index', 'complete', 'work', 'gone'],
  ),
  AgentVariablesQuery: wholeObject({
    allocationId: text,
    task: text,
    variables: variableReads,
    prefixes: variableReads,
    known: orNull(text),
  }),
  AgentVariables: wholeObject({
    version: text,
    items: listOf(orNull(anyObject)),
    lists: listOf(listOfObjects),
  }),
  AgentReports: listOf(
    objectSchema(
      {
        allocationId: text,
        clientStatus: { enum: ['pending', 'running', 'complete', 'failed'] },
        clientDescription: text,
        taskStates: anyObject,
        healthy: orNull(flag),
      },
      ['allocationId', 'clientStatus', 'clientDescription', 'taskStates'],
    ),
  ),
  AgentReported: wholeObject({ index: count, unknown: strings }),
  AgentFrame: { type: 'string', contentEncoding: 'binary' },
};
