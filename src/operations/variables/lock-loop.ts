import { ok } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { ReadView } from '../../ports/storage.js';
import { second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { lockState, withLockLost } from '../../variables/lock.js';
import { variables } from '../../variables/variable.js';
import { commit } from '../commit.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { changeOrTime } from '../waiting/change-or-time.js';

/** The most locks per write. */
const batch = 200;

/**
 * Records that locks have expired, so that readers that wait for a variable are notified. No decision depends on this record: an
 * expired lock counts as lost immediately. Each write decides on the rows it reads, so several processes may run it on one store.
 */
export const variableLockLoop: BackgroundLoop = {
  name: 'variable-locks',
  async run(context, signal) {
    while (!signal.aborted) {
      const { index, firstEnd } = await writeLost(context);
      const now = context.clock.now();
      // A lock that has expired only by the wall clock, which was set forward, is checked every second.
      const moment = firstEnd !== undefined && firstEnd <= now ? now + second : firstEnd;
      await changeOrTime(context, { tables: [variables], index, moment }, signal);
    }
  },
};

/** The next conditions of the loop. */
interface LockScan {
  readonly index: number;
  /** Expiry of the first remaining lock, by the wall clock; undefined without locks. */
  readonly firstEnd: Instant | undefined;
}

async function writeLost(context: EngineContext): Promise<LockScan> {
  const seen = await context.storage.read((view) => ({ index: view.index, firstEnd: firstEnd(view) }));
  if (seen.isErr()) throw new Error(seen.error.message);
  const first = seen.value.firstEnd;
  if (first === undefined || first > context.clock.now()) return seen.value;
  const written = await commit<LockScan, never>(context, hostPrincipal, (tx) => {
    for (const { record } of tx.list(variables, { index: 'locked', to: [tx.now, null], limit: batch })) {
      if (lockState(record, tx).type !== 'held') tx.put(variables, { ...withLockLost(record), ModifyIndex: tx.index });
    }
    return ok({ index: tx.index, firstEnd: firstEnd(tx) });
  });
  if (written.isErr()) throw new Error(written.error.message);
  return { index: written.value.index, firstEnd: written.value.value.firstEnd };
}

function firstEnd(view: ReadView): Instant | undefined {
  return view.list(variables, { index: 'locked', limit: 1 })[0]?.record.lock?.until.at;
}
