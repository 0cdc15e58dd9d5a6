import { type AttemptEnd, runId, type StoredRun } from '../../functions/run.js';
import { type Milliseconds, second } from '../../shared/duration.js';
import { type EngineContext, emit } from '../context/engine-context.js';

/** How often the event loop shows that it is not blocked, while a handler runs. */
const beat: Milliseconds = second / 2;
/** A block that is reported. */
const longBlock: Milliseconds = 5 * second;
/** The most runs that a block is reported for. */
const mostCandidates = 10;

interface Watched {
  readonly run: StoredRun;
  /** By the monotonic clock. */
  readonly beganAt: Milliseconds;
}

/**
 * Observes the attempts of a process. JavaScript cannot say which handler blocked the event loop: it was one of those that were under
 * way, and that is certain when there was one only.
 */
export class AttemptWatch {
  readonly #context: EngineContext;
  readonly #underWay = new Map<number, Watched>();
  #isBeating = false;
  /** When the next beat is due, by the monotonic clock. */
  #dueAt: Milliseconds = 0;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  began(run: StoredRun): void {
    const beganAt = this.#context.clock.monotonic();
    this.#underWay.set(run.number, { run, beganAt });
    if (this.#isBeating) return;
    this.#isBeating = true;
    this.#dueAt = beganAt + beat;
    void this.#beat();
  }

  ended(run: StoredRun, _end: AttemptEnd): void {
    // A handler that blocks and then returns ends before the beat.
    this.#check(run.number);
    this.#underWay.delete(run.number);
  }

  async #beat(): Promise<void> {
    const { clock } = this.#context;
    const never = new AbortController().signal;
    while (this.#underWay.size > 0) {
      await clock.sleep(beat, never);
      this.#check(undefined);
      this.#dueAt = clock.monotonic() + beat;
    }
    this.#isBeating = false;
  }

  /** Reports a block that has ended just now; `first`: the run that was at work then. */
  #check(first: number | undefined): void {
    const now = this.#context.clock.monotonic();
    const blocked = now - this.#dueAt;
    if (blocked < longBlock) return;
    const candidates = [...this.#underWay.values()].filter(({ beganAt }) => beganAt <= this.#dueAt);
    this.#dueAt = now + beat;
    if (candidates.length === 0) return;
    candidates.sort((a, b) => Number(b.run.number === first) - Number(a.run.number === first));
    const seconds = Math.round(blocked / 100) / 10;
    const shown = candidates.slice(0, mostCandidates);
    const runs = shown.map(({ run }) => runId(run));
    this.#context.logger.warn(
      { seconds, runs, candidates: candidates.length },
      'The event loop was blocked while functions ran: move long computations to a thread, or divide them',
    );
    for (const { run } of shown)
      emit(this.#context, 'function.blocked', {
        function: run.function,
        runId: runId(run),
        seconds,
        candidates: candidates.length,
      });
  }
}
