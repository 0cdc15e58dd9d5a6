import type { Clock } from '../../ports/clock.js';
import type { Storage, TableName } from '../../ports/storage.js';
import { allocations } from '../../scheduler/allocation.js';
import { second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';

/** The conditions that wake a loop. */
interface Awaited {
  /** Wakes when a write after `index` has changed one of these. */
  readonly tables: readonly TableName[];
  readonly index: number;
  /** Wakes at this wall time, if any, and at the latest after the duration until then, in case the clock is set back. */
  readonly dueAt: Instant | undefined;
}

/** Resolves when one of the tables changes, the time comes, or the signal aborts. */
export async function changeOrDueTime(
  { storage, clock }: { readonly storage: Storage; readonly clock: Clock },
  { tables, index, dueAt }: Awaited,
  signal: AbortSignal,
): Promise<void> {
  await untilFirst(signal, (either) => [
    storage.waitForChange(tables, index, either),
    ...(dueAt === undefined ? [] : [clock.sleepUntil(dueAt, either), clock.sleep(dueAt - clock.now(), either)]),
  ]);
}

/** What a check has seen. */
export interface Seen {
  readonly index: number;
  /** Whether something is under way, which changes of allocations may move on. */
  readonly active: boolean;
  readonly next: Instant | undefined;
}

/**
 * Checks again after changes of the table, of allocations while something is under way, and when something is due. Then it pauses for four
 * times as long as the check took, a quarter of a second at least, to limit its share of the processor; a second after a failure.
 */
export async function checkAtPace(
  context: { readonly storage: Storage; readonly clock: Clock },
  table: TableName,
  check: () => Promise<Seen | undefined>,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = context;
  while (!signal.aborted) {
    const began = clock.monotonic();
    const seen = await check();
    const took = clock.monotonic() - began;
    if (seen !== undefined) {
      const tables = seen.active ? [table, allocations] : [table];
      await changeOrDueTime(context, { tables, index: seen.index, dueAt: seen.next }, signal);
    }
    if (seen?.active !== false) await clock.sleep(seen === undefined ? second : Math.max(second / 4, 4 * took), signal);
  }
}

/** A constant abort reason: without one, each abort creates an exception with a stack trace. */
const over = 'one of the waits is over';

/**
 * Resolves when the first of the waits is over and the others, which are then aborted, have ended. `waits` gets a signal that aborts
 * with the given one, or when the first wait is over.
 */
export async function untilFirst(
  signal: AbortSignal,
  waits: (either: AbortSignal) => readonly Promise<unknown>[],
): Promise<void> {
  // A signal that has aborted already emits no further event.
  if (signal.aborted) return;
  const either = new AbortController();
  const stop = (): void => either.abort(over);
  signal.addEventListener('abort', stop, { once: true });
  const started = waits(either.signal);
  await Promise.race(started);
  either.abort(over);
  signal.removeEventListener('abort', stop);
  await Promise.all(started);
}
