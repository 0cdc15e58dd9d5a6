import { err, ok, okAsync, type Result, ResultAsync } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import {
  afterTrial,
  type BlockedPass,
  beginsAnew,
  firstPass,
  nextOf,
  passOver,
  skipped,
} from '../../scheduler/blocked/blocked-pass.js';
import { type BlockedRequirement, blockedRequirements } from '../../scheduler/blocked/blocked-requirement.js';
import { requirementNames } from '../../scheduler/blocked/requirement-names.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import { capacitySignals } from '../../scheduler/node-tables.js';
import { schedulerConfigurations } from '../../scheduler/scheduler-configuration.js';
import type { Milliseconds } from '../../shared/duration.js';
import { type Instant, instantFromUnixNanos, isoFromInstant, unixNanosFromInstant } from '../../shared/instant.js';
import { messageOf } from '../../shared/values.js';
import { commit } from '../commit.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { refreshCluster } from '../context/learn-cluster.js';
import { stepsInTurns } from '../context/steps-in-turns.js';
import { readSchedulerConfiguration } from '../records/declared-rows.js';
import { readJobRow } from '../records/jobs/job-rows.js';
import { type KnownCluster, needsTurns } from '../records/scheduling/known-cluster.js';
import { watchOf } from '../records/scheduling/plan-basis.js';
import { changeOrDueTime } from '../waiting/until-change.js';
import type { Transaction } from '../write-transaction.js';
import {
  type BegunEvaluation,
  beginEvaluation,
  type DecidedPlan,
  EvaluationFailures,
  failEvaluation,
  type WrittenSoFar,
  writeDecided,
} from './process-evaluation.js';

/** Processes pending evaluations, round robin over their namespaces, and blocked ones when capacity was freed. */
export const evaluationLoop: BackgroundLoop = {
  name: 'evaluations',
  run: async (context, signal) => {
    const failures = new EvaluationFailures();
    let progress: Progress = { pass: firstPass, offset: undefined, refreshed: false, turn: firstTurn };
    let turnBegan = context.clock.monotonic();
    while (!signal.aborted) {
      // An in-memory store commits without yielding to the event loop.
      if (context.clock.monotonic() - turnBegan > turnMs) {
        await context.turns.next();
        turnBegan = context.clock.monotonic();
      }
      const began = context.clock.monotonic();
      const step = await workOnce(context, failures, progress, signal);
      if (step === 'failed') {
        await context.clock.sleep(pauseAfterFailure, signal);
        continue;
      }
      if (step.isOvertaken === true) {
        progress = { ...progress, offset: step.offset };
        const pause = Math.max(shortestYield, yieldTimes * (context.clock.monotonic() - began));
        await context.clock.sleep(Math.min(pause, longestYield), signal);
        continue;
      }
      progress = step;
      if (step.worked) continue;
      await changeOrDueTime(
        context,
        { tables: [evaluations, capacitySignals, schedulerConfigurations], index: step.index, dueAt: step.nextDue },
        signal,
      );
    }
  },
};

/** Milliseconds of evaluations after which the loop yields to other work. */
const turnMs = 2;

/** Pause after a failed write, in milliseconds. */
const pauseAfterFailure = 100;

/**
 * After another process has taken the evaluation that this one was about to process, the other one continues, and this one waits so many
 * times longer than the lost try took: both would run each write several times, and be slower than one alone. In milliseconds.
 */
const yieldTimes = 10;
const shortestYield = 50;
const longestYield = 1000;

/** How many plans of an evaluation may be discarded because their inputs changed; after that it is decided within its write. */
const plansInTurns = 2;

/** The evaluation that the write was processing, in case it fails, and the one of its first run: a write may run several times. */
interface Attempt {
  evaluation: Evaluation | undefined;
  first?: string | undefined;
}

/** The namespace of the last processed evaluation, so that the next comes from another one. */
interface Turn {
  readonly namespace: string;
  /** Whether it was a delayed evaluation. */
  readonly waited: boolean;
}

const firstTurn: Turn = { namespace: '', waited: false };

/** State that one write passes to the next. */
interface Progress {
  readonly pass: BlockedPass;
  readonly turn: Turn;
  readonly offset: WallOffset | undefined;
  /** Whether the cluster was just updated in steps: the write reads the few changes since. */
  readonly refreshed: boolean;
}

/** The state at the start of a write. */
interface Start extends Progress {
  readonly known: KnownCluster | undefined;
}

