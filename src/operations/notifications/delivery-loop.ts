import { ok } from 'neverthrow';
import { deliveryLanes } from '../../notifications/delivery.js';
import { events } from '../../notifications/event.js';
import type { StorageError } from '../../ports/storage.js';
import { second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { type BackgroundLoop, type EngineContext, emit } from '../shared/context.js';
import { chooseAttempts, pruneBuckets, readContents, startAttempt, type Traffic } from './delivery-dispatch.js';
import { type LaneSnapshot, lowWater, type Refill, readQueue, runTurn, type TurnResult } from './delivery-turn.js';
import { type Acknowledgement, addReady, distrust, type HeldLane, isIdle } from './held-lane.js';

/**
 * Delivers what is due. Deliveries queue up in one lane per configuration; an engine leases lanes, not single deliveries,
 * and stores what happened in turns, one write for everything since the last one. Killed at any point, it leaves
 * leases that run out and deliveries that are still due: only attempts that were under way are repeated.
 */
export const deliveryLoop: BackgroundLoop = {
  name: 'notification-deliveries',
  async run(context, signal) {
    const work = newWork();
    const watching = new AbortController();
    const onAbort = (): void => poke(work);
    signal.addEventListener('abort', onAbort, { once: true });
    const watcher = watchQueue(context, work, watching.signal);
    try {
      await deliver(context, work, signal);
    } finally {
      signal.removeEventListener('abort', onAbort);
      watching.abort();
      work.alarm?.controller.abort();
      await watcher;
    }
  },
};

interface Work {
  readonly lanes: Map<string, HeldLane>;
  /** Lanes that were lost while attempts were under way. */
  readonly orphans: Set<HeldLane>;
  readonly traffic: Traffic;
  /** Something may be due that is not held. */
  claimHint: boolean;
  /** When the next lane in the store comes up; null when none does. */
  nextWake: Instant | null;
  resume: (() => void) | null;
  /** Calls of `poke` since the loop last rested. */
  pokes: number;
  alarm: { readonly at: Instant; readonly controller: AbortController } | null;
}

function newWork(): Work {
  return {
    lanes: new Map(),
    orphans: new Set(),
    traffic: { inFlight: 0, perOrigin: new Map(), buckets: new Map(), rateOpensAt: null },
    claimHint: true,
    nextWake: null,
    resume: null,
    pokes: 0,
    alarm: null,
  };
}

async function deliver(context: EngineContext, work: Work, signal: AbortSignal): Promise<void> {
  for (;;) {
    const stopping = signal.aborted;
    if (stopping) for (const lane of work.lanes.values()) dropQueue(lane);
    const free = freeLanes(context, work);
    const claim = !stopping && work.claimHint && free > 0 && (await somethingIsDue(context, work)) ? free : 0;
    if (claim > 0 || needsTurn(context, work)) {
      if (!(await takeTurn(context, work, claim, stopping))) return;
    } else if (!stopping) {
      await refill(context, work);
    }
    if (!stopping) await startAttempts(context, work);
    if (signal.aborted && work.lanes.size === 0 && work.orphans.size === 0) return;
    if (!needsTurn(context, work) && !(signal.aborted && !stopping)) await rest(context, work, signal.aborted);
    await gather(work);
  }
}

/** Asks the store whether a lane is due, and when the next one is. */
async function somethingIsDue(context: EngineContext, work: Work): Promise<boolean> {
  work.claimHint = false;
  const read = await context.storage.read(
    (view) => view.list(deliveryLanes, { index: 'by_wake', limit: 1 })[0]?.record,
  );
  if (read.isErr()) throw new Error(read.error.message);
  const lane = read.value;
  work.nextWake = lane === undefined ? null : (lane.lease?.until ?? lane.dueAt);
  return work.nextWake !== null && work.nextWake <= context.clock.now();
}

function freeLanes(context: EngineContext, work: Work): number {
  const { concurrency, batch } = context.settings.notifications.delivery;
  return Math.max(0, Math.min(batch, concurrency * 4 - work.lanes.size));
}

/** Outcomes to store, a lane to give back, or a lease to renew. */
function needsTurn(context: EngineContext, work: Work): boolean {
  const now = context.clock.now();
  for (const lane of work.lanes.values()) {
    if (lane.acknowledgements.length > 0 || isIdle(lane) || renewAt(context, lane) <= now) return true;
  }
  for (const lane of work.orphans) if (lane.acknowledgements.length > 0 || lane.inFlight === 0) return true;
  return false;
}

function renewAt(context: EngineContext, lane: HeldLane): Instant {
  return lane.leaseUntil - context.settings.notifications.delivery.lease / 2;
}

/** Runs one turn and applies what it gives. False when the store is closed and nothing more can be done. */
async function takeTurn(context: EngineContext, work: Work, claim: number, stopping: boolean): Promise<boolean> {
  const now = context.clock.now();
  const lanes: LaneSnapshot[] = [];
  for (const lane of [...work.lanes.values(), ...work.orphans]) {
    lanes.push({ lane, acknowledgements: lane.acknowledgements });
    lane.acknowledgements = [];
  }
  const written = await context.storage.write<TurnResult, never>((view) =>
    ok(runTurn(context, view, { now, lanes, claim, stopping })),
  );
  if (written.isErr()) {
    for (const { lane, acknowledgements } of lanes) {
      lane.acknowledgements = [...acknowledgements, ...lane.acknowledgements];
    }
    return outlast(context, work, written.error, stopping);
  }
  apply(context, work, lanes, written.value.value);
  // Taken lanes have left the head of the line: the next look shows who is next.
  if (claim > 0) work.claimHint = true;
  return true;
}

/** The store failed: everything is kept and tried again, unless it is closed or the engine stops. */
async function outlast(context: EngineContext, work: Work, error: StorageError, stopping: boolean): Promise<boolean> {
  if (error.reason === 'closed' || stopping) return false;
  context.logger.error({ reason: error.reason, error: error.message }, 'Delivery outcomes could not be stored yet');
  work.claimHint = true;
  const pause = new AbortController();
  await context.clock.sleepUntil(context.clock.now() + second, pause.signal);
  return true;
}

function apply(context: EngineContext, work: Work, lanes: readonly LaneSnapshot[], result: TurnResult): void {
  for (const { lane, acknowledgements } of lanes) {
    for (const acknowledgement of acknowledgements) {
      lane.known.delete(acknowledgement.before.id);
      emitAttempt(context, acknowledgement);
    }
  }
  for (const outcome of result.outcomes) {
    const { lane, held, refill: read } = outcome;
    if (outcome.autoDisabled) reportAutoDisable(context, lane, lanes);
    if (held === null) {
      work.lanes.delete(lane.configurationId);
      work.orphans.delete(lane);
      if (lane.inFlight > 0) {
        lane.lost = true;
        dropQueue(lane);
        work.orphans.add(lane);
      }
      work.claimHint = true;
      continue;
    }
    lane.rowIndex = held.rowIndex;
    lane.leaseUntil = held.leaseUntil;
    if (outcome.touched) distrust(lane);
    if (read !== null) applyRefill(lane, read);
  }
  for (const { lane, refill: read } of result.claimed) {
    work.lanes.set(lane.configurationId, lane);
    applyRefill(lane, read);
  }
  context.observer.gauge('notification_lanes', work.lanes.size, {});
}

/** Told when it is stored: whoever hears of an attempt finds it in the log. */
function emitAttempt(context: EngineContext, { before, after, attempt }: Acknowledgement): void {
  if (attempt === null) return;
  const retrying = after.state.type === 'dead' ? 'dead' : 'retrying';
  emit(context, 'notification.attempt', {
    deliveryId: before.id,
    configurationId: before.configurationId,
    attempt: after.attempts.at(-1)?.number ?? 0,
    outcome: attempt.failure === null ? 'delivered' : retrying,
    errorClass: attempt.failure?.class ?? null,
  });
}

function reportAutoDisable(context: EngineContext, lane: HeldLane, lanes: readonly LaneSnapshot[]): void {
  const workspaceId = lanes.find((snapshot) => snapshot.lane === lane)?.acknowledgements[0]?.before.workspaceId ?? '';
  const { configurationId } = lane;
  context.logger.warn(
    { configuration: configurationId },
    'A notification configuration was disabled: it failed for too long',
  );
  emit(context, 'notification.configuration', { configurationId, workspaceId, change: 'auto_disabled' });
}

function applyRefill(lane: HeldLane, read: Refill): void {
  addReady(lane, read.rows);
  lane.cursor = read.cursor;
  lane.exhausted = read.exhausted;
}

/** Reads on in the queues that have run low, where nothing has to be written. */
async function refill(context: EngineContext, work: Work): Promise<void> {
  const { batch } = context.settings.notifications.delivery;
  const low = [...work.lanes.values()].filter((lane) => !lane.exhausted && lane.ready.length < lowWater(batch));
  if (low.length === 0) return;
  const now = context.clock.now();
  const read = await context.storage.read((view) =>
    low.map((lane) => ({ lane, read: readQueue(view, lane, lane.known, now, batch) })),
  );
  if (read.isErr()) throw new Error(read.error.message);
  for (const each of read.value) applyRefill(each.lane, each.read);
}

async function startAttempts(context: EngineContext, work: Work): Promise<void> {
  const now = context.clock.now();
  pruneBuckets(work.traffic, now);
  const chosen = chooseAttempts(context.settings, work.traffic, work.lanes.values(), now);
  if (chosen.length === 0) return;
  const read = await context.storage.read((view) => readContents(context, view, chosen, now));
  if (read.isErr()) throw new Error(read.error.message);
  for (const each of chosen) {
    startAttempt(context, work.traffic, each, read.value.get(each.row) ?? {}, () => poke(work));
  }
}

function dropQueue(lane: HeldLane): void {
  lane.ready = [];
  lane.blocked.clear();
}

/** Waits until an attempt ends, the queue changes, a lane or a rate comes due, or the engine stops. */
async function rest(context: EngineContext, work: Work, stopping: boolean): Promise<void> {
  if (!stopping) {
    const now = context.clock.now();
    const wakes: Instant[] = [...work.lanes.values()].map((lane) => renewAt(context, lane));
    if (work.traffic.rateOpensAt !== null) wakes.push(work.traffic.rateOpensAt);
    if (freeLanes(context, work) > 0) {
      if (work.nextWake !== null && work.nextWake <= now) work.claimHint = true;
      if (work.claimHint) return;
      if (work.nextWake !== null) wakes.push(work.nextWake);
    }
    const next = Math.min(...wakes);
    if (next <= now) return;
    if (Number.isFinite(next)) setAlarm(context, work, next);
  }
  if (work.pokes === 0) {
    await new Promise<void>((resolve) => {
      work.resume = resolve;
    });
  }
  work.pokes = 0;
}

/** Wakes the loop. */
function poke(work: Work): void {
  work.pokes += 1;
  const { resume } = work;
  work.resume = null;
  resume?.();
}

/** Turns of the event loop: so many without anything new end the gathering, and so many in any case. */
const quietTurns = 3;
const gatherTurns = 24;

/** Resolves when nothing more has come for a moment (far below a millisecond), so that what ends together is stored together. */
async function gather(work: Work): Promise<void> {
  let quiet = 0;
  for (let turn = 0; turn < gatherTurns && quiet < quietTurns; turn += 1) {
    const seen = work.pokes;
    await new Promise((resolve) => setImmediate(resolve));
    quiet = work.pokes === seen ? quiet + 1 : 0;
  }
}

function setAlarm(context: EngineContext, work: Work, at: Instant): void {
  if (work.alarm !== null && work.alarm.at <= at && work.alarm.at > context.clock.now()) return;
  work.alarm?.controller.abort();
  const controller = new AbortController();
  work.alarm = { at, controller };
  void context.clock.sleepUntil(at, controller.signal).then(() => {
    if (controller.signal.aborted) return;
    work.alarm = null;
    work.claimHint = true;
    poke(work);
  });
}

/** Undefined, after a pause, when the store fails at what it must not: nobody waits for this promise but the loop's end. */
async function nextChange(context: EngineContext, after: number, signal: AbortSignal): Promise<number | undefined> {
  try {
    return await context.storage.waitForChange([deliveryLanes, events], after, signal);
  } catch (error) {
    const message = error instanceof Error ? error.message : 'unknown';
    context.logger.error({ error: message }, 'The queue of deliveries cannot be watched');
    await context.clock.sleepUntil(context.clock.now() + second, signal);
    return undefined;
  }
}

/** New events and changed lanes. Turns that only store outcomes touch neither table and wake nobody. */
async function watchQueue(context: EngineContext, work: Work, signal: AbortSignal): Promise<void> {
  let after = 0;
  while (!signal.aborted) {
    const reached = await nextChange(context, after, signal);
    if (reached === undefined) continue;
    if (signal.aborted || reached <= after) return;
    after = reached;
    work.claimHint = true;
    for (const lane of work.lanes.values()) lane.exhausted = false;
    poke(work);
  }
}
