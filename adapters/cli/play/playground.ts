import type { Instant } from '../../../src/index.js';
import type { PageClock, PageClockState } from '../../http-server/edge/page-clock.js';
import type { TestEngine } from '../../testing/index.js';

/** Milliseconds of virtual time between looks at the target. */
const step = 60_000;
/** How far the clock can be moved from the start, in milliseconds. */
const span = 30 * 86_400_000;

interface Stage {
  /** Makes the installation as it is at the start, the same each time. */
  make(): Promise<TestEngine>;
  /** Ends what waits for the installation that has just been replaced, and is about to end. */
  leave(): void;
}

/** An installation whose agents have reported. */
async function settled(made: Promise<TestEngine>): Promise<TestEngine> {
  const world = await made;
  await world.settle();
  return world;
}

/**
 * An installation on virtual time that can go back: it is made again, and moved to the wanted time. Since nothing in it is random, it does
 * again what it did before, without what callers have changed.
 */
export class Playground implements PageClock {
  readonly #title: string;
  readonly #stage: Stage;
  readonly #start: Instant;
  #world: TestEngine;
  #target: Instant;
  #number = 0;
  /** Undefined while the clock stands still. */
  #move: Promise<void> | undefined;
  #isOver = false;
  #fail: (failure: { readonly error: unknown }) => void = () => undefined;
  /** Resolves if it cannot be made again or moved. */
  readonly failure = new Promise<{ readonly error: unknown }>((resolve) => {
    this.#fail = resolve;
  });

  private constructor(title: string, stage: Stage, world: TestEngine) {
    this.#title = title;
    this.#stage = stage;
    this.#world = world;
    this.#start = world.clock.now();
    this.#target = this.#start;
  }

  /** Rejects if the installation cannot be made. */
  static async begin(title: string, stage: Stage): Promise<Playground> {
    return new Playground(title, stage, await settled(stage.make()));
  }

  /** The present installation. */
  get world(): TestEngine {
    return this.#world;
  }

  state(): PageClockState {
    const [now, start, target] = [this.#world.clock.now(), this.#start, this.#target];
    const isMoving = this.#move !== undefined;
    return { now, start, end: start + span, target, isMoving, world: this.#number, title: this.#title };
  }

  moveTo(at: Instant): void {
    this.#target = at;
    this.#move ??= this.#run();
  }

  /** Ends the installation, after the step in progress. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#move;
    await this.#world.stop();
  }

  async #run(): Promise<void> {
    // The caller has noted the move before it ends.
    await Promise.resolve();
    try {
      for (let now = this.#world.clock.now(); !this.#isOver && now !== this.#target; now = this.#world.clock.now()) {
        if (this.#target < now) await this.#goBack();
        else await this.#world.clock.advanceTo(Math.min(this.#target, now + step));
      }
    } catch (error) {
      this.#fail({ error });
    }
    this.#move = undefined;
  }

  async #goBack(): Promise<void> {
    const next = await settled(this.#stage.make());
    const last = this.#world;
    this.#world = next;
    this.#number += 1;
    this.#stage.leave();
    await last.stop();
  }
}
