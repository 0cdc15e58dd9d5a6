import type { Job } from '../../jobs/document/job.js';
import type { ReadView } from '../../ports/storage.js';
import { blockedRequirements } from '../../scheduler/blocked/blocked-requirement.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import { driversMissing, placementReason } from '../../scheduler/explain/explain-placement.js';
import { type Node, nodes } from '../../scheduler/node.js';
import { type Milliseconds, second } from '../../shared/duration.js';
import { type Instant, instantFromUnixNanos } from '../../shared/instant.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { readJobRow } from '../records/jobs/job-rows.js';

/** How long a job waits for capacity before a warning. */
const noticeable: Milliseconds = 10 * second;
/** Jobs checked in one read. */
const checkedAtOnce = 200;
/** The maximum number of watched jobs, and of evaluations cached as logged; the oldest are dropped. */
const mostWatched = 20_000;
/** The maximum number of nodes read to name missing drivers. */
const nodesRead = 50;
/** The maximum number of warnings of one check; one more warning counts the rest. */
const mostWarnings = 50;

/**
 * Logs a warning, once for each blocked evaluation, for jobs that have waited for capacity for ten seconds. The engine's
 * `evaluation.finished` facts announce jobs; those that waited before it started are read once.
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
  /** By job, its due time on the monotonic clock, earliest first. */
  readonly #due = new Map<string, WaitingJob & { readonly at: Milliseconds }>();
  readonly #logged = new Set<string>();
  #wake: () => void = () => undefined;

  constructor(context: EngineContext) {
    this.#context = context;
  }

  /** An evaluation of the job has finished: the job may wait from now on. */
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
    const latest = clock.now() - noticeable;
    const read = await storage.read((view) => {
      const waiting = due.flatMap(([, job]) => blockedOf(view, job)).filter((each) => this.#isNews(each, latest));
      const known = waiting.length === 0 ? [] : view.list(nodes, { limit: nodesRead }).map(({ record }) => record);
      return { waiting, known };
    });
    // The read is repeated until the store works.
    if (read.isErr()) return clock.sleep(second, signal);
    for (const [key] of due) this.#due.delete(key);
    this.#log(read.value.waiting, read.value.known);
  }

  #isNews({ evaluation: { ID, CreateTime } }: Waiting, latest: Instant): boolean {
    return !this.#logged.has(ID) && instantFromUnixNanos(CreateTime) <= latest;
  }

  #log(waiting: readonly Waiting[], known: readonly Node[]): void {
    const { logger } = this.#context;
    for (const each of waiting.slice(0, mostWarnings)) {
      const { ID, Namespace, JobID } = each.evaluation;
      const about = { namespace: Namespace, job: JobID, evaluation: ID };
      logger.warn({ ...about, reason: reasonOf(each, known) }, 'A job waits for room');
    }
    for (const { evaluation } of waiting) this.#logged.add(evaluation.ID);
    dropOldest(this.#logged.keys(), this.#logged.size, (oldest) => this.#logged.delete(oldest));
    const others = waiting.length - mostWarnings;
    if (others > 0) logger.warn({ jobs: others }, 'More jobs wait for room');
  }
}

interface Waiting {
  readonly evaluation: Evaluation;
  readonly job: Job | undefined;
}

function blockedOf(view: ReadView, { namespace, jobId }: WaitingJob): Waiting[] {
  const prefix = [namespace, jobId, 'blocked'];
  const found = view.list(evaluations, { index: 'open_by_job', prefix, limit: 1 });
  return found.map(({ record }) => ({ evaluation: record, job: readJobRow(view, namespace, jobId)?.record }));
}

function reasonOf({ evaluation, job }: Waiting, known: readonly Node[]): string {
  return placementReason(evaluation.FailedTGAllocs ?? {}, (name) => {
    const group = job?.TaskGroups.find(({ Name }) => Name === name);
    return group === undefined ? [] : driversMissing(group, known);
  });
}

function dropOldest(keys: Iterator<string>, size: number, drop: (key: string) => void): void {
  if (size <= mostWatched) return;
  const { value } = keys.next();
  if (value !== undefined) drop(value);
}
