import { ok } from 'neverthrow';
import { hostPrincipal } from '../../../access/principal.js';
import { configurations } from '../../../notifications/configurations/configuration.js';
import { type Delivery, deliveries } from '../../../notifications/delivery/delivery.js';
import { type Recovery, recoveries, turnedTo, withoutPresent } from '../../../notifications/delivery/recovery.js';
import type { ListQuery, ReadView } from '../../../ports/storage.js';
import { commit, type Transaction } from '../../commit.js';
import type { BackgroundLoop, EngineContext } from '../../context/engine-context.js';
import { touchQueue } from './change-queue.js';
import { endedOnes, isMeant, readAtOnce } from './ended-deliveries.js';
import { endOf, requestAttempt } from './redeliver.js';

/** The most waiting redeliveries of one queue, so that new deliveries do not wait for all of them. */
const mostWaiting = 32;
/** Milliseconds between two rounds over the running bulk redeliveries. */
const pause = 250;
/** The most bulk redeliveries advanced in one round. */
const advancedAtOnce = 50;

/** Carries out bulk redeliveries, a few deliveries per write. Several engines may do so without coordination. */
export const recoveryLoop: BackgroundLoop = {
  name: 'notification-recoveries',
  async run(context, signal) {
    let after = 0;
    let lastId = '';
    while (!signal.aborted) {
      const found = await context.storage.read((view) => ({ index: view.index, running: runningAfter(view, lastId) }));
      if (found.isErr()) throw new Error(found.error.message);
      for (const id of found.value.running) await advance(context, id);
      lastId = found.value.running.at(-1) ?? '';
      if (found.value.running.length > 0) await context.clock.sleep(pause, signal);
      else after = await context.storage.waitForChange([recoveries], Math.max(after, found.value.index), signal);
    }
  },
};

/** The running recoveries, round robin, so that those waiting for a slow destination do not delay others. */
function runningAfter(view: ReadView, lastId: string): readonly string[] {
  const list = (range: Pick<ListQuery, 'from' | 'to'>, limit: number): string[] =>
    view.list(recoveries, { index: 'running', ...range, limit }).map(({ record }) => record.id);
  const next = list({ from: [lastId, ''] }, advancedAtOnce);
  return [...next, ...list({ to: [lastId, ''] }, advancedAtOnce - next.length)];
}

async function advance(context: EngineContext, id: string): Promise<void> {
  const written = await commit<void, never>(context, hostPrincipal, (tx) => {
    const recovery = tx.get(recoveries, [id])?.record;
    if (recovery?.state === 'running') step(tx, recovery);
    return ok(undefined);
  });
  if (written.isErr()) throw new Error(written.error.message);
}

/** Queues as many deliveries as fit, for the first configuration whose queue has room. */
function step(tx: Transaction, recovery: Recovery): void {
  if (recovery.configurations.length === 0) {
    tx.put(recoveries, { ...recovery, state: 'done', finishedAt: tx.now });
    return;
  }
  for (const configurationId of recovery.configurations) {
    const enabled = tx.get(configurations, [configurationId])?.record.enabled ?? false;
    const room = enabled ? roomIn(tx, configurationId) : 0;
    if (enabled && room === 0) continue;
    const turned = turnedTo(recovery, configurationId);
    tx.put(recoveries, enabled ? askedFor(tx, turned, { configurationId, room }) : withoutPresent(turned));
    return;
  }
}

/** The number of further redeliveries that fit in the queue of a configuration. */
function roomIn(view: ReadView, configurationId: string): number {
  const range = { from: [configurationId, 0], to: [configurationId, 1], limit: mostWaiting };
  return mostWaiting - view.list(deliveries, { index: 'due', ...range }).length;
}

/** Queues deliveries of the current configuration. Returns the updated recovery. */
function askedFor(
  tx: Transaction,
  recovery: Recovery,
  { configurationId, room }: { readonly configurationId: string; readonly room: number },
): Recovery {
  const rows = endedOnes(tx, configurationId, recovery, recovery.reached);
  const { taken, reached } = takeUpTo(room, rows, recovery);
  for (const delivery of taken) requestAttempt(tx, delivery);
  if (taken.length > 0) touchQueue(tx, configurationId);
  const asked = { ...recovery, redelivered: recovery.redelivered + taken.length, reached };
  return taken.length < room && rows.length < readAtOnce ? withoutPresent(asked) : asked;
}

/** The next deliveries of the recovery, as many as fit, and the end of the last one read. */
function takeUpTo(
  room: number,
  rows: readonly Delivery[],
  { reached: before, ...filter }: Recovery,
): { readonly taken: readonly Delivery[]; readonly reached: Recovery['reached'] } {
  const taken: Delivery[] = [];
  let reached = before;
  for (const delivery of rows) {
    if (taken.length === room) break;
    reached = endOf(delivery);
    if (isMeant(delivery, filter)) taken.push(delivery);
  }
  return { taken, reached };
}
