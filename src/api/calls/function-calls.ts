import type { Json } from '../../functions/define-function.js';
import type {
  ChangedRun,
  ChangedRuns,
  EnqueuedRun,
  EnqueueFunctionInput,
} from '../../operations/functions/change-functions.js';
import type {
  FunctionLogLine,
  FunctionRunSummary,
  FunctionRunView,
  FunctionView,
  RunExplanation,
} from '../../operations/functions/read-functions.js';
import type { Duration } from '../../options/durations.js';
import { inNamespace } from '../access.js';
import {
  type AnswerForm,
  computed,
  done,
  found,
  type Indexed,
  listSchema,
  type PageOf,
  page,
  written,
} from '../answers.js';
import { read, write } from '../call.js';
import { inBody, inPath, inQueries, inQuery, pageInputs } from '../inputs.js';
import {
  type JsonCodec,
  jsonDocument,
  jsonInstant,
  jsonInteger,
  jsonText,
  jsonTextMap,
  jsonTexts,
} from '../json-codecs.js';
import { instant, integer, text } from '../text-codecs.js';

const name = inPath('function_name', text);
const runId = inPath('function_run_id', text);

/** Milliseconds, or a string such as `30s`; the operation checks its range. */
const jsonPeriod: JsonCodec<Duration> = {
  schema: () => ({ type: ['string', 'number'], examples: ['30s', '1h30m', 1000] }),
  expected: 'a duration such as "30s", or milliseconds',
  read: (value) => (typeof value === 'string' || typeof value === 'number' ? { value } : undefined),
};

/** One state, or several. */
const jsonStates: JsonCodec<string | readonly string[]> = {
  schema: () => ({ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] }),
  expected: 'a state, or a list of states',
  read: (value) => (typeof value === 'string' ? { value } : jsonTexts.read(value)),
};

const jsonUnique: JsonCodec<NonNullable<EnqueueFunctionInput['unique']>> = jsonDocument(() => ({
  anyOf: [
    { type: 'string' },
    {
      type: 'object',
      properties: { key: { type: 'string' }, until: { type: ['string', 'number'] } },
      required: ['key'],
    },
  ],
}));

const period = { type: ['string', 'number'] };
const jsonDebounce: JsonCodec<NonNullable<EnqueueFunctionInput['debounce']>> = jsonDocument(() => ({
  type: 'object',
  properties: { key: { type: 'string' }, wait: period, max: period },
  required: ['key', 'wait'],
}));

/** Which runs a bulk call changes; all of the function when absent. */
const selection = {
  state: inBody('state', jsonStates),
  key: inBody('key', jsonText),
  error: inBody('error', jsonText),
  batch: inBody('batch', jsonText),
  meta: inBody('meta', jsonTextMap),
  from: inBody('from', jsonInstant),
  to: inBody('to', jsonInstant),
} as const;

const runPage: AnswerForm<
  Indexed<PageOf<FunctionRunSummary> | undefined>,
  Indexed<PageOf<FunctionRunSummary> | undefined>
> = {
  schema: listSchema('FunctionRunSummary'),
  status: 200,
  toClient: (answer) => answer,
  toWire: ({ value }) => value && JSON.stringify(value.items),
  indexOf: ({ index }) => index,
  nextToken: ({ value }) => value?.nextToken ?? '',
};
const absent = 'function not found';
const noRun = 'run not found';
const changedRun = written<ChangedRun>('ChangedFunctionRun', { isChanged: 'isChanged' });
const changedRuns = written<ChangedRuns>('ChangedFunctionRuns', { count: 'count' });

