import { ok } from 'neverthrow';
import { events, type StoredEvent } from '../../../notifications/events/event.js';
import { dispatch } from '../../../notifications/queue/dispatch.js';
import type { QueuedDelivery } from '../../../notifications/queue/held-queue.js';
import { holdAfter } from '../../../notifications/queue/hook-hold.js';
import { type Timeline, timelines } from '../../../notifications/queue/timeline.js';
import { second } from '../../../shared/duration.js';
import type { Instant } from '../../../shared/instant.js';
import type { BackgroundLoop, EngineContext } from '../../context/engine-context.js';
import { attemptDelivery } from './attempt-delivery.js';
import type { DeliveryWork, Incoming } from './delivery-work.js';
import type { OpenDestination } from './load-destination.js';
import { type Loop, newLoop, type TurnEnd } from './loop.js';
import { brokenReport, observeAttempt, reportTurn } from './observe.js';
import { runTurn, type TurnOutcome, type TurnResult } from './record-turn.js';
import type { TurnQueue } from './renew-or-release.js';
import { scanStore, watch } from './scan-store.js';

/**
 * Sends due deliveries. Every configuration has a queue; an engine leases queues, decides on them in memory (see
 * `transitionQueue` and `dispatch`), and writes the outcomes in turns, one write for everything since the last one.
 * If it is killed, its leases expire and unfinished deliveries stay due: only attempts that were in progress
 * or not yet written are repeated.
 */
export const deliveryLoop: BackgroundLoop = {
  name: 'notification-deliveries',
  async run(context, signal) {
    const loop = newLoop(context, await joinTimeline(context), signal);
    const watching = new AbortController();
    const wake = (): void => loop.waker.wake();
    signal.addEventListener('abort', wake, { once: true });
    const watcher = watch(loop, watching.signal);
    const stopListening = context.accepted.listen((accepted) => {
      loop.work.accept(accepted);
      wake();
    });
    try {
      await deliver(loop, signal);
    } finally {
      signal.removeEventListener('abort', wake);
      stopListening();
      watching.abort();
      loop.waker.close();
      await watcher;
    }
  },
};

/** The stored timeline of the first engine on it, or a new one. */
async function joinTimeline({ clock, storage }: EngineContext): Promise<Timeline> {
  const { timeline } = clock;
  const found: Timeline = { timeline, offset: clock.now() - clock.monotonic() };
  const written = await storage.write<Timeline, never>((view) => {
    const known = view.get(timelines, [timeline])?.record;
    if (known === undefined) view.put(timelines, found);
    return ok(known ?? found);
  });
  if (written.isErr()) throw new Error(written.error.message);
  return written.value.value;
}

async function deliver(loop: Loop, signal: AbortSignal): Promise<void> {
  for (;;) {
    const stopping = signal.aborted;
    applyIncoming(loop);
    if (!endTurn(loop, stopping)) return;
    if (!stopping) {
      await scanStore(loop);
      await startReady(loop);
    }
    beginTurn(loop, stopping);
    if (stopping && loop.turn === null && loop.work.held.size === 0) return;
    await rest(loop, signal.aborted);
  }
}

/** Applies the attempts that ended since the last round. */
function applyIncoming({ work, now, context }: Loop): void {
  for (const incoming of work.incoming.splice(0)) {
    const { configurationId, sequence } = incoming;
    const at = now();
    const wall = context.clock.now();
    if (incoming.type === 'not_sent') {
      work.apply(configurationId, { type: 'not_sent', sequence, at: wall, reason: incoming.reason }, at);
      continue;
    }
    const { report, kind, route } = incoming;
    const before = work.held.get(configurationId);
    const fraction = report.failure === null ? 0 : context.ids.fraction();
    work.apply(configurationId, { type: 'attempted', sequence, report, at, wall, fraction }, at);
    const until = holdAfter(kind, report, at, work.rules.maximumRetryAfter);
    if (until !== null) work.hooks.ask({ hook: route.rateKey, until }, at);
    const ended = { now: at, wall };
    observeAttempt(context, { before, after: work.held.get(configurationId) }, { sequence, report, at: ended });
  }
}

/** Applies the result of the last turn. False when the store is closed. */
function endTurn(loop: Loop, stopping: boolean): boolean {
  const end = loop.turn?.end ?? null;
  if (end === null) return true;
  loop.turn = null;
  if (end.type === 'thrown') throw end.thrown;
  if (end.type === 'written') {
    loop.work.hooks.noteWritten(end.holds);
    applyTurn(loop, end.turns, end.result);
    return true;
  }
  const { error } = end;
  if (error.reason === 'closed' || stopping) return false;
  const { logger } = loop.context;
  logger.error({ reason: error.reason, error: error.message }, 'Delivery outcomes could not be stored yet');
  loop.pausedUntil = loop.now() + second;
  return true;
}

function applyTurn({ work, now, context }: Loop, turns: readonly TurnQueue[], result: TurnResult): void {
  const at = now();
  for (const [index, outcome] of result.outcomes.entries()) {
    applyOutcome(work, outcome, turns[index]?.release === 'idle', at);
  }
  for (const row of result.claimed) work.take(row, at);
  if (result.queuesIndex.before === work.queuesIndex) work.queuesIndex = result.queuesIndex.after;
  // Leases acquired, renewed or released change the order of stored queues: the next scan finds the next one.
  if (result.lineMoved) work.changed = true;
  else if (result.reached !== null && result.reached.before <= work.known) {
    work.known = Math.max(work.known, result.reached.after);
  }
  reportTurn(context, result, work);
}