interface Work extends Progress {
  readonly worked: boolean;
  /** Another process has taken the evaluation: nothing was done. */
  readonly isOvertaken?: boolean;
  /** When the next delayed evaluation is due. */
  readonly nextDue: Instant | undefined;
  /** The cluster after the work; `unread` when the work needs it and the engine's cache is missing or too old. */
  readonly cluster?: KnownCluster | 'unread';
  /** The plan's inputs have changed since it was begun: none of it was written, or not all. The evaluation must be decided again. */
  readonly conflict?: 'no_progress' | 'partial';
  /** The plan to finish outside the write, and the entry that led to it. */
  readonly begun?: (BegunEvaluation & Pick<NextBlocked, 'entry'>) | undefined;
}

interface Indexed {
  /** Index of the last write. */
  readonly index: number;
}

/**
 * Processes one evaluation: in one write, or, for a large job, decided and written in steps between which the event loop runs. A failure of
 * the store does not count against the evaluation: the write is repeated until it succeeds. An evaluation whose processing throws is given up
 * after some attempts, so that it does not block the others.
 */
async function workOnce(
  context: EngineContext,
  failures: EvaluationFailures,
  progress: Progress,
  signal: AbortSignal,
): Promise<(Work & Indexed) | 'failed'> {
  const began = context.clock.monotonic();
  const attempt: Attempt = { evaluation: undefined };
  try {
    const taken = await commit(context, hostPrincipal, (tx) =>
      ok(takeNext(tx, failures, { ...progress, known: context.cluster.known }, attempt)),
    );
    const done = await taken.asyncAndThen(({ value: { begun, ...work }, index }) => {
      if (work.cluster === 'unread') {
        return refreshCluster(context, signal).map(() => ({ ...work, index, refreshed: true }));
      }
      if (begun === undefined) return okAsync({ ...work, index });
      return new ResultAsync(finishInTurns(context, { ...work, begun }, signal));
    });
    logStoreFailure(context, failures, done);
    if (done.isOk()) {
      const { cluster } = done.value;
      if (cluster !== undefined && cluster !== 'unread') context.cluster.remember(cluster);
      const took = (context.clock.monotonic() - began) / 1000;
      if (attempt.evaluation !== undefined) noteOutcome(context, failures, attempt.evaluation, { ...done.value, took });
      return done.value;
    }
  } catch (error) {
    const id = attempt.evaluation?.ID;
    if (id !== undefined) failures.faults.count(id);
    logFailure(context, attempt, messageOf(error));
  }
  return 'failed';
}

function noteOutcome(
  context: EngineContext,
  { faults, conflicts }: EvaluationFailures,
  { ID }: Evaluation,
  { worked, conflict, took }: Work & { readonly took: number },
): void {
  if (conflict === 'no_progress') conflicts.count(ID);
  if (conflict === 'no_progress' || !worked) return;
  faults.forget(ID);
  conflicts.forget(ID);
  if (conflict === 'partial') return;
  context.observer.record('signalbox.evaluation.duration', took, {});
}

/** Processes the due evaluation, or only begins it if that takes longer than a write should. */
function takeNext(
  tx: Transaction,
  failures: EvaluationFailures,
  { known, ...progress }: Start,
  attempt: Attempt,
): Work {
  if (readSchedulerConfiguration(tx).PauseEvalBroker) return paused(progress);
  const offset = keepWaits(tx, progress.offset);
  const { due, nextDue } = nextPending(tx, tx.now, progress.turn);
  const { pass } = progress;
  const turn = due === undefined ? progress.turn : { namespace: due.Namespace, waited: due.WaitUntil !== undefined };
  const next = due === undefined ? nextBlocked(tx, pass) : { evaluation: due, entry: undefined, pass };
  const { evaluation } = next;
  const isOvertaken = wasTaken(tx, attempt, evaluation);
  const idle = { offset, pass: next.pass, turn, refreshed: false, worked: false, nextDue, isOvertaken };
  if (evaluation === undefined || isOvertaken) return idle;
  if (known === undefined || (!progress.refreshed && needsTurns(tx, known)))
    return { ...idle, pass, turn: progress.turn, worked: true, cluster: 'unread' };
  attempt.evaluation = evaluation;
  const { evaluationAttempts, decidedAtOnce } = tx.settings.scheduling;
  if (failures.faults.of(evaluation.ID) >= evaluationAttempts) {
    failEvaluation(tx, evaluation, 'The evaluation failed at every attempt');
    return { ...idle, pass: passAfter(tx, next), worked: true };
  }
  const inTurns = failures.conflicts.of(evaluation.ID) < plansInTurns;
  const atMost = inTurns ? decidedAtOnce : Number.POSITIVE_INFINITY;
  const taken = beginEvaluation(tx, evaluation, { known, atMost });
  if (taken.type === 'begun') return { ...idle, cluster: taken.known, begun: { ...taken, entry: next.entry } };
  return { ...idle, cluster: taken.cluster, pass: passAfter(tx, next), worked: true };
}

