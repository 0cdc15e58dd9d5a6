import { randomFrom } from './random.js';

/*
 * A model of the chain of commits in PostgreSQL, on virtual time, for fleets that no machine at hand can show: processes write as fast as
 * they are answered and take turns under one lock; each commit makes every process that waits for changes read the feed. All times are
 * milliseconds.
 */

/** What the parts of a commit cost; see `docs/scale.md` for how they are measured. */
export interface Costs {
  /** To the server and back. */
  readonly roundTrip: number;
  /** Until the log is on the disk, or on the standby. */
  readonly sync: number;
  /** Processor time for a commit, and for each of its writes. */
  readonly server: { readonly commit: number; readonly write: number; readonly pull: number; readonly notify: number };
  readonly node: {
    readonly commit: number;
    readonly write: number;
    /** For each write after its commit: the caller goes on, while others have the lock. */
    readonly answer: number;
    readonly pull: number;
    /** For each write of another process that is read of the feed. */
    readonly foreign: number;
  };
}

export interface Fleet {
  readonly processes: number;
  /** Callers in each process, each of which writes again when it is answered. */
  readonly callers: number;
  /** The mean of a caller's random pauses between two writes; absent: none. */
  readonly pause?: number;
  /** Whether all processes wait for changes. */
  readonly isWatched: boolean;
  /** Cores of the server; or those that it shares with all processes. */
  readonly cores: number;
  readonly isShared: boolean;
}

export interface Simulated {
  readonly writesPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Share of the server's cores that is in use. */
  readonly serverLoad: number;
}

/** Things that happen at their time, in order. */
class Timeline {
  now = 0;
  readonly #heap: { readonly at: number; readonly then: () => void }[] = [];

