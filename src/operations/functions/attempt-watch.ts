import { type AttemptEnd, runId, type StoredRun } from '../../functions/run.js';
import { functionLabels } from '../../metrics/instruments.js';
import type { TracedSpan } from '../../ports/tracer.js';
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
  readonly span: TracedSpan | undefined;
}

/**
 * Observes the attempts of a process. JavaScript cannot say which handler blocked the event loop: it was one of those that were under
 * way, and that is certain when there was one only.
 */
export class AttemptWatch {
  readonly #context: EngineContext;
  readonly #label = functionLabels();
  readonly #underWay = new Map<number, Watched>();
  #isBeating = false;
  /** When the next beat is due, by the monotonic clock. */
  #dueAt: Milliseconds = 0;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  began(run: StoredRun): void {
    const beganAt = this.#context.clock.monotonic();
    this.#underWay.set(run.number, { run, beganAt, span: this.#spanOf(run) });
    if (this.#isBeating) return;
    this.#isBeating = true;
    this.#dueAt = beganAt + beat;
    void this.#beat();
  }

  ended(run: StoredRun, end: AttemptEnd): void {
    // A handler that blocks and then returns ends before the beat.
    this.#check(run.number);
    const watched = this.#underWay.get(run.number);
    this.#underWay.delete(run.number);
    if (watched === undefined) return;
    const { clock, observer } = this.#context;
    const took = (clock.monotonic() - watched.beganAt) / 1000;
    observer.record('signalbox.function.attempt.duration', took, { function: this.#label(run.function) });
    const failure = isFailure(end) ? { failure: end.error.name } : {};
    watched.span?.end({ at: clock.now(), attributes: { 'signalbox.status': end.type }, ...failure });
  }

  #spanOf(run: StoredRun): TracedSpan | undefined {
    return this.#context.tracer?.begin({
      name: 'function attempt',
      kind: 'internal',
      parent: run.trace,
      at: run.startedAt ?? this.#context.clock.now(),
      attributes: {
        'signalbox.function': run.function,
        'signalbox.run': runId(run),
        'signalbox.attempt': run.attempt,
      },
    });
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

const isFailure = (end: AttemptEnd): end is AttemptEnd & { readonly type: 'failed' | 'timed_out' } =>
  end.type === 'failed' || end.type === 'timed_out';

/** The span of an enqueue, which its runs are children of; undefined without a tracer. */
export function beginEnqueue({ tracer, clock }: EngineContext, name: string, runs: number): TracedSpan | undefined {
  return tracer?.begin({
    name: 'function enqueue',
    kind: 'internal',
    parent: tracer.active?.(),
    at: clock.now(),
    attributes: { 'signalbox.function': name, 'signalbox.runs': runs },
  });
}

/** Ends a span with the work. */
export async function inSpan<T>({ clock }: EngineContext, span: TracedSpan, work: () => Promise<T>): Promise<T> {
  try {
    const value = await work();
    span.end({ at: clock.now() });
    return value;
  } catch (error) {
    span.end({ at: clock.now(), failure: error instanceof Error ? error.name : 'unknown' });
    throw error;
  }
}
