import { ok } from 'neverthrow';
import { hostPrincipal } from '../../../access/principal.js';
import { configurations } from '../../../notifications/configurations/configuration.js';
import { type Delivery, deliveries } from '../../../notifications/delivery/delivery.js';
import { type Recovery, recoveries, turnedTo, withoutCurrent } from '../../../notifications/delivery/recovery.js';
import type { ListQuery, ReadView } from '../../../ports/storage.js';
import { commit } from '../../commit.js';
import type { BackgroundLoop, EngineContext } from '../../context/engine-context.js';
import { underWayOf } from '../../records/delivery-rows.js';
import type { Transaction } from '../../write-transaction.js';
import { touchQueue } from './change-queue.js';
import { endedDeliveries, isSelected, readAtOnce } from './delivery-log.js';
import { endOf, requestAttempt } from './redeliver.js';

/** The most redeliveries of one queue that wait at a time: new deliveries must not wait for all of them. */
const mostWaiting = 32;
/** Milliseconds between two checks of queues that were full. */
const pause = 250;
/** The maximum number of bulk redeliveries advanced between two pauses. */
const advancedAtOnce = 50;

/** Carries out bulk redeliveries, a few deliveries in each write. Several engines may run it without coordination. */
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

/** The running ones, round robin after the last one, so that those that wait for a slow destination do not block others. */
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

/** Requests redeliveries for the first configuration whose queue has room, as many as fit. */
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
    tx.put(recoveries, enabled ? requestRedeliveries(tx, turned, { configurationId, room }) : withoutCurrent(turned));
    return;
  }
}

/** How many more redeliveries fit into the queue of a configuration. */
function roomIn(view: ReadView, configurationId: string): number {
  const range = { from: [configurationId, 0], to: [configurationId, 1], limit: mostWaiting };
  const held = underWayOf(view, configurationId).filter(({ state }) => state.type === 'manual');
  return Math.max(0, mostWaiting - view.list(deliveries, { index: 'due', ...range }).length - held.length);
}

/** Requests redeliveries of the current configuration, and returns the recovery's new state. */
function requestRedeliveries(
  tx: Transaction,
  recovery: Recovery,
  { configurationId, room }: { readonly configurationId: string; readonly room: number },
): Recovery {
  const rows = endedDeliveries(tx, configurationId, recovery, recovery.reached);
  const { taken, reached } = selectUpTo(room, rows, recovery);
  for (const delivery of taken) requestAttempt(tx, delivery);
  if (taken.length > 0) touchQueue(tx, configurationId);
  const asked = { ...recovery, redelivered: recovery.redelivered + taken.length, reached };
  return taken.length < room && rows.length < readAtOnce ? withoutCurrent(asked) : asked;
}

/** The deliveries to re-send, as many as fit, and the end of the last examined one. */
function selectUpTo(
  room: number,
  rows: readonly Delivery[],
  { reached: before, ...filter }: Recovery,
): { readonly taken: readonly Delivery[]; readonly reached: Recovery['reached'] } {
  const taken: Delivery[] = [];
  let reached = before;
  for (const delivery of rows) {
    if (taken.length === room) break;
    reached = endOf(delivery);
    if (isSelected(delivery, filter)) taken.push(delivery);
  }
  return { taken, reached };
}