/** Whether the evaluation of the first run of a write is not to be processed any more at a later one. */
function wasTaken(tx: Transaction, attempt: Attempt, evaluation: Evaluation | undefined): boolean {
  if (attempt.first === undefined) {
    attempt.first = evaluation?.ID;
    return false;
  }
  const status = tx.get(evaluations, [attempt.first])?.record.Status;
  return status !== 'pending' && status !== 'blocked';
}

/** Decides the rest of a plan in steps and writes it in parts, unless one of its inputs has changed. */
async function finishInTurns(
  context: EngineContext,
  { begun, ...work }: Work & { readonly begun: NonNullable<Work['begun']> },
  signal: AbortSignal,
): Promise<Result<Work & Indexed, StorageError>> {
  const decided = await stepsInTurns(context, begun, signal);
  if (decided.isErr()) return err(decided.error);
  const { index } = begun;
  if (signal.aborted) return ok({ ...work, index });
  if (decided.value === undefined) return ok({ ...work, index, worked: true, conflict: 'no_progress' });
  const atEnd = (tx: Transaction): BlockedPass => passAfter(tx, { pass: work.pass, entry: begun.entry });
  const written = await writeInTurns(context, decided.value, signal, atEnd);
  return written.map((plan) => {
    const done = { ...work, cluster: plan.cluster, index: plan.index };
    if (plan.end === 'complete') return { ...done, pass: plan.atEnd, worked: true };
    if (plan.end === 'stopped') return done;
    return { ...done, worked: true, conflict: plan.parts === 0 ? 'no_progress' : 'partial' };
  });
}

/** Evaluations are left unchanged until the configuration changes; capacity freed in the meantime is noticed then. */
function paused(progress: Progress): Work {
  return { ...progress, worked: false, nextDue: undefined };
}

/** Logs a repeated failure once, because the loop retries ten times a second. */
function logStoreFailure(
  context: EngineContext,
  failures: EvaluationFailures,
  done: Result<unknown, StorageError>,
): void {
  const error = done.isErr() ? done.error.message : undefined;
  if (error !== undefined && error !== failures.storeFailure) {
    context.logger.error({ error }, 'Evaluations wait: the store fails');
  }
  failures.storeFailure = error;
}

function logFailure(context: EngineContext, { evaluation }: Attempt, error: string): void {
  context.logger.error({ evaluation: evaluation?.ID ?? '', error }, 'An evaluation could not be processed');
}

/**
 * The next evaluation. Delayed evaluations that are due alternate with the others; those are taken round robin over the namespaces,
 * by name, each with its evaluation of highest priority, so that no namespace waits for another one's queue.
 */
function nextPending(
  view: ReadView,
  now: Instant,
  last: Turn,
): { readonly due: Evaluation | undefined; readonly nextDue: Instant | undefined } {
  const [waiting] = view.list(evaluations, { index: 'due', prefix: ['waiting'], limit: 1 });
  const nextDue = waiting === undefined ? undefined : Date.parse(waiting.record.WaitUntil ?? '');
  const isDue = nextDue !== undefined && nextDue <= now;
  const pending = isDue && !last.waited ? undefined : nextOfNamespaces(view, last.namespace);
  return { due: pending ?? (isDue ? waiting?.record : undefined), nextDue };
}

/** The evaluation of highest priority of the namespace after the given one, or of the first. */
function nextOfNamespaces(view: ReadView, last: string): Evaluation | undefined {
  const query = { index: 'due', prefix: ['pending'], limit: 1 };
  const [next = view.list(evaluations, query)[0]] = view.list(evaluations, {
    ...query,
    from: ['pending', `${last}\u0000`],
  });
  return next?.record;
}

/** Wall time minus monotonic time: it changes only when the wall clock is set. */
type WallOffset = Milliseconds;
/** Smaller changes are corrections by time synchronisation. */
const smallestStep = 1000;
/**
 * A delayed evaluation waits for an interval: a delay of the reschedule policy. When the wall clock is set back it would
 * wait longer by the size of the step, so its due time is set back, too. `before` is the offset of the previous call; undefined after a
 * start, when the size of a step is unknown: the interval then begins again. Returns the offset for the next call.
 *
 * Only records written later than the current wall time are changed, so that several engines on one store change each record once.
 */
function keepWaits(tx: Transaction, before: WallOffset | undefined): WallOffset {
  const offset = tx.now - tx.monotonic;
  if (before !== undefined && offset > before - smallestStep) return offset;
  for (const { record } of tx.list(evaluations, { index: 'due', prefix: ['waiting'] })) {
    const written = instantFromUnixNanos(record.ModifyTime);
    if (written <= tx.now + smallestStep) continue;
    tx.put(evaluations, waitingFrom(tx, record, before === undefined ? tx.now - written : offset - before));
  }
  return offset;
}