  after(ms: number, then: () => void): void {
    const heap = this.#heap;
    heap.push({ at: this.now + ms, then });
    for (let child = heap.length - 1; child > 0; ) {
      const parent = (child - 1) >> 1;
      if (this.#at(parent) <= this.#at(child)) break;
      this.#swap(parent, child);
      child = parent;
    }
  }

  runUntil(end: number): void {
    while (this.#heap.length > 0 && this.#at(0) <= end) this.#next();
    this.now = end;
  }

  #next(): void {
    const heap = this.#heap;
    this.#swap(0, heap.length - 1);
    const { at, then } = heap.pop() as { at: number; then: () => void };
    for (let parent = 0; ; ) {
      const left = 2 * parent + 1;
      const least = left + 1 < heap.length && this.#at(left + 1) < this.#at(left) ? left + 1 : left;
      if (least >= heap.length || this.#at(parent) <= this.#at(least)) break;
      this.#swap(parent, least);
      parent = least;
    }
    this.now = at;
    then();
  }

  #at(position: number): number {
    return (this.#heap[position] as { at: number }).at;
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap;
    [heap[a], heap[b]] = [heap[b] as { at: number; then: () => void }, heap[a] as { at: number; then: () => void }];
  }
}

/** Serves so many at once, the others in order of their arrival. */
class Served {
  busy = 0;
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  enter(then: () => void): void {
    if (this.#free === 0) this.#waiting.push(then);
    else {
      this.#free -= 1;
      then();
    }
  }

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

/** After a lost race, so many turns until nobody else has written between. */
const turnsAfterLoss = 20;
const batchLimit = 512;

export function simulate(costs: Costs, fleet: Fleet, seconds = 2): Simulated {
  const world = new World(costs, fleet);
  const warmUp = 300;
  world.time.runUntil(warmUp);
  world.latencies = [];
  world.server.busy = 0;
  world.time.runUntil(warmUp + 1000 * seconds);
  const sorted = world.latencies.toSorted((a, b) => a - b);
  return {
    writesPerSecond: sorted.length / seconds,
    p50: sorted[Math.floor(0.5 * sorted.length)] ?? 0,
    p99: sorted[Math.floor(0.99 * sorted.length)] ?? 0,
    serverLoad: world.server.busy / (1000 * seconds * fleet.cores),
  };
}

class World {
  readonly time = new Timeline();
  readonly costs: Costs;
  readonly fleet: Fleet;
  /** The cores of the server. */
  readonly server: Served;
  readonly lock = new Served(1);
  readonly processes: Process[];
  latencies: number[] = [];
  readonly #random = randomFrom(1);
  /** Writes in the chain. */
  tip = 0;

  constructor(costs: Costs, fleet: Fleet) {
    this.costs = costs;
    this.fleet = fleet;
    this.server = new Served(fleet.cores);
    this.processes = Array.from({ length: fleet.processes }, () => new Process(this));
    for (const process of this.processes)
      for (let n = 0; n < fleet.callers; n += 1) this.time.after(this.pause(), () => process.submit());
  }

  /** Until a caller that was answered writes again. */
  pause(): number {
    return -Math.log(1 - this.#random.next()) * (this.fleet.pause ?? 0);
  }

  /** Work on cores of the server. */
  serve(ms: number, then: () => void): void {
    this.server.enter(() => {
      this.server.busy += ms;
      this.time.after(ms, () => {
        this.server.leave();
        then();
      });
    });
  }

  travel(then: () => void): void {
    this.time.after(this.costs.roundTrip / 2, then);
  }

  committed(by: Process, writes: number): void {
    this.tip += writes;
    by.known = this.tip;
    if (!this.fleet.isWatched) return;
    for (const process of this.processes)
      if (process !== by) this.serve(this.costs.server.notify, () => this.travel(() => process.hint()));
  }
}

class Process {
  /** Writes that are known here. */
  known = 0;
  readonly #world: World;
  readonly #thread = new Served(1);
  /** Since when its callers wait. */
  #waiting: number[] = [];
  #isWriting = false;
  #turns = 0;
  #isPulling = false;
  #isHinted = false;

  constructor(world: World) {
    this.#world = world;
  }

  submit(): void {
    this.#waiting.push(this.#world.time.now);
    if (!this.#isWriting) this.#write();
  }

  /** Work of Node: one thread, which may share its cores with the server. */
  #run(ms: number, then: () => void): void {
    const { time, fleet, server } = this.#world;
    const work = (leave: () => void): void =>
      time.after(ms, () => {
        leave();
        this.#thread.leave();
        then();
      });
    this.#thread.enter(() => {
      if (fleet.isShared) server.enter(() => work(() => server.leave()));
      else work(() => undefined);
    });
  }

  #write(): void {
    this.#isWriting = this.#waiting.length > 0;
    if (!this.#isWriting) return;
    if (this.#turns > 0) this.#turn();
    else this.#optimistic();
  }

  /** Decides on what is known, and is refused if that is not the last state any more. */
  #optimistic(): void {
    const { lock, costs } = this.#world;
    this.#decide((batch) => {
      const from = this.known;
      this.#world.travel(() =>
        lock.enter(() => {
          if (from === this.#world.tip) return this.#commit(batch);
          this.#world.serve(costs.server.commit, () => {
            lock.leave();
            this.#turns = turnsAfterLoss;
            this.#world.travel(() => this.#write());
          });
        }),
      );
    });
  }

  /** Takes the lock first, and reads what it has missed. */
  #turn(): void {
    const { lock, costs } = this.#world;
    this.#world.travel(() =>
      lock.enter(() =>
        this.#world.serve(costs.server.pull, () =>
          this.#world.travel(() => {
            const isForeign = this.known < this.#world.tip;
            this.#turns = isForeign ? turnsAfterLoss : this.#turns - 1;
            this.#learn(() => this.#decide((batch) => this.#world.travel(() => this.#commit(batch))));
          }),
        ),
      ),
    );
  }

  /** Applies what others have written. */
  #learn(then: () => void): void {
    const { tip, costs } = this.#world;
    const foreign = tip - this.known;
    this.known = tip;
    this.#run(foreign * costs.node.foreign, then);
  }

  #decide(then: (batch: number) => void): void {
    const { node } = this.#world.costs;
    const batch = Math.min(batchLimit, this.#waiting.length);
    this.#run(node.commit + batch * node.write, () => then(batch));
  }

  #commit(batch: number): void {
    const { costs, lock, time } = this.#world;
    this.#world.serve(costs.server.commit + batch * costs.server.write, () =>
      time.after(costs.sync, () => {
        this.#world.committed(this, batch);
        lock.leave();
        this.#world.travel(() => this.#answer(batch));
      }),
    );
  }

  #answer(batch: number): void {
    this.#run(batch * this.#world.costs.node.answer, () => this.#answered(batch));
  }

  #answered(batch: number): void {
    const { time, fleet, latencies } = this.#world;
    for (const since of this.#waiting.splice(0, batch)) {
      latencies.push(time.now - since);
      if (fleet.pause === undefined) this.#waiting.push(time.now);
      else time.after(this.#world.pause(), () => this.submit());
    }
    this.#write();
  }

  /** Somebody has written: the feed is read once more after a read that is under way. */
  hint(): void {
    this.#isHinted = true;
    if (!this.#isPulling) this.#pull();
  }

  #pull(): void {
    const { costs } = this.#world;
    this.#isPulling = this.#isHinted;
    this.#isHinted = false;
    if (!this.#isPulling) return;
    this.#run(costs.node.pull, () =>
      this.#world.travel(() =>
        this.#world.serve(costs.server.pull, () => this.#world.travel(() => this.#learn(() => this.#pull()))),
      ),
    );
  }
}
