import { orThrow } from '../../../src/client/index.js';
import type { FunctionRunSummary, FunctionRunView, FunctionView } from '../../../src/index.js';
import { messageOf } from '../../../src/shared/values.js';
import { type Command, command, type Invocation, type OptionValues, option } from '../command-line/command.js';
import { facts, inJson, inOneLine, tableOf, timeText } from '../output/tables.js';
import { Stopped } from '../stopped.js';
import { existing } from './find-record.js';
import { numberOption, optional, pairs } from './option-values.js';
import { print } from './print.js';

/** The options that select runs of a function. */
const selecting = {
  state: option.list('STATE', 'only runs in this state, may be repeated'),
  error: option.text('NAME', 'only runs whose error has this name or code'),
  key: option.text('KEY', 'only runs with this key of a limit, a rate or an enqueue'),
  batch: option.text('ID', 'only runs of this batch'),
  meta: option.list('KEY=VALUE', 'only runs with this meta value, may be repeated'),
  from: option.text('TIME', 'only runs that were enqueued at this time or later'),
  to: option.text('TIME', 'only runs that were enqueued before this time'),
} as const;

function selectionFrom({ state, error, key, batch, meta, from, to }: OptionValues<typeof selecting>) {
  const entries = pairs('meta', meta);
  return {
    ...(state.length === 0 ? {} : { state }),
    ...optional('error', error),
    ...optional('key', key),
    ...optional('batch', batch),
    ...(meta.length === 0 ? {} : { meta: entries }),
    ...optional('from', timeOption('from', from)),
    ...optional('to', timeOption('to', to)),
  };
}

/** The time of an option, in milliseconds since 1970. */
function timeOption(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isFinite(time))
    throw new Stopped(
      `--${name} takes a time such as 2026-01-31T12:00:00Z, not ${JSON.stringify(text.slice(0, 40))}`,
      2,
    );
  return time;
}

const shownTime = (iso: string | undefined): string => (iso === undefined ? '' : timeText(Date.parse(iso) * 1e6));

/** IDs of runs end in a slash and digits. */
const isRunId = (target: string): boolean => /.\/\d{1,16}$/.test(target);

const list = command({
  usage: 'function list',
  summary: 'list the functions of the service with the number of their runs and their next launch',
  options: { prefix: option.text('TEXT', 'only names with this prefix') },
  run: async (invocation) => {
    const { box, inNamespace, options } = invocation;
    const { value } = await orThrow(box.functions.list({ ...inNamespace, ...optional('prefix', options.prefix) }));
    const rows = value.items.map((shown) => [
      shown.name,
      String(shown.version),
      shown.missingSince !== undefined ? 'no process' : shown.isPaused ? 'paused' : 'active',
      ...(['queued', 'running', 'scheduled', 'failed'] as const).map((state) => String(shown.counts[state])),
      shownTime(shown.schedules.map(({ nextLaunch }) => nextLaunch).sort()[0]),
    ]);
    const headings = ['Name', 'Version', 'Status', 'Queued', 'Running', 'Scheduled', 'Failed', 'Next launch'];
    return print(invocation, value.items, () => tableOf(headings, rows, 'no functions'));
  },
});

const runs = command({
  usage: 'function runs FUNCTION',
  summary: 'list the runs of a function, the latest first',
  options: {
    ...selecting,
    'per-page': option.text('N', 'at most N runs, up to 1000; default: 100'),
    'page-token': option.text('TOKEN', 'token of the page to show'),
  },
  run: async (invocation, name = '') => {
    const { box, inNamespace, options, terminal } = invocation;
    const { meta, ...selection } = selectionFrom(options);
    const read = box.functions.runs(name, {
      ...inNamespace,
      ...selection,
      ...(meta === undefined ? {} : { meta: options.meta }),
      ...optional('perPage', numberOption('per-page', options['per-page'])),
      ...optional('nextToken', options['page-token']),
    });
    const { items, nextToken } = await existing(read, `function ${name}`);
    if (nextToken !== '') terminal.error(`next page: --page-token ${nextToken}\n`);
    return print(invocation, items, () =>
      tableOf(['ID', 'State', 'Attempt', 'Enqueued', 'Ended', 'Error'], items.map(runRow), 'no runs'),
    );
  },
});

function runRow({ id, state, attempt, enqueuedAt, endedAt, error }: FunctionRunSummary): string[] {
  const failure = error === undefined ? '' : `${error.name}: ${error.message}`;
  return [id, state, String(attempt), shownTime(enqueuedAt), shownTime(endedAt), inOneLine(failure).slice(0, 100)];
}

