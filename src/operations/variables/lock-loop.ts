import { ok } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { ReadView } from '../../ports/storage.js';
import { second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { lockState, variables, withLockLost } from '../../variables/variable.js';
import { commit } from '../commit.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { clockReadings } from '../context/store-clock.js';
import { changeOrDueTime } from '../waiting/until-change.js';

/** The maximum number of locks examined in one write. */
const batch = 200;
/** The maximum number of locks whose renewals are followed: those that end first. */
const seenAtOnce = 1000;

/**
 * Records that locks have expired, so that blocking queries of variables see it. No decision depends on this record: an expired
 * lock counts as lost at once. Each write decides from the rows it reads, so several processes may run this loop on one store.
 */
export const variableLockLoop: BackgroundLoop = {
  name: 'variable-locks',
  async run(context, signal) {
    while (!signal.aborted) {
      const { index, firstEnd } = await writeLost(context);
      const now = context.clock.now();
      // A lock that has expired only by the wall clock, because it was set forward, is checked again every second.
      const dueAt = firstEnd !== undefined && firstEnd <= now ? now + second : firstEnd;
      await changeOrDueTime(context, { tables: [variables], index, dueAt }, signal);
    }
  },
};

/** The conditions of the loop's next wait. */
interface Looked {
  readonly index: number;
  /** When the first remaining lock expires, in wall time; undefined without locks. */
  readonly firstEnd: Instant | undefined;
}

async function writeLost(context: EngineContext): Promise<Looked> {
  const seen = await context.storage.read((view) => {
    see(context, view);
    return { index: view.index, firstEnd: firstEnd(view) };
  });
  if (seen.isErr()) throw new Error(seen.error.message);
  const first = seen.value.firstEnd;
  if (first === undefined || first > context.clock.now()) return seen.value;
  const written = await commit<Looked, never>(context, hostPrincipal, (tx) => {
    for (const { record } of tx.list(variables, { index: 'locked', to: [tx.now, null], limit: batch })) {
      if (lockState(record, tx).type !== 'held') tx.put(variables, { ...withLockLost(record), ModifyIndex: tx.index });
    }
    return ok({ index: tx.index, firstEnd: firstEnd(tx) });
  });
  if (written.isErr()) throw new Error(written.error.message);
  return { index: written.value.index, firstEnd: written.value.value.firstEnd };
}

/** Locks of other hosts are timed from when they were first seen here, not from when somebody wants them. */
function see(context: EngineContext, view: ReadView): void {
  const now = clockReadings(context);
  if (now.sightings === undefined) return;
  for (const { record } of view.list(variables, { index: 'locked', limit: seenAtOnce })) lockState(record, now);
}

function firstEnd(view: ReadView): Instant | undefined {
  return view.list(variables, { index: 'locked', limit: 1 })[0]?.record.lock?.until.at;
}
