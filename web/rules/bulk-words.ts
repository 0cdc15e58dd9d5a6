import { counted, countText } from './durations.js';

/** The most jobs that one action takes. */
export const mostInBulk = 10_000;

/** The filter of a list of jobs, as the address has it. */
export interface JobFilterWords {
  /** `*` for all. */
  readonly namespace: string;
  /** An expression, or words of which the ID has all; empty for none. */
  readonly text: string;
  /** Of the last run; empty for any. */
  readonly outcome: string;
  readonly withInstances: boolean;
}

/** The jobs that a filter selects, as the end of a sentence that begins with `all jobs`. */
export function filterText({ namespace, text, outcome, withInstances }: JobFilterWords): string {
  return [
    namespace === '*' ? 'in all namespaces' : `in the namespace ${namespace}`,
    ...(text.trim() === '' ? [] : [`that match ${text.trim()}`]),
    ...(outcome === '' ? [] : [`whose last run ${lastRun(outcome)}`]),
    withInstances ? 'with the instances of others' : 'without instances of others',
  ].join(', ');
}

function lastRun(outcome: string): string {
  if (outcome === 'stopped') return 'was stopped';
  return outcome === 'lost' ? 'was lost' : outcome.replaceAll('_', ' ');
}

/** How many match, as the server has counted them. */
export function matchCountText(count: number): string {
  return count > mostInBulk ? `over ${countText(mostInBulk)}` : countText(count);
}

/** Why an action on a set is refused: it is another set now. Undefined if it is the same; the order does not matter. */
export function setFault(before: readonly string[], after: readonly string[]): string | undefined {
  const known = new Set(before);
  const added = after.filter((id) => !known.has(id));
  if (before.length === after.length && added.length === 0) return undefined;
  const now =
    before.length === after.length
      ? `Still ${countText(after.length)} match, but not the same ones`
      : `Now ${matchCountText(after.length)} match, not ${countText(before.length)}`;
  return `${now}. Nothing was done: close this and select them again.`;
}

/** A failure of one of the jobs. */
export interface BulkFailure {
  readonly namespace: string;
  readonly id: string;
  readonly message: string;
}

/** An action on many jobs, one after the other. */
export interface Bulk {
  readonly key: string;
  readonly action: 'stop' | 'restart';
  /** Which jobs, in words. */
  readonly what: string;
  /** The address of the list. */
  readonly list: string;
  readonly total: number;
  readonly done: number;
  readonly failures: readonly BulkFailure[];
  /** `broken`: too many failures in a row; `left`: the tab was closed or reloaded meanwhile. */
  readonly state: 'running' | 'done' | 'stopped' | 'broken' | 'left';
  /** Milliseconds. */
  readonly startedAt: number;
}

/** After so many failures in a row the rest would fail as well: the server is away, or the session has ended. */
const mostFailuresInRow = 5;

/** The state after one more job; `inRow` counts the failures just before. */
export function afterOne(bulk: Bulk, failure: BulkFailure | undefined, inRow: number): Bulk {
  const failures = failure === undefined ? bulk.failures : [...bulk.failures, failure];
  const done = bulk.done + (failure === undefined ? 1 : 0);
  const isBroken = failure !== undefined && inRow + 1 >= mostFailuresInRow;
  const isOver = done + failures.length >= bulk.total;
  const state = bulk.state !== 'running' ? bulk.state : isOver ? 'done' : isBroken ? 'broken' : 'running';
  return { ...bulk, done, failures, state };
}

/** What has happened, as a sentence. */
export function bulkText({ action, total, done, failures, state }: Bulk): string {
  const verb = action === 'stop' ? 'stopped' : 'being restarted by the server';
  const failed = failures.length > 0 ? `, ${countText(failures.length)} failed` : '';
  const rest = total - done - failures.length;
  const untouched = rest === 0 ? '' : ` ${counted(rest, 'job')} ${rest === 1 ? 'was' : 'were'} not touched`;
  const ends = {
    running: '',
    done: '',
    stopped: `. You ended it:${untouched}`,
    broken: `. It ended after ${mostFailuresInRow} failures in a row:${untouched}`,
    left: `. It ended with the page that ran it:${untouched}`,
  } as const;
  return `${countText(done)} of ${counted(total, 'job')} ${done === 1 ? 'is' : 'are'} ${verb}${failed}${rest === 0 ? '' : ends[state]}.`;
}
