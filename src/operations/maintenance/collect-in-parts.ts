import { err, ok, type Result } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { Job } from '../../jobs/document/job.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { type CollectionTime, collectableEvaluation } from '../../scheduler/collection/collectable-records.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import type { Steps } from '../../scheduler/steps.js';
import type { Milliseconds } from '../../shared/duration.js';
import { type Instant, instantFromUnixNanos } from '../../shared/instant.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { steppedWork, stepsInTurns } from '../context/steps-in-turns.js';
import { allocationsAtOnce, readJobRow, readJobVersions } from '../records/jobs/job-rows.js';
import { pagesOf } from '../records/pages.js';
import type { Transaction } from '../write-transaction.js';

/** The context of removing records that are too large for one write. */
export interface Trimming {
  readonly context: EngineContext;
  readonly signal: AbortSignal;
}

/** Allocations read in one step. */
const part = allocationsAtOnce;

/** Whether it has more allocations than one write should read and remove. */
export function isLargeEvaluation(view: ReadView, { ID }: Evaluation): boolean {
  return view.list(allocations, { index: 'by_evaluation', prefix: [ID], limit: part + 1 }).length > part;
}

/** Whether a version of it has a tag, so that a user may want to revert to it. */
export function hasTag(view: ReadView, { Namespace, ID }: Job): boolean {
  return readJobVersions(view, Namespace, ID).some(({ record }) => record.VersionTag !== null);
}

/** Removes the collectable allocations of an evaluation. False when one of them must be kept. */
export async function trimEvaluation(
  trimming: Trimming,
  evaluation: Evaluation,
  cutoff: Instant,
  failedRun: Milliseconds,
): Promise<Result<boolean, StorageError>> {
  const rule: Rule = { cutoff, failedRun, endsJob: false };
  const going = await examined(trimming, [evaluation], rule);
  if (going.isErr()) return err(going.error);
  const removed = await removeInParts(trimming, going.value.gone, rule);
  return removed.map((all) => all && going.value.all);
}

/** Removes the allocations of a collectable job. False, with nothing removed, when the job must be kept. */
export async function trimJob(
  trimming: Trimming,
  job: Job,
  cutoff: Instant,
  failedRun: Milliseconds,
): Promise<Result<boolean, StorageError>> {
  const { context } = trimming;
  const seen = await context.storage.read((view) => ({
    tagged: hasTag(view, job),
    own: view.list(evaluations, { index: 'by_job', prefix: [job.Namespace, job.ID] }).map(({ record }) => record),
  }));
  if (seen.isErr()) return err(seen.error);
  if (seen.value.tagged || instantFromUnixNanos(job.SubmitTime) > cutoff) return ok(false);
  const rule = { cutoff, failedRun, endsJob: true };
  const going = await examined(trimming, seen.value.own, rule);
  if (going.isErr()) return err(going.error);
  return going.value.all ? removeInParts(trimming, going.value.gone, rule) : ok(false);
}

interface Rule {
  readonly cutoff: CollectionTime['cutoff'];
  /** The minimum time that failed allocations are kept. */
  readonly failedRun: Milliseconds;
  /** Whether the job itself is being collected, so that being dead is enough. */
  readonly endsJob: boolean;
}

/** The collectable allocations among those that were examined. */
interface Collectable {
  readonly gone: readonly Pick<Allocation, 'ID' | 'EvalID'>[];
  /** Whether all of them may be removed. */
  readonly all: boolean;
}

/** Examines the allocations in steps, between which the event loop runs; none is collectable when the signal aborts. */
async function examined(
  { context, signal }: Trimming,
  own: readonly Evaluation[],
  rule: Rule,
): Promise<Result<Collectable, StorageError>> {
  const time = timeOf(rule, context.clock.now());
  const looked = await stepsInTurns(
    context,
    steppedWork((view) => collectableInSteps(view, own, { time, endsJob: rule.endsJob })),
    signal,
  );
  return looked.map((going) => going ?? { gone: [], all: false });
}

function* collectableInSteps(
  view: () => ReadView,
  own: readonly Evaluation[],
  { time, endsJob }: { time: CollectionTime; endsJob: boolean },
): Steps<Collectable> {
  const gone: Pick<Allocation, 'ID' | 'EvalID'>[] = [];
  let all = true;
  for (const evaluation of own) {
    const { ID: id, Namespace, JobID } = evaluation;
    const keyOf = ({ ID }: Allocation) => [id, ID] as const;
    for (const page of pagesOf(view, allocations, { index: 'by_evaluation', prefix: [id], size: part, keyOf })) {
      const question = { evaluation, allocations: page, job: readJobRow(view(), Namespace, JobID)?.record };
      // An evaluation that must itself be kept has no collectable allocations: the rest is not read.
      const none = collectableEvaluation({ ...question, allocations: [] }, time, endsJob);
      if (!none.evaluation) return { gone: [], all: false };
      const going = collectableEvaluation(question, time, endsJob);
      gone.push(...going.allocations.map(({ ID, EvalID }) => ({ ID, EvalID })));
      all &&= going.evaluation;
      if (!all && endsJob) return { gone: [], all };
      yield;
    }
  }
  return { gone, all };
}

/** Small writes, each of which decides again. False when one of the allocations must now be kept, or the signal aborts. */
async function removeInParts(
  { context, signal }: Trimming,
  gone: Collectable['gone'],
  rule: Rule,
): Promise<Result<boolean, StorageError>> {
  for (let at = 0; at < gone.length; at += part) {
    await context.turns.next();
    if (signal.aborted) return ok(false);
    const written = await commit(context, hostPrincipal, (tx) => ok(removePart(tx, gone.slice(at, at + part), rule)));
    if (written.isErr()) return err(written.error);
    if (!written.value.value) return ok(false);
  }
  return ok(true);
}

function timeOf({ cutoff, failedRun }: Rule, now: Instant): CollectionTime {
  return { now, cutoff, failuresFrom: now - failedRun };
}

function removePart(tx: Transaction, gone: Collectable['gone'], rule: Rule): boolean {
  return gone.every(({ ID, EvalID }) => {
    const allocation = tx.get(allocations, [ID])?.record;
    const evaluation = tx.get(evaluations, [EvalID])?.record;
    if (allocation === undefined || evaluation === undefined) return true;
    const job = readJobRow(tx, allocation.Namespace, allocation.JobID)?.record;
    const question = { evaluation, allocations: [allocation], job };
    const going = collectableEvaluation(question, timeOf(rule, tx.now), rule.endsJob);
    if (!going.evaluation) return false;
    tx.remove(allocations, [allocation.ID]);
    return true;
  });
}