const status = command({
  usage: 'function status FUNCTION|RUN',
  summary: 'show a function with its policy and schedules, or a run with its input, result and error',
  run: async (invocation, target = '') => {
    const { box, inNamespace } = invocation;
    if (isRunId(target)) {
      const { value } = await orThrow(box.functions.run(target, inNamespace));
      if (value !== undefined) {
        const waits =
          value.endedAt === undefined ? await orThrow(box.functions.explain(target, inNamespace)) : undefined;
        return print(invocation, value, (run) => runText(run, waits?.message));
      }
    }
    const what = isRunId(target) ? `run ${target}` : `function ${target}`;
    return print(invocation, await existing(box.functions.read(target, inNamespace), what), functionText);
  },
});

function functionText(shown: FunctionView): string {
  const { retry, limits, rates, counts, schedules } = shown;
  const scopes = ({ scope, perKey }: (typeof limits)[number]) =>
    perKey ? ` for each key of ${scope}` : ` of ${scope}`;
  const head = facts({
    Name: shown.name,
    Namespace: shown.namespace,
    Version: shown.version,
    Status: shown.isPaused ? 'paused' : 'active',
    'No process since': shown.missingSince === undefined ? undefined : shownTime(shown.missingSince),
    'Paused keys': shown.pausedKeys.join(', '),
    Priority: shown.priority,
    Timeout: shown.timeout === undefined ? 'none' : `${shown.timeout / 1000}s`,
    Attempts: retry.attempts,
    Concurrency: limits.map((limit) => limit.limit + scopes(limit)).join(', '),
    Rate: rates.map((rate) => `${rate.limit} in ${rate.per / 1000}s${scopes(rate)}`).join(', '),
    Runs: Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([state, count]) => `${count} ${state}`)
      .join(', '),
  });
  if (schedules.length === 0) return head;
  const rows = schedules.map(({ id, schedule, timeZone, nextLaunch, lastLaunch, lastRun }) => [
    ...[id, schedule, timeZone, shownTime(nextLaunch), shownTime(lastLaunch)],
    lastRun ?? '',
  ]);
  return `${head}\n${tableOf(['Schedule', 'Cron', 'Time zone', 'Next launch', 'Last launch', 'Last run'], rows, '')}`;
}

function runText(run: FunctionRunView, waits: string | undefined): string {
  const { error } = run;
  const head = facts({
    ID: run.id,
    State: run.state,
    'Waits because': waits,
    Attempt: run.attempt,
    Interruptions: run.interruptions === 0 ? undefined : run.interruptions,
    Priority: run.priority,
    Enqueued: shownTime(run.enqueuedAt),
    Due: shownTime(run.dueAt),
    Started: shownTime(run.startedAt),
    Ended: shownTime(run.endedAt),
    Batch: run.batch,
    Meta: Object.entries(run.meta)
      .map(([name, value]) => `${name}=${value}`)
      .join(', '),
    Steps: run.steps.join(', '),
    Input: run.input === undefined ? undefined : inJson(run.input),
    Result: run.result === undefined ? undefined : inJson(run.result),
    Error: error === undefined ? undefined : `${error.name}: ${error.message}`,
  });
  return error?.stack === undefined || error.stack === '' ? head : `${head}\n${error.stack}\n`;
}

const log = command({
  usage: 'function log RUN',
  summary: 'print what the attempts of a run have logged',
  run: async (invocation, id = '') => {
    const lines = await orThrow(invocation.box.functions.log(id, invocation.inNamespace));
    return print(invocation, lines, () =>
      lines.map(({ at, level, text }) => `${shownTime(at)} ${level} ${inOneLine(text)}\n`).join(''),
    );
  },
});

const enqueue = command({
  usage: 'function enqueue FUNCTION [INPUT]',
  summary: 'enqueue a run of a function; INPUT is JSON, or - for JSON on standard input',
  options: {
    delay: option.text('DURATION', 'run it so much later'),
    'run-at': option.text('TIME', 'run it at this time'),
    priority: option.text('N', '1 to 100, higher first'),
    meta: option.list('KEY=VALUE', 'a meta value, may be repeated'),
    ttl: option.text('DURATION', 'cancel it unless it has begun by then'),
    'idempotency-key': option.text('KEY', 'the same key leads to the same run for 24 hours'),
    unique: option.text('KEY', 'while a run with this key has not begun, that run is returned'),
    wait: option.flag('wait for the end of the run and print its result; exit code 1 unless it succeeds'),
  },
  run: async (invocation, name = '', text) => {
    const { box, inNamespace, options } = invocation;
    const input = await inputFrom(invocation, text);
    const meta = pairs('meta', options.meta);
    const enqueued = await orThrow(
      box.functions.enqueue(name, {
        ...inNamespace,
        ...optional('input', input),
        ...optional('delay', options.delay),
        ...optional('runAt', timeOption('run-at', options['run-at'])),
        ...optional('priority', numberOption('--priority', options.priority)),
        ...(Object.keys(meta).length === 0 ? {} : { meta }),
        ...optional('ttl', options.ttl),
        ...optional('idempotencyKey', options['idempotency-key']),
        ...optional('unique', options.unique),
      }),
    );
    if (options.wait) return waitFor(invocation, enqueued.id);
    const { id, isNew } = enqueued;
    return print(invocation, enqueued, () => (isNew ? `${id} is enqueued\n` : `${id} had been enqueued before\n`));
  },
});

