import { type Milliseconds, minute } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';
import { table } from '../shared/table.js';
import { hasEnded, type RunError, type StoredRun } from './run.js';

/*
 * What a workspace hears of the runs of a function (option `notify`):
 *
 *   what happened                                    event                 status
 *   enqueued                                         run:created           pending
 *   its first attempt began                          run:applying          applying
 *   succeeded                                        run:completed         applied
 *   failed or timed out for good                     run:errored           errored
 *   cancelled                                        run:errored           canceled
 *   due for ten minutes, or not launched for so long run:needs_attention   pending
 *
 * Events of a function are counted instead of sent when there are many: see `afterError` and `mostEvents`.
 */

/** The most events of runs in one write. Those beyond them are counted in the next event of their kind. */
export const mostEvents = 1000;

/** What one function reports to its workspace: what is declared, and what has been sent. */
export interface FunctionReports {
  readonly function: string;
  /** The version of the code that named the workspace. */
  readonly version: number;
  /** Null: none. */
  readonly workspace: string | null;
  readonly errors?: ErrorGroup;
  /** Events that one write had no room for, by trigger. */
  readonly unsent?: Readonly<Partial<Record<RunTrigger, number>>>;
  /** Since when a due run or launch has waited for too long; absent when none does. */
  readonly lateSince?: Instant;
}

export type RunTrigger = 'run:created' | 'run:applying' | 'run:completed' | 'run:errored' | 'run:needs_attention';

export const functionReports = table<FunctionReports>('function_reports', ({ function: name }) => [name], {
  held: {
    version: 1,
    key: ({ function: name, errors }) =>
      errors === undefined || errors.held === 0 ? undefined : [heldUntil(errors), name],
  },
  late: { version: 1, key: ({ function: name, lateSince }) => (lateSince === undefined ? undefined : [name]) },
});

/** Beyond the first ones, events of errors are this far apart. */
const groupTime: Milliseconds = 5 * minute;
const sentAlone = 10;

/** A run that ended otherwise than well, as far as its event needs it. */
export type ReportedRun = Pick<
  StoredRun,
  'function' | 'number' | 'state' | 'attempt' | 'enqueuedAt' | 'error' | 'trace'
>;

/** The errors of a function that were sent and held back since it began to fail. */
export interface ErrorGroup {
  /** How many were sent on their own; ten at most. */
  readonly sent: number;
  readonly sentAt: Instant;
  /** How many were held back since then, and the last one of them. */
  readonly held: number;
  readonly last?: ReportedRun;
}

/** When the last one that was held back is sent. */
export function heldUntil({ sentAt }: ErrorGroup): Instant {
  return sentAt + groupTime;
}

/** The state after an error, and the event to send; `others` were held back before it. */
interface ErrorStep {
  readonly group: ErrorGroup;
  readonly sends?: { readonly run: ReportedRun; readonly others: number };
}

/**
 * The first ten errors are sent on their own, until there was none for five minutes. Beyond them one is sent every five minutes, with
 * the number of those that were held back.
 */
export function afterError(group: ErrorGroup | undefined, run: ReportedRun, now: Instant): ErrorStep {
  const { sent = 0, sentAt = now, held = 0 } = group ?? {};
  // Also when the clock was set back.
  const isOver = now < sentAt || now - sentAt >= groupTime;
  if (!isOver && sent >= sentAlone) return { group: { sent, sentAt, held: held + 1, last: run } };
  const hasBegunAnew = isOver && held === 0;
  return {
    group: { sent: hasBegunAnew ? 1 : Math.min(sent + 1, sentAlone), sentAt: now, held: 0 },
    sends: { run, others: held },
  };
}

/** Sends the last one that was held back when its time has come. */
export function afterWait(group: ErrorGroup, now: Instant): ErrorStep {
  const { sent, held, last } = group;
  if (last === undefined || held === 0 || now < heldUntil(group)) return { group };
  return { group: { sent, sentAt: now, held: 0 }, sends: { run: last, others: held - 1 } };
}

/** How long a due run or launch waits until it needs attention. */
export const lateAfter: Milliseconds = 10 * minute;
/** It is over when none has waited for so long: waits around the bound are one. */
const overAfter: Milliseconds = 5 * minute;

/** Whether a function has begun to be late, or is no longer. `waitsSince`: its oldest due run or launch; undefined for none. */
export function lateness(
  { lateSince }: Pick<FunctionReports, 'lateSince'>,
  waitsSince: Instant | undefined,
  now: Instant,
): 'begins' | 'ends' | undefined {
  const waits = waitsSince === undefined ? Number.NEGATIVE_INFINITY : now - waitsSince;
  if (lateSince === undefined) return waits >= lateAfter ? 'begins' : undefined;
  return waits < overAfter ? 'ends' : undefined;
}

/** Since when a queued run waits for a process: due, or given back by the last one that had it. */
export const waitsSince = ({ dueAt, startedAt }: StoredRun): Instant => Math.max(dueAt, startedAt ?? dueAt);

/** The message of a run in its events: the function, the attempt and the first line of its error. */
export function messageOf(run: ReportedRun, others = 0): string {
  const attempt = run.attempt === 0 ? '' : `, attempt ${run.attempt}`;
  const error =
    run.error === undefined || !hasEnded(run) || run.state === 'succeeded' ? '' : `: ${firstLine(run.error)}`;
  const more = others === 0 ? '' : ` (and ${others} ${others === 1 ? 'other' : 'others'} since the last notification)`;
  return `${run.function}${attempt}${error}${more}`;
}

function firstLine({ name, message }: RunError): string {
  return message.split(/[\r\n]/).find((line) => line.trim() !== '') ?? name;
}

/** What a wait looks like: `12 minutes`. */
export function waitText(wait: Milliseconds): string {
  const minutes = Math.floor(wait / minute);
  return minutes < 120 ? `${minutes} minutes` : `${Math.floor(minutes / 60)} hours`;
}

export function reported(run: StoredRun): ReportedRun {
  const { function: name, number, state, attempt, enqueuedAt, error, trace } = run;
  return {
    ...{ function: name, number, state, attempt, enqueuedAt },
    ...(trace === undefined ? {} : { trace }),
    ...(error === undefined ? {} : { error: { name: error.name, message: firstLine(error), stack: '' } }),
  };
}
