import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import { isFunctionJob } from '../../functions/job-projection.js';
import type { Job } from '../../jobs/document/job.js';
import { jobs } from '../../jobs/job-record.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import {
  collectableEvaluation,
  collectableJob,
  hasEnded,
  isCollectableDeployment,
  isCollectableNode,
} from '../../scheduler/collection/collectable-records.js';
import { type Deployment, deployments } from '../../scheduler/deployment/deployment.js';
import { type Evaluation, evaluations, isTerminalEvaluation } from '../../scheduler/evaluation.js';
import { type Node, nodes } from '../../scheduler/node.js';
import { isOutOfReach } from '../../scheduler/node-silence.js';
import type { Settings } from '../../settings.js';
import { hour, type Milliseconds, second } from '../../shared/duration.js';
import { type Instant, instantFromUnixNanos } from '../../shared/instant.js';
import type { Key, Table } from '../../shared/table.js';
import { commit } from '../commit.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { isLargeJob, readJobRow, removeJob } from '../records/jobs/job-rows.js';
import { pagesOf } from '../records/pages.js';
import { removeNode } from '../records/scheduling/node-rows.js';
import { changeOrDueTime } from '../waiting/until-change.js';
import type { Transaction } from '../write-transaction.js';
import { hasTag, isLargeEvaluation, type Trimming, trimEvaluation, trimJob } from './collect-in-parts.js';

const collected = [jobs, evaluations, allocations, deployments, nodes];

/**
 * Collects by the thresholds: at most once per interval (five minutes by default), and only when a record has changed or an ended one
 * has reached its threshold. Several processes may run it at the same time.
 */
export const collectionLoop: BackgroundLoop = {
  name: 'collection',
  run: async (context, signal) => {
    const { interval, ...thresholds } = context.settings.collection;
    while (!signal.aborted) {
      await context.clock.sleep(interval, signal);
      if (signal.aborted) return;
      const swept = await collect(context, thresholds, signal);
      if (swept.isErr()) {
        context.logger.error({ error: swept.error.message }, 'Removing ended records failed');
        continue;
      }
      const { index, next: dueAt } = swept.value;
      await changeOrDueTime(context, { tables: collected, index, dueAt }, signal);
    }
  },
};

/** Everything that has ended is old enough. */
const atOnce = { evaluation: 1, batchEvaluation: 1, failedRun: 1, job: 1, deployment: 1, node: 1 };

/** Removes everything that has ended, however recently: jobs, evaluations with their allocations, deployments, nodes. */
export function collectGarbage(context: EngineContext): ResultAsync<void, StorageError> {
  return new ResultAsync(collect(context, atOnce)).map(() => undefined);
}

/** How long records are kept after their last change, in milliseconds. */
type CollectionThresholds = Omit<Settings['collection'], 'interval'>;

/** How records of one kind are collected. */
interface Collection<R> {
  readonly table: Table<R>;
  readonly keep: (record: R) => Milliseconds;
  /** Whether the record may be collectable according to the record alone. */
  readonly candidate: (record: R) => boolean;
  readonly changedAt: (record: R) => Instant;
  /** Removes the collectable parts of the record; changes after `cutoff` are kept. */
  readonly collect: (tx: Transaction, record: R, cutoff: Instant) => void;
  /** The parts of the record that may be too large for one write. */
  readonly parts?: LargeRecords<R>;
}

interface LargeRecords<R> {
  readonly isLarge: (view: ReadView, record: R) => boolean;
  /** Removes allocations in small writes. False when the record must be kept. */
  readonly trim: (trimming: Trimming, record: R, cutoff: Instant) => Promise<Result<boolean, StorageError>>;
}

/** The result of a collection. */
interface CollectionResult {
  /** Index of the store when it began: a record that has changed since may be collectable. */
  readonly index: number;
  /** When the next ended record reaches its threshold; undefined when none is left. */
  readonly next: Instant | undefined;
}

/** The time until records that are old enough, but kept because of another record, are checked again. */
const retry = hour;

/** Rows examined in one read. */
const page = 32;
/** Rows whose collectable parts one write removes. */
const removedAtOnce = 8;