function waitingFrom(tx: Transaction, evaluation: Evaluation, shift: Milliseconds): Evaluation {
  return {
    ...evaluation,
    WaitUntil: isoFromInstant(Date.parse(evaluation.WaitUntil ?? '') + shift),
    ModifyIndex: tx.index,
    ModifyTime: unixNanosFromInstant(tx.now),
  };
}

/** The result of writing a plan. The evaluation is still open unless it is complete. */
type WrittenPlan<T> = {
  /** As of the last written part. */
  readonly cluster: KnownCluster;
  readonly index: number;
  /** Number of written parts. */
  readonly parts: number;
} & (
  | { readonly end: 'complete'; readonly atEnd: T }
  /** An input of the plan has changed. */
  | { readonly end: 'conflict' }
  /** The signal aborted. */
  | { readonly end: 'stopped' }
);

/**
 * Writes a plan in parts, between which the event loop runs. After each part any engine can decide the evaluation again from the
 * stored state. `atEnd` runs in the write that ends the evaluation.
 */
export async function writeInTurns<T>(
  context: EngineContext,
  plan: DecidedPlan,
  signal: AbortSignal,
  atEnd: (tx: Transaction) => T,
): Promise<Result<WrittenPlan<T>, StorageError>> {
  let before: WrittenSoFar = { known: plan.known, watch: watchOf(plan.basis) };
  let { index } = plan.basis;
  const { parts } = plan;
  for (const [at, part] of parts.entries()) {
    if (at > 0) await context.turns.next();
    const reached = { cluster: before.known, index, parts: at };
    if (signal.aborted) return ok({ ...reached, end: 'stopped' });
    const write = await commit(context, hostPrincipal, (tx) => {
      const written = writeDecided(tx, plan, { part, before });
      return ok(written && { ...written, ended: part.last ? { atEnd: atEnd(tx) } : undefined });
    });
    if (write.isErr()) return err(write.error);
    const { value: written } = write.value;
    index = write.value.index;
    if (written === undefined) return ok({ ...reached, index, end: 'conflict' });
    const { cluster, watch, ended } = written;
    if (ended !== undefined) return ok({ cluster, index, parts: parts.length, end: 'complete', ...ended });
    before = { known: cluster, watch };
  }
  throw new Error('a plan has no last part');
}

/** The blocked evaluation to try next, and the entry that led to it. */
interface NextBlocked {
  readonly evaluation: Evaluation | undefined;
  readonly entry: BlockedRequirement | undefined;
  readonly pass: BlockedPass;
}

/** Continues the round, or begins another when capacity was freed. */
export function nextBlocked(view: ReadView, before: BlockedPass): NextBlocked {
  const signalled = view.get(capacitySignals, ['capacity'])?.record.index ?? 0;
  let pass = beginsAnew(before, signalled) ? passOver(headsOf(view), before, signalled) : before;
  for (let entry = nextOf(pass); entry !== undefined; entry = nextOf(pass)) {
    const evaluation = view.get(evaluations, [entry.ID])?.record;
    const exhausted = pass.exhausted.has(entry.requirement);
    if (evaluation?.Status === 'blocked' && !exhausted) return { evaluation, entry, pass };
    pass = skipped(pass, entry, exhausted ? undefined : followingOf(view, entry));
  }
  return { evaluation: undefined, entry: undefined, pass };
}

/** The round after the entry's evaluation was tried in this transaction. */
function passAfter(tx: Transaction, { pass, entry }: Pick<NextBlocked, 'pass' | 'entry'>): BlockedPass {
  if (entry === undefined) return pass;
  const evaluation = tx.get(evaluations, [entry.ID])?.record;
  const job = evaluation && readJobRow(tx, evaluation.Namespace, evaluation.JobID)?.record;
  const waitsFor = evaluation === undefined ? [] : requirementNames(job, evaluation);
  return afterTrial(pass, { entry, waitsFor, following: followingOf(tx, entry) });
}

/** The entry of highest priority of every requirement. */
function headsOf(view: ReadView): BlockedRequirement[] {
  const heads: BlockedRequirement[] = [];
  for (let from = ''; ; ) {
    const [head] = view.list(blockedRequirements, { index: 'by_requirement', from: [from], limit: 1 });
    if (head === undefined) return heads;
    heads.push(head.record);
    from = `${head.record.requirement}\u{10ffff}`;
  }
}

/** The next entry of the same requirement, by priority. */
function followingOf(
  view: ReadView,
  { requirement, priority, createIndex, ID }: BlockedRequirement,
): BlockedRequirement | undefined {
  const from = [requirement, -priority, createIndex, `${ID}\u0000`];
  const [following] = view.list(blockedRequirements, {
    index: 'by_requirement',
    from,
    to: [`${requirement}\u{10ffff}`],
    limit: 1,
  });
  return following?.record;
}
