import type { FunctionRunView, FunctionView, ScheduleView } from '../../../src/index.js';
import {
  count,
  countMap,
  flag,
  integer,
  type JsonSchema,
  listOf,
  number,
  objectSchema,
  strings,
  text,
  textMap,
  time,
  wholeObject,
} from './json-schema.js';

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

/** Names every member, so that none is left out of a description. */
type Members<T> = Readonly<Record<keyof T, JsonSchema>>;

const ofSchedule = {
  id: text,
  schedule: text,
  timeZone: text,
  missed: { enum: ['skip', 'once', 'all'] },
  overlap: { enum: ['allow', 'skip', 'queue'] },
  isDeclared: flag,
  nextLaunch: time,
};
const schedule: Members<ScheduleView> = { ...ofSchedule, lastLaunch: time, lastRun: text };

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
  schedules: listOf(objectSchema(schedule, Object.keys(ofSchedule))),
  counts: countMap,
  hasMore: flag,
};
const shownFunction: Members<FunctionView> = { ...ofFunction, timeout: milliseconds, missingSince: time };

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
const shownRun: Members<FunctionRunView> = { ...listedRun, input: anyJson, result: anyJson, steps: strings };

/** The schemas of functions of the host. */
export const functionSchemas: Readonly<Record<string, JsonSchema>> = {
  Function: objectSchema(shownFunction, Object.keys(ofFunction)),
  FunctionRunSummary: objectSchema(listedRun, Object.keys(ofRun)),
  FunctionRun: objectSchema(shownRun, [...Object.keys(ofRun), 'steps']),
  FunctionRunExplanation: wholeObject({ reason: text, message: text }),
  FunctionLogLine: wholeObject({ at: time, level: { enum: ['info', 'error'] }, text }),
  EnqueuedFunctionRun: wholeObject({ id: text, isNew: flag }),
  ChangedFunctionRun: wholeObject({ isChanged: flag }),
  ChangedFunctionRuns: wholeObject({ count }),
};