/** Functions of the service, and their runs. */
export const functionCalls = {
  /** The functions of a namespace, or of all (`*`), by name. */
  list: read({
    path: '/v1/functions',
    access: inNamespace('read-job'),
    summary: 'The functions of a namespace, or of all (`*`), by name',
    inputs: {
      prefix: inQuery('prefix', text, 'Only names with this prefix'),
      perPage: pageInputs.perPage,
      nextToken: pageInputs.nextToken,
    },
    answer: page<FunctionView>('Function'),
  }),

  /** One function. */
  read: read({
    path: '/v1/function/{function_name}',
    access: inNamespace('read-job'),
    summary: 'One function, with its schedules and the number of its runs in each state',
    args: ['name'],
    inputs: { name },
    answer: found<FunctionView | undefined>('Function'),
    absent,
  }),

  /** The runs of a function, the latest first. */
  runs: read({
    path: '/v1/function/{function_name}/runs',
    access: inNamespace('read-job'),
    summary: 'The runs of a function, the latest first',
    args: ['name'],
    inputs: {
      name,
      state: inQueries('state', 'Only runs in this state; may be repeated'),
      key: inQuery(
        'key',
        text,
        'Only runs with this key of a limit, a rate, `unique`, `debounce` or an idempotency key',
      ),
      error: inQuery('error', text, 'Only runs whose error has this name or code'),
      batch: inQuery('batch', text, 'Only runs of this batch'),
      meta: inQueries('meta', 'Only runs with this entry, `NAME=VALUE`; may be repeated'),
      from: inQuery('from', instant, 'Only runs that were enqueued at this time or later'),
      to: inQuery('to', instant, 'Only runs that were enqueued before this time'),
      perPage: inQuery('per_page', integer, 'Runs per page; default or 0: 100, at most 1000'),
      nextToken: pageInputs.nextToken,
    },
    errors: ['invalid_request'],
    answer: runPage,
    alwaysPaged: true,
    absent,
  }),

  /** One run of a function. */
  run: read({
    path: '/v1/function/run/{function_run_id}',
    access: inNamespace('read-job'),
    summary: 'One run of a function, with its input, result, error and finished steps',
    args: ['id'],
    inputs: { id: runId },
    answer: found<FunctionRunView | undefined>('FunctionRun'),
    absent: noRun,
  }),

  /** What a run waits for. */
  explain: write({
    methods: ['GET'],
    path: '/v1/function/run/{function_run_id}/explain',
    access: inNamespace('read-job'),
    summary: 'What a run waits for, and how that ends',
    args: ['id'],
    inputs: { id: runId },
    errors: ['function_run_not_found'],
    answer: computed<RunExplanation>('FunctionRunExplanation'),
  }),

  /** What the handler of a run has logged. */
  log: write({
    methods: ['GET'],
    path: '/v1/function/run/{function_run_id}/log',
    access: inNamespace('read-logs'),
    summary: 'The last 64 KiB that the attempts of a run have logged, the oldest line first',
    args: ['id'],
    inputs: { id: runId },
    errors: ['function_run_not_found'],
    answer: { ...computed<readonly FunctionLogLine[]>('FunctionLogLine'), schema: listSchema('FunctionLogLine') },
  }),

  /** Enqueues a run of a function that the server defines. */
  enqueue: write({
    path: '/v1/function/{function_name}/enqueue',
    access: inNamespace('dispatch-job'),
    summary: 'Enqueues a run of a function that the server defines; the schema of the function checks the input',
    args: ['name'],
    inputs: {
      name,
      input: inBody(
        'input',
        jsonDocument<Json>(() => ({})),
      ),
      delay: inBody('delay', jsonPeriod),
      runAt: inBody('runAt', jsonInstant),
      priority: inBody('priority', jsonInteger),
      meta: inBody('meta', jsonTextMap),
      ttl: inBody('ttl', jsonPeriod),
      idempotencyKey: inBody('idempotencyKey', jsonText),
      unique: inBody('unique', jsonUnique),
      debounce: inBody('debounce', jsonDebounce),
    },
    errors: ['function_not_found', 'enqueue_refused', 'invalid_request'],
    answer: written<EnqueuedRun>('EnqueuedFunctionRun', { id: 'id', isNew: 'isNew' }),
    optionalBody: true,
  }),

  /** Cancels the runs of a function that match. */
  cancel: write({
    path: '/v1/function/{function_name}/cancel',
    access: inNamespace('submit-job'),
    summary: 'Cancels the runs of a function that match; all that have not ended when the body names nothing',
    args: ['name'],
    inputs: { name, ...selection },
    errors: ['function_not_found', 'enqueue_refused', 'invalid_request'],
    answer: changedRuns,
    optionalBody: true,
  }),

  /** Queues runs of a function again that ended otherwise than well. */
  retry: write({
    path: '/v1/function/{function_name}/retry',
    access: inNamespace('submit-job'),
    summary: 'Queues the runs of a function again that match and did not succeed, with their IDs and finished steps',
    args: ['name'],
    inputs: { name, ...selection },
    errors: ['function_not_found', 'enqueue_refused', 'invalid_request'],
    answer: changedRuns,
    optionalBody: true,
  }),

  /** Lets no run of a function begin; those under way end. */
  pause: write({
    path: '/v1/function/{function_name}/pause',
    access: inNamespace('submit-job'),
    summary: 'Lets no run of a function begin, or none with the key, in any process; those under way end',
    args: ['name'],
    inputs: { name, key: inBody('key', jsonText) },
    errors: ['function_not_found', 'invalid_request'],
    answer: done(),
    optionalBody: true,
  }),

  /** Lets runs of a paused function begin again. */
  resume: write({
    path: '/v1/function/{function_name}/resume',
    access: inNamespace('submit-job'),
    summary: 'Lets runs of a paused function begin again',
    args: ['name'],
    inputs: { name, key: inBody('key', jsonText) },
    errors: ['function_not_found', 'invalid_request'],
    answer: done(),
    optionalBody: true,
  }),

  /** Cancels one run. */
  cancelRun: write({
    path: '/v1/function/run/{function_run_id}/cancel',
    access: inNamespace('submit-job'),
    summary: 'Cancels one run: at once, or when its handler has ended',
    args: ['id'],
    inputs: { id: runId, reason: inBody('reason', jsonText) },
    errors: ['function_not_found', 'function_run_not_found', 'invalid_request'],
    answer: changedRun,
    optionalBody: true,
  }),

  /** Queues one run again that ended otherwise than well. */
  retryRun: write({
    path: '/v1/function/run/{function_run_id}/retry',
    access: inNamespace('submit-job'),
    summary: 'Queues one run again that did not succeed, with its ID and finished steps',
    args: ['id'],
    inputs: { id: runId },
    errors: ['function_not_found', 'function_run_not_found', 'enqueue_refused'],
    answer: changedRun,
  }),
} as const;
