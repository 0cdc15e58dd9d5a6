import { ok } from 'neverthrow';
import { isExpired, tokens } from '../../../access/tokens.js';
import { hour, minute } from '../../../shared/duration.js';
import type { BackgroundLoop, EngineContext } from '../../context/engine-context.js';
import { changeOrDueTime } from '../../waiting/until-change.js';

/** The most tokens removed in one write, so that other writers are not delayed. */
const batch = 500;
/** Delay after the first is due, so that one write removes several. */
const pause = 5 * minute;
/** How long an expired token can still be read by management callers. */
const kept = hour;

/**
 * Removes tokens an hour after their expiry. They are refused from their expiry on, even while stored. Every
 * write decides on the rows it reads, so several processes may run this loop on one store.
 */
export const tokenExpiryLoop: BackgroundLoop = {
  name: 'token-expiry',
  async run(context, signal) {
    while (!signal.aborted) {
      while (!signal.aborted && (await collected(context)) === batch);
      const next = await firstExpiry(context);
      const dueAt = next.expiresAt === undefined ? undefined : next.expiresAt + kept + pause;
      await changeOrDueTime(context, { tables: [tokens], index: next.index, dueAt }, signal);
    }
  },
};

async function firstExpiry(context: EngineContext) {
  const seen = await context.storage.read((view) => ({
    index: view.index,
    expiresAt: view.list(tokens, { index: 'by_expiry', limit: 1 })[0]?.record.expiresAt,
  }));
  if (seen.isErr()) throw new Error(seen.error.message);
  return seen.value;
}

async function collected(context: EngineContext): Promise<number> {
  const before = context.clock.now() - kept;
  const due = await context.storage.read((view) =>
    view.list(tokens, { index: 'by_expiry', to: [before], limit: batch }),
  );
  if (due.isErr()) throw new Error(due.error.message);
  const accessors = due.value.map(({ record }) => record.accessor);
  if (accessors.length === 0) return 0;
  const written = await context.storage.write<void, never>((view) => {
    for (const accessor of accessors) {
      const token = view.get(tokens, [accessor])?.record;
      if (token !== undefined && isExpired(token, before)) view.remove(tokens, [accessor]);
    }
    return ok(undefined);
  });
  if (written.isErr()) throw new Error(written.error.message);
  return accessors.length;
}
