import { err, ok, type Result } from 'neverthrow';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { allocations } from '../../scheduler/allocation.js';
import { nodes } from '../../scheduler/node.js';
import { type Departures, drainsInSteps } from '../../scheduler/nodes/decide-drain.js';
import type { Steps } from '../../scheduler/steps.js';
import { type Milliseconds, second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { steppedWork, stepsInTurns } from '../context/steps-in-turns.js';
import { changeOrTime } from '../waiting/change-or-time.js';
import { type DrainTimes, KnownDrains } from './known-drains.js';
import { type WaitingEvaluations, writeDepartures } from './write-departures.js';

/** While a node is being emptied it is considered no more often than this, however busy the cluster is. */
const pause = second / 4;
/** Looking takes no more than a part of the time: after each look the loop pauses for so many times what it took. */
const pauseFactor = 4;

/**
 * Empties the nodes that are being drained, as `decideDrains` decides, and ends their drains. What leaves is decided in turns of the event
 * loop on what the loop knows of the jobs, and written in parts that check whether it is still so: any number of processes may handle
 * the drains.
 */
export const drainLoop: BackgroundLoop = {
  name: 'drains',
  run: async (context, signal) => {
    const memory: Memory = { known: new KnownDrains(), waiting: new Map(), next: undefined };
    while (!signal.aborted) {
      const began = context.clock.monotonic();
      const seen = await drainOnce(context, memory, signal);
      const took = context.clock.monotonic() - began;
      if (seen === undefined) {
        memory.known.forget();
        await context.clock.sleep(second, signal);
        continue;
      }
      const tables = seen.draining ? [nodes, allocations] : [nodes];
      await changeOrTime(context, { tables, index: seen.index, moment: seen.next }, signal);
      if (seen.draining) await context.clock.sleep(Math.max(pause, pauseFactor * took), signal);
    }
  },
};

interface Seen {
  readonly index: number;
  readonly draining: boolean;
  readonly next: Instant | undefined;
}

interface Times {
  readonly now: Instant;
  readonly monotonic: Milliseconds;
}

/** What the loop keeps from one look to the next. */
interface Memory {
  readonly known: KnownDrains;
  readonly waiting: WaitingEvaluations;
  /** When to decide again if nothing has changed, as of the last decision, by both kinds of time. */
  next: Times | undefined;
}

/** Undefined when the store failed, or the signal aborted. */
async function drainOnce(context: EngineContext, memory: Memory, signal: AbortSignal): Promise<Seen | undefined> {
  const begun = await context.storage.read((view) => ({ index: view.index, draining: isAnyDrained(view) }));
  if (begun.isErr()) return failed(context, begun.error.message);
  const { index, draining } = begun.value;
  if (!draining) {
    memory.known.forget();
    return { index, draining, next: undefined };
  }
  for (let attempt = 1; ; attempt += 1) {
    const settled = await settle(context, memory, signal);
    if (settled.isErr()) return failed(context, settled.error.message);
    if (settled.value === undefined) return undefined;
    if (settled.value.end !== 'conflict' || attempt === attempts) return { index, draining, next: settled.value.next };
  }
}

/** So often the rest is decided again at once when something has changed meanwhile. */
const attempts = 8;

interface Settled {
  readonly end: 'nothing' | 'complete' | 'conflict';
  readonly next: Instant | undefined;
}

/** Decides once and writes what was decided. Undefined when the signal aborted. */
async function settle(
  context: EngineContext,
  memory: Memory,
  signal: AbortSignal,
): Promise<Result<Settled | undefined, StorageError>> {
  const time = { now: context.clock.now(), monotonic: context.clock.monotonic() };
  const work = steppedWork((view) => lookInSteps(view, context, memory, time));
  const looked = await stepsInTurns(context, work, signal);
  if (looked.isErr()) return err(looked.error);
  if (looked.value === undefined) return ok(undefined);
  const { departures, completed, next } = looked.value;
  memory.next = next === undefined ? undefined : { now: next, monotonic: time.monotonic + next - time.now };
  const isNothing = departures.length + completed.length === 0;
  if (isNothing && memory.waiting.size === 0) {
    memory.known.noteSettled();
    return ok({ end: 'nothing', next });
  }
  const written = await writeDepartures(context, memory, looked.value, signal);
  // What was written may be the reason to decide again: only now are the allocations that it marked known to be leaving.
  return written.map((end) => (end === 'stopped' ? undefined : { end, next: context.clock.now() }));
}

function isAnyDrained(view: ReadView): boolean {
  return view.list(nodes, { index: 'draining', limit: 1 }).length > 0;
}

/** Decides on what is stored by the end. Nothing leaves where neither a change nor the time has made a difference since the last look. */
function* lookInSteps(
  view: () => ReadView,
  { presentTimes }: EngineContext,
  { known, next }: Memory,
  time: Times,
): Steps<Departures> {
  const times: DrainTimes = {
    now: time.now,
    strategyOf: ({ ID, DrainStrategy }) => presentTimes.drain(ID, DrainStrategy, time),
    runsSince: ({ ID, runsSince }) => presentTimes.start(ID, runsSince, time),
  };
  yield* known.refreshed(view, times);
  const isDue = next !== undefined && (next.now <= time.now || next.monotonic <= time.monotonic);
  if (!known.changed && !isDue) return { departures: [], completed: [], next: earliest(next, time) };
  return yield* drainsInSteps(known.drains(times));
}

/** By the wall clock as it is set now. */
function earliest(next: Times | undefined, { now, monotonic }: Times): Instant | undefined {
  return next && Math.min(next.now, now + next.monotonic - monotonic);
}

function failed({ logger }: EngineContext, error: string): undefined {
  logger.error({ error }, 'Drains of nodes could not be looked after');
}
