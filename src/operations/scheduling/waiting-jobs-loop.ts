import type { ReadView } from '../../ports/storage.js';
import { blockedRequirements } from '../../scheduler/blocked/blocked-requirement.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import { placementReason } from '../../scheduler/explain/placement-reason.js';
import { type Milliseconds, second } from '../../shared/duration.js';
import { instantFromUnixNanos } from '../../shared/instant.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';

/** How long a job waits for room before that is logged. */
const noticeable: Milliseconds = 10 * second;
/** Jobs that are checked in one read. */
const checkedAtOnce = 200;
/** Jobs that are watched, and evaluations that are remembered as logged; the oldest are dropped. */
const mostWatched = 20_000;
/** Warnings of one check; the others are counted in one more. */
const mostWarnings = 50;

/**
 * Logs a warning, once for each blocked evaluation, for jobs that have waited for room for ten seconds. Jobs are noticed by the facts of this
 * engine's decisions; those that waited before it began are read once.
 */
export const waitingJobsLoop: BackgroundLoop = {
  name: 'waiting-jobs',
  async run(context, signal) {
    const watch = new WaitingJobs(context);
    const noticed = (fact: { readonly namespace: string; readonly jobId: string }): void => watch.notice(fact);
    context.events.on('evaluation.finished', noticed);
    try {
      await watch.begin();
      while (!signal.aborted) {
        await watch.untilDue(signal);
        if (!signal.aborted) await watch.check(signal);
      }
    } finally {
      context.events.off('evaluation.finished', noticed);
    }
  },
};

interface WaitingJob {
  readonly namespace: string;
  readonly jobId: string;
}

class WaitingJobs {
  readonly #context: EngineContext;
  /** By job, when it is to be checked, on the monotonic clock; the first one first. */
  readonly #due = new Map<string, WaitingJob & { readonly at: Milliseconds }>();
  readonly #logged = new Set<string>();
  #wake: () => void = () => undefined;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** A decision about the job was made: it may wait from now on. */
  notice({ namespace, jobId }: WaitingJob): void {
    this.#watch({ namespace, jobId }, noticeable);
    this.#wake();
  }

  async begin(): Promise<void> {
    const read = await this.#context.storage.read((view) =>
      view.list(blockedRequirements, { limit: mostWatched }).flatMap(({ record }) => {
        const evaluation = view.get(evaluations, [record.ID])?.record;
        return evaluation === undefined ? [] : [{ namespace: evaluation.Namespace, jobId: evaluation.JobID }];
      }),
    );
    if (read.isOk()) for (const job of read.value) this.#watch(job, noticeable);
  }

  #watch(job: WaitingJob, after: Milliseconds): void {
    const key = JSON.stringify([job.namespace, job.jobId]);
    this.#due.delete(key);
    this.#due.set(key, { ...job, at: this.#context.clock.monotonic() + after });
    dropOldest(this.#due.keys(), this.#due.size, (oldest) => this.#due.delete(oldest));
  }

  async untilDue(signal: AbortSignal): Promise<void> {
    const { clock } = this.#context;
    const [first] = this.#due.values();
    if (signal.aborted) return;
    if (first !== undefined) return clock.sleep(first.at - clock.monotonic(), signal);
    await new Promise<void>((resolve) => {
      const done = (): void => {
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#wake = done;
      signal.addEventListener('abort', done, { once: true });
    });
  }

  async check(signal: AbortSignal): Promise<void> {
    const { clock, storage } = this.#context;
    const now = clock.monotonic();
    const due = [...this.#due].filter(([, { at }]) => at <= now).slice(0, checkedAtOnce);
    if (due.length === 0) return;
    const read = await storage.read((view) => due.flatMap(([, job]) => blockedOf(view, job)));
    // The store is asked again when it answers.
    if (read.isErr()) return clock.sleep(second, signal);
    for (const [key] of due) this.#due.delete(key);
    const latest = clock.now() - noticeable;
    this.#log(
      read.value.filter(({ ID, CreateTime }) => !this.#logged.has(ID) && instantFromUnixNanos(CreateTime) <= latest),
    );
  }

  #log(waiting: readonly Evaluation[]): void {
    const { logger } = this.#context;
    for (const { ID, Namespace, JobID, FailedTGAllocs = {} } of waiting.slice(0, mostWarnings)) {
      const about = { namespace: Namespace, job: JobID, evaluation: ID };
      logger.warn({ ...about, reason: placementReason(FailedTGAllocs) }, 'A job waits for room');
    }
    for (const { ID } of waiting) this.#logged.add(ID);
    dropOldest(this.#logged.keys(), this.#logged.size, (oldest) => this.#logged.delete(oldest));
    const others = waiting.length - mostWarnings;
    if (others > 0) logger.warn({ jobs: others }, 'More jobs wait for room');
  }
}

function blockedOf(view: ReadView, { namespace, jobId }: WaitingJob): Evaluation[] {
  const prefix = [namespace, jobId, 'blocked'];
  return view.list(evaluations, { index: 'open_by_job', prefix, limit: 1 }).map(({ record }) => record);
}

function dropOldest(keys: Iterator<string>, size: number, drop: (key: string) => void): void {
  if (size <= mostWatched) return;
  const { value } = keys.next();
  if (value !== undefined) drop(value);
}
