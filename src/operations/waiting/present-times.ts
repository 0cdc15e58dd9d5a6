import type { Allocation, TaskState } from '../../scheduler/allocation.js';
import type { Deployment, DeploymentState } from '../../scheduler/deployment/deployment.js';
import type { DrainStrategy } from '../../scheduler/node.js';
import { type Milliseconds, millisecondsFromNanos } from '../../shared/duration.js';
import { type Instant, instantFromUnixNanos, isoFromInstant, unixNanosFromInstant } from '../../shared/instant.js';

/** A reading of both kinds of time. */
interface Readings {
  readonly now: Instant;
  readonly monotonic: Milliseconds;
}

/** Smaller changes, in milliseconds, are ignored: they come from clock synchronisation. */
const smallestStep = 1000;
/** The size of each generation of cached instants. */
const generationSize = 20_000;

/**
 * Converts recorded instants that limit intervals, such as starts and deadlines, to current wall time. The offset of the clocks is
 * recorded at the first use of an instant; if the wall clock is set after that, the instant moves by the same amount, so that the
 * interval keeps its length (decision 009). An instant later than possible, because the clock was set back before the first use, is
 * cut to the latest possible one.
 */
export class PresentTimes {
  /** Wall time minus monotonic time at the first use. Instants still in use move from the old map to the young one. */
  #young = new Map<string, Milliseconds>();
  #old = new Map<string, Milliseconds>();

  allocation(allocation: Allocation, time: Readings): Allocation {
    const { ID, CreateTime, TaskStates } = allocation;
    const before = instantFromUnixNanos(CreateTime);
    const created = this.#present(ID, before, time, 0);
    const states = Object.entries(TaskStates ?? {}).map(
      ([name, state]) => [name, this.#task(ID, state, time)] as const,
    );
    const isSame = created === before && states.every(([name, state]) => state === TaskStates?.[name]);
    if (isSame) return allocation;
    return { ...allocation, CreateTime: unixNanosFromInstant(created), TaskStates: Object.fromEntries(states) };
  }

  /** The start of an allocation's tasks, or another instant that was in the past when it was recorded. */
  start(allocationId: string, instant: Instant, time: Readings): Instant {
    return Number.isFinite(instant) ? this.#present(allocationId, instant, time, 0) : instant;
  }

  deployment(deployment: Deployment, time: Readings): Deployment {
    const { ID, TaskGroups } = deployment;
    const groups = Object.entries(TaskGroups).map(([name, state]): readonly [string, DeploymentState] => {
      const limit = millisecondsFromNanos(state.ProgressDeadline);
      const by = this.#text(`${ID} ${name}`, state.RequireProgressBy, time, limit);
      return [name, by === state.RequireProgressBy ? state : { ...state, RequireProgressBy: by }];
    });
    const isSame = groups.every(([name, state]) => state === TaskGroups[name]);
    return isSame ? deployment : { ...deployment, TaskGroups: Object.fromEntries(groups) };
  }

  drain(nodeId: string, strategy: DrainStrategy, time: Readings): DrainStrategy {
    const limit = millisecondsFromNanos(strategy.Deadline);
    const by = this.#text(nodeId, strategy.ForceDeadline, time, limit);
    return by === strategy.ForceDeadline ? strategy : { ...strategy, ForceDeadline: by };
  }

  #task(id: string, state: TaskState, time: Readings): TaskState {
    const StartedAt = this.#text(id, state.StartedAt, time, 0);
    const LastRestart = this.#text(id, state.LastRestart, time, 0);
    const isSame = StartedAt === state.StartedAt && LastRestart === state.LastRestart;
    return isSame ? state : { ...state, StartedAt, LastRestart };
  }

  #text(id: string, text: string | null, time: Readings, limit: Milliseconds): string | null {
    const instant = Date.parse(text ?? '');
    if (!Number.isFinite(instant)) return text;
    const present = this.#present(id, instant, time, limit);
    return present === instant ? text : isoFromInstant(present);
  }

  /** `limit`: how far in the future the instant can be at its first use. */
  #present(id: string, instant: Instant, { now, monotonic }: Readings, limit: Milliseconds): Instant {
    const key = `${id} ${instant}`;
    const offset = now - monotonic;
    const known = this.#young.get(key) ?? this.#old.get(key) ?? offset + Math.max(0, instant - now - limit);
    if (!this.#young.has(key)) this.#cache(key, known);
    const moved = offset - known;
    return Math.abs(moved) < smallestStep ? instant : instant + moved;
  }

  #cache(key: string, offset: Milliseconds): void {
    if (this.#young.size >= generationSize) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, offset);
  }
}
