import { err, ok, type Result } from 'neverthrow';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { nodes } from '../../scheduler/node.js';
import { type Departures, drainsInSteps } from '../../scheduler/nodes/decide-drain.js';
import type { Steps } from '../../scheduler/steps.js';
import type { Milliseconds } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { steppedWork, stepsInTurns } from '../context/steps-in-turns.js';
import { checkAtPace, type Seen } from '../waiting/until-change.js';
import { type DrainTimes, KnownDrains } from './known-drains.js';
import { type WaitingEvaluations, writeDepartures } from './write-departures.js';

/**
 * Drains nodes as `decideDrains` decides, and completes their drains. Decisions are made in steps, between which the event loop runs, from
 * the loop's cache, and written in parts that check that the cache is still right: any number of processes may process
 * the drains.
 */
export const drainLoop: BackgroundLoop = {
  name: 'drains',
  run: async (context, signal) => {
    const memory: Memory = { known: new KnownDrains(), waiting: new Map(), next: undefined };
    const check = async (): Promise<Seen | undefined> => {
      const seen = await drainOnce(context, memory, signal);
      if (seen === undefined) memory.known.forget();
      return seen;
    };
    await checkAtPace(context, nodes, check, signal);
  },
};

interface Times {
  readonly now: Instant;
  readonly monotonic: Milliseconds;
}

/** State that the loop keeps from one check to the next. */
interface Memory {
  readonly known: KnownDrains;
  readonly waiting: WaitingEvaluations;
  /** When to decide again if nothing changes, according to the last decision, on both clocks. */
  next: Times | undefined;
}

/** One check; undefined when the store failed or the signal aborted. */
async function drainOnce(context: EngineContext, memory: Memory, signal: AbortSignal): Promise<Seen | undefined> {
  const begun = await context.storage.read((view) => ({ index: view.index, active: isAnyDrained(view) }));
  if (begun.isErr()) return failed(context, begun.error.message);
  const { index, active } = begun.value;
  if (!active) {
    memory.known.forget();
    return { index, active, next: undefined };
  }
  for (let attempt = 1; ; attempt += 1) {
    const settled = await settle(context, memory, signal);
    if (settled.isErr()) return failed(context, settled.error.message);
    if (settled.value === undefined) return undefined;
    if (settled.value.end !== 'conflict' || attempt === attempts) return { index, active, next: settled.value.next };
  }
}

/** How often the rest is decided again at once after concurrent changes. */
const attempts = 8;

interface Settled {
  readonly end: 'nothing' | 'complete' | 'conflict';
  readonly next: Instant | undefined;
}

/** Decides once and writes the decision. Undefined when the signal aborted. */
async function settle(
  context: EngineContext,
  memory: Memory,
  signal: AbortSignal,
): Promise<Result<Settled | undefined, StorageError>> {
  const time = { now: context.clock.now(), monotonic: context.clock.monotonic() };
  const work = steppedWork((view) => checkInSteps(view, context, memory, time));
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
  // The write itself may be a reason to decide again: only now does the cache show that the marked allocations leave.
  return written.map((end) => (end === 'stopped' ? undefined : { end, next: context.clock.now() }));
}

function isAnyDrained(view: ReadView): boolean {
  return view.list(nodes, { index: 'draining', limit: 1 }).length > 0;
}

/** Decides from the state at its end. Nothing leaves if neither a change nor the time has made a difference since the last check. */
function* checkInSteps(
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

/** The earlier of both, on the current wall clock. */
function earliest(next: Times | undefined, { now, monotonic }: Times): Instant | undefined {
  return next && Math.min(next.now, now + next.monotonic - monotonic);
}

function failed({ logger }: EngineContext, error: string): undefined {
  logger.error({ error }, 'Processing the drains of nodes failed');
}