/** Starts the attempts that are allowed now. */
async function startReady(loop: Loop): Promise<void> {
  const { work, context } = loop;
  const now = loop.now();
  const candidates = work.candidates(now);
  if (candidates.length === 0) return;
  const time = { now, wall: context.clock.now() };
  const chosen = dispatch(candidates, work, time, work.rules);
  work.takeOver(chosen, now);
  const lacking = chosen.starts.filter(({ item }) => item.event === null && item.delivery.body === undefined);
  const found = await readEvents(
    context,
    lacking.map(({ item }) => item),
  );
  for (const { configurationId, item } of chosen.starts) {
    const destination = work.destinationOf(configurationId);
    if (destination === null) continue;
    const event = item.event ?? found.get(item.delivery.sequence) ?? null;
    start(loop, configurationId, { ...item, event }, destination);
  }
}

async function readEvents(
  context: EngineContext,
  items: readonly QueuedDelivery[],
): Promise<ReadonlyMap<number, StoredEvent>> {
  if (items.length === 0) return new Map();
  const read = await context.storage.read((view) =>
    items.flatMap(({ delivery }) => view.get(events, [delivery.sequence])?.record ?? []),
  );
  if (read.isErr()) throw new Error(read.error.message);
  return new Map(read.value.map((event) => [event.sequence, event]));
}

/** Applies the result of a turn for one queue; `released`: the turn was to release an idle queue. */
function applyOutcome(work: DeliveryWork, outcome: TurnOutcome, released: boolean, at: Instant): void {
  const { configurationId } = outcome.queue;
  const { held: row, recorded, touched, cancelled, autoDisabled } = outcome;
  work.apply(configurationId, { type: 'recorded', recorded }, at);
  const held = work.held.get(configurationId);
  if (held === undefined) return;
  if (row === null) {
    work.apply(configurationId, { type: 'lost' }, at);
    if (held.queue.running.size === 0 && held.queue.outcomes.length === 0) work.drop(configurationId);
    return;
  }
  const leaseUntil = row.record.lease?.until ?? at;
  work.put({ ...held, rowIndex: row.rowIndex, leaseUntil, idleSince: released ? at : held.idleSince }, at);
  if (touched || cancelled || autoDisabled) work.reopen(configurationId, row.record, at);
}

/** Makes the attempt; its outcome is applied in the next round. */
function start(
  { work, context, waker, stopping }: Loop,
  configurationId: string,
  { delivery, event }: QueuedDelivery & { readonly event: StoredEvent | null },
  destination: OpenDestination,
): void {
  const { sequence } = delivery;
  const { route } = destination;
  const end = (incoming: Incoming): void => {
    work.end(route);
    work.incoming.push(incoming);
    waker.wake();
  };
  work.start(route);
  if (destination.type === 'email' && destination.recipients.length === 0) {
    end({ type: 'not_sent', configurationId, sequence, reason: 'no_recipients' });
    return;
  }
  const about = { type: 'report', configurationId, sequence, kind: delivery.kind, route } as const;
  attemptDelivery(context, delivery, destination, { event, stopping }).then(
    (report) => end({ ...about, report }),
    () => {
      // The transport violated its contract and rejected, or the message could not be rendered. The delivery keeps its turn.
      context.logger.error({ delivery: delivery.id }, 'An attempt failed unexpectedly');
      end({ ...about, report: brokenReport(context.clock.now()) });
    },
  );
}

/** Begins to write a turn if one is needed, unless one is being written. */
function beginTurn(loop: Loop, stopping: boolean): void {
  const { work, context } = loop;
  const now = loop.now();
  if (loop.turn !== null || (loop.pausedUntil > now && !stopping)) return;
  const turns = stopping ? work.lastTurns(now) : work.turns(now);
  const claim = stopping ? 0 : work.claimable(now);
  if (turns.length === 0 && claim === 0) return;
  if (turns.length > 0) work.lastTurn = now;
  const holds = work.hooks.toWrite();
  const request = { now, queues: turns, claim, held: new Set(work.held.keys()), holds };
  const writing = context.storage.write<TurnResult, never>((view) => ok(runTurn(context, view, request)));
  const turn: NonNullable<Loop['turn']> = { end: null };
  loop.turn = turn;
  const finish = (end: TurnEnd): void => {
    turn.end = end;
    loop.waker.wake();
  };
  writing.then(
    (written) =>
      finish(
        written.match<TurnEnd>(
          ({ value }) => ({ type: 'written', turns, holds, result: value }),
          (error) => ({ type: 'failed', error }),
        ),
      ),
    (thrown: unknown) => finish({ type: 'thrown', thrown }),
  );
}

/** Waits until an attempt or a turn ends, the store changes, a due time is reached, or the engine stops. */
async function rest(loop: Loop, stopping: boolean): Promise<void> {
  const { work, waker } = loop;
  const now = loop.now();
  const toWrite = loop.turn !== null ? Number.POSITIVE_INFINITY : stopping ? work.nextRenewal() : work.nextNeed(now);
  const toStart = stopping ? Number.POSITIVE_INFINITY : (work.nextStart ?? Number.POSITIVE_INFINITY);
  const next = Math.min(Math.max(toWrite, loop.pausedUntil), toStart);
  const toRead = !stopping && (work.changed || work.toRefill.size > 0);
  if (!toRead && next > now) await waker.rest(next);
  // Attempts that end at the same time are applied together.
  await new Promise((resolve) => setImmediate(resolve));
}
