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

const schedule = objectSchema(
  {
    id: text,
    schedule: text,
    timeZone: text,
    missed: { enum: ['skip', 'once', 'all'] },
    overlap: text,
    isDeclared: flag,
    nextLaunch: time,
    lastLaunch: time,
    lastRun: text,
  },
  ['id', 'schedule', 'timeZone', 'missed', 'overlap', 'isDeclared', 'nextLaunch'],
);

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
  schedules: listOf(schedule),
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
const optionalOfRun = {
  startedAt: time,
  endedAt: time,
  batch: text,
  error: objectSchema({ name: text, message: text, stack: text, code: text }, ['name', 'message']),
};

/** The schemas of functions of the host. */
export const functionSchemas: Readonly<Record<string, JsonSchema>> = {
  Function: objectSchema({ ...ofFunction, timeout: milliseconds }, Object.keys(ofFunction)),
  FunctionRunSummary: objectSchema({ ...ofRun, ...optionalOfRun }, Object.keys(ofRun)),
  FunctionRun: objectSchema({ ...ofRun, ...optionalOfRun, input: anyJson, result: anyJson, steps: strings }, [
    ...Object.keys(ofRun),
    'steps',
  ]),
  FunctionRunExplanation: wholeObject({ reason: text, message: text }),
  FunctionLogLine: wholeObject({ at: time, level: { enum: ['info', 'error'] }, text }),
  EnqueuedFunctionRun: wholeObject({ id: text, isNew: flag }),
  ChangedFunctionRun: wholeObject({ isChanged: flag }),
  ChangedFunctionRuns: wholeObject({ count }),
};