async function inputFrom(
  { terminal }: Pick<Invocation, 'terminal'>,
  text: string | undefined,
): Promise<FunctionRunView['input']> {
  if (text === undefined) return undefined;
  const json = text === '-' ? await terminal.read('-') : text;
  try {
    return JSON.parse(json) as FunctionRunView['input'];
  } catch (error) {
    throw new Stopped(`INPUT is not JSON: ${messageOf(error)}`, 2);
  }
}

/** Waits until a run has ended, and prints it. */
async function waitFor(invocation: Invocation, id: string): Promise<number> {
  const { box, inNamespace } = invocation;
  for (let waiting: { readonly index?: number } = {}; ; ) {
    const { value, index } = await orThrow(box.functions.run(id, { ...inNamespace, ...waiting }));
    if (value === undefined) throw new Stopped(`there is no run ${id}: it may have been removed`);
    if (value.endedAt !== undefined) {
      print(invocation, value, ({ result }) => (result === undefined ? '' : `${inJson(result, 2)}\n`));
      if (value.state === 'succeeded') return 0;
      invocation.terminal.error(`${id} ${value.state.replace('_', ' ')}: ${inOneLine(value.error?.message ?? '')}\n`);
      return 1;
    }
    waiting = { index };
  }
}

const allOf = {
  ...selecting,
  all: option.flag('all runs of the function, without another option'),
} as const;

/** The selection of a bulk change: all runs must be asked for by name. */
function bulkFrom(name: string, options: OptionValues<typeof allOf>) {
  const selection = selectionFrom(options);
  if (!options.all && Object.keys(selection).length === 0)
    throw new Stopped(`name which runs of ${name}, for example with --state, or --all`, 2);
  return selection;
}

const cancel = command({
  usage: 'function cancel RUN|FUNCTION',
  summary: 'cancel a run, or the runs of a function that match',
  options: { ...allOf, reason: option.text('TEXT', 'the reason, for one RUN') },
  run: async (invocation, target = '') => {
    const { box, inNamespace, options } = invocation;
    if (isRunId(target)) {
      const reason = optional('reason', options.reason);
      const answer = await orThrow(box.functions.cancelRun(target, { ...inNamespace, ...reason }));
      return print(invocation, answer, ({ isChanged }) =>
        isChanged ? `${target} is being cancelled\n` : `${target} had already ended\n`,
      );
    }
    if (options.reason !== undefined) throw new Stopped('--reason is for one RUN', 2);
    const selection = bulkFrom(target, options);
    const answer = await orThrow(box.functions.cancel(target, { ...inNamespace, ...selection }));
    return print(invocation, answer, ({ count }) => `runs cancelled: ${count}\n`);
  },
});

const retry = command({
  usage: 'function retry RUN|FUNCTION',
  summary: 'queue a run again that did not succeed, or those of a function that match',
  options: allOf,
  run: async (invocation, target = '') => {
    const { box, inNamespace, options } = invocation;
    if (isRunId(target)) {
      const answer = await orThrow(box.functions.retryRun(target, inNamespace));
      return print(invocation, answer, ({ isChanged }) =>
        isChanged ? `${target} is queued again\n` : `${target} has not ended, or has succeeded\n`,
      );
    }
    const answer = await orThrow(box.functions.retry(target, { ...inNamespace, ...bulkFrom(target, options) }));
    return print(invocation, answer, ({ count }) => `runs queued again: ${count}\n`);
  },
});

/** Pause and resume: of a function, or of one key of its limits. */
const switching = (act: 'pause' | 'resume', summary: string) =>
  command({
    usage: `function ${act} FUNCTION`,
    summary,
    options: { key: option.text('KEY', 'only runs with this key of a limit or rate') },
    run: async (invocation, name = '') => {
      const input = { ...invocation.inNamespace, ...optional('key', invocation.options.key) };
      const answer = await orThrow(invocation.box.functions[act](name, input));
      return print(invocation, answer, () => `${name} is ${act}d\n`);
    },
  });

const pause = switching('pause', 'let no run of a function begin, in any process; those under way end');
const resume = switching('resume', 'let runs of a paused function begin again');

export const functionCommands: readonly Command[] = [list, runs, status, log, enqueue, cancel, retry, pause, resume];