/**
 * Removes ended records that are older than their threshold: jobs with all their records, evaluations with their allocations, deployments,
 * nodes. Reads the tables page by page, between which the event loop runs. Each removal is decided again in its write, so a record that is in
 * use again is kept.
 */
async function collect(
  context: EngineContext,
  thresholds: CollectionThresholds,
  signal: AbortSignal = new AbortController().signal,
): Promise<Result<CollectionResult, StorageError>> {
  const began = await context.storage.read((view) => view.index);
  if (began.isErr()) return err(began.error);
  const age = comingOfAge(Object.values(thresholds), context.clock.now());
  const failed =
    (await sweep(context, { ...jobCollection(thresholds), age }, signal)) ??
    (await sweep(context, { ...evaluationCollection(thresholds), age }, signal)) ??
    (await sweep(context, { ...deploymentCollection(thresholds), age }, signal)) ??
    (await sweep(context, { ...nodeCollection(thresholds), age }, signal));
  return failed === undefined ? ok({ index: began.value, next: age.next() }) : err(failed);
}

/** Finds the earliest time at which an ended record reaches one of the thresholds; some are kept until another record has ended. */
interface ThresholdSearch {
  look(changedAt: Instant): void;
  next(): Instant | undefined;
}

function comingOfAge(thresholds: readonly Milliseconds[], now: Instant): ThresholdSearch {
  let next: Instant | undefined;
  return {
    look: (changedAt) => {
      const ages = thresholds.map((keep) => changedAt + keep).filter((at) => at > now);
      const first = ages.length === 0 ? now + retry : Math.min(...ages);
      next = Math.min(next ?? first, first);
    },
    next: () => next,
  };
}

async function sweep<R>(
  context: EngineContext,
  collection: Collection<R> & { readonly age: ThresholdSearch },
  signal: AbortSignal,
): Promise<StorageError | undefined> {
  const { table, candidate, age, parts } = collection;
  let after: Key | undefined = [];
  while (after !== undefined && !signal.aborted) {
    const from: Key = after;
    await context.turns.next();
    const read = await context.storage.read((view) => {
      const records = view.list(table, { from, limit: page }).map(({ record }) => record);
      const ended = records.filter(candidate);
      return { records, ended, large: new Set(ended.filter((record) => parts?.isLarge(view, record) === true)) };
    });
    if (read.isErr()) return read.error;
    const { records, ended, large } = read.value;
    for (const record of ended) age.look(collection.changedAt(record));
    const removed = await removeAmong({ context, signal }, collection, ended, large);
    if (removed.isErr()) return removed.error;
    const last: R | undefined = records.length < page ? undefined : records.at(-1);
    // A key after this one: no part of a key sorts before an absent one.
    after = last === undefined ? undefined : [...table.key(last), null];
  }
  return undefined;
}

/** Large records are first reduced one by one; then several records are removed in one write. */
async function removeAmong<R>(
  trimming: Trimming,
  collection: Collection<R>,
  ended: readonly R[],
  large: ReadonlySet<R>,
): Promise<Result<void, StorageError>> {
  const { context, signal } = trimming;
  const { parts, keep } = collection;
  const small: R[] = [];
  for (const record of ended) {
    const isSmall =
      parts !== undefined && large.has(record)
        ? await parts.trim(trimming, record, context.clock.now() - keep(record))
        : ok(true);
    if (isSmall.isErr()) return err(isSmall.error);
    if (isSmall.value) small.push(record);
  }
  for (let at = 0; at < small.length && !signal.aborted; at += removedAtOnce) {
    if (at > 0) await context.turns.next();
    const written = await remove(context, collection, small.slice(at, at + removedAtOnce));
    if (written.isErr()) return err(written.error);
  }
  return ok(undefined);
}

function remove<R>(
  context: EngineContext,
  { table, candidate, collect: removeFrom, keep }: Collection<R>,
  records: readonly R[],
): ResultAsync<unknown, StorageError> {
  return commit(context, hostPrincipal, (tx) => {
    for (const one of records) {
      const record = tx.get(table, table.key(one))?.record;
      if (record !== undefined && candidate(record)) removeFrom(tx, record, tx.now - keep(record));
    }
    return ok(undefined);
  });
}

