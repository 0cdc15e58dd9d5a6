import type { TableName } from '../../ports/storage.js';
import type { Instant } from '../../shared/instant.js';
import type { EngineContext } from '../context/engine-context.js';
import { untilFirst } from './until-first.js';

/** The conditions that wake a loop. */
interface Awaited {
  /** Wakes when a write after `index` has changed one of these. */
  readonly tables: readonly TableName[];
  readonly index: number;
  /** Wakes at this wall time, if any; at the latest after the remaining time, in case the clock is set back. */
  readonly moment: Instant | undefined;
}

/** Resolves when one of the tables changes, the time comes, or the signal aborts. */
export async function changeOrTime(
  { storage, clock }: Pick<EngineContext, 'storage' | 'clock'>,
  { tables, index, moment }: Awaited,
  signal: AbortSignal,
): Promise<void> {
  await untilFirst(signal, (either) => [
    storage.waitForChange(tables, index, either),
    ...(moment === undefined ? [] : [clock.sleepUntil(moment, either), clock.sleep(moment - clock.now(), either)]),
  ]);
}