function jobCollection({ job: keep, failedRun }: CollectionThresholds): Collection<Job> {
  return {
    table: jobs,
    keep: () => keep,
    // A function that is paused for long is kept: its code still declares it.
    candidate: (job) => hasEnded(job) && !isFunctionJob(job),
    changedAt: ({ SubmitTime }) => instantFromUnixNanos(SubmitTime),
    parts: { isLarge: isLargeJob, trim: (trimming, job, cutoff) => trimJob(trimming, job, cutoff, failedRun) },
    collect: (tx, job, cutoff) => {
      const tagged = hasTag(tx, job);
      const own = tx.list(evaluations, { index: 'by_job', prefix: [job.Namespace, job.ID] });
      const question = { job, tagged, evaluations: own.map(({ record }) => withAllocations(tx, record)) };
      const time = { now: tx.now, cutoff, failuresFrom: tx.now - failedRun };
      if (collectableJob(question, time) === undefined || isLargeJob(tx, job)) return;
      for (const { record } of own) tx.remove(evaluations, [record.ID]);
      tx.cause = 'JobBatchDeregistered';
      removeJob(tx, job);
      tx.emit('job.stopped', { namespace: job.Namespace, jobId: job.ID, purged: true, index: tx.index });
    },
  };
}

function evaluationCollection({
  evaluation,
  batchEvaluation,
  failedRun,
}: CollectionThresholds): Collection<Evaluation> {
  return {
    table: evaluations,
    keep: ({ Type }) => (Type === 'batch' || Type === 'sysbatch' ? batchEvaluation : evaluation),
    candidate: isTerminalEvaluation,
    changedAt: ({ ModifyTime }) => instantFromUnixNanos(ModifyTime),
    parts: {
      isLarge: isLargeEvaluation,
      trim: (trimming, record, cutoff) => trimEvaluation(trimming, record, cutoff, failedRun),
    },
    collect: (tx, record, cutoff) => {
      const job = readJobRow(tx, record.Namespace, record.JobID)?.record;
      const time = { now: tx.now, cutoff, failuresFrom: tx.now - failedRun };
      const gone = collectableEvaluation({ ...withAllocations(tx, record), job }, time);
      for (const allocation of gone.allocations) tx.remove(allocations, [allocation.ID]);
      if (gone.evaluation) tx.remove(evaluations, [record.ID]);
    },
  };
}

function deploymentCollection({ deployment: keep }: CollectionThresholds): Collection<Deployment> {
  return {
    table: deployments,
    keep: () => keep,
    candidate: ({ Status }) => Status === 'successful' || Status === 'failed' || Status === 'cancelled',
    changedAt: ({ ModifyTime }) => instantFromUnixNanos(ModifyTime),
    collect: (tx, record, cutoff) => {
      const own = allocationsIn(tx, 'by_deployment', record.ID);
      if (isCollectableDeployment(record, own, { now: tx.now, cutoff })) tx.remove(deployments, [record.ID]);
    },
  };
}

function nodeCollection({ node: keep }: CollectionThresholds): Collection<Node> {
  return {
    table: nodes,
    keep: () => keep,
    candidate: isOutOfReach,
    changedAt: ({ StatusUpdatedAt }) => StatusUpdatedAt * second,
    collect: (tx, record, cutoff) => {
      const own = allocationsIn(tx, 'by_node', record.ID);
      if (isCollectableNode(record, own, { now: tx.now, cutoff })) removeNode(tx, record.ID);
    },
  };
}

function withAllocations(view: ReadView, evaluation: Evaluation) {
  const own = view.list(allocations, { index: 'by_evaluation', prefix: [evaluation.ID] });
  return { evaluation, allocations: own.map(({ record }) => record) };
}

/** Page by page, so that a caller can stop early. Both indexes are ordered by ID. */
function* allocationsIn(view: ReadView, index: 'by_deployment' | 'by_node', id: string): Generator<Allocation> {
  const keyOf = ({ ID }: Allocation) => [id, ID] as const;
  for (const some of pagesOf(() => view, allocations, { index, prefix: [id], size: page, keyOf })) yield* some;
}
