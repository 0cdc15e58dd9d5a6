import { err, ok, okAsync, type Result, ResultAsync } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { type BlockedPass, firstPass } from '../../scheduler/blocked/blocked-pass.js';
import { capacitySignals } from '../../scheduler/capacity-signal.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import { schedulerConfigurations } from '../../scheduler/scheduler-configuration.js';
import type { Instant } from '../../shared/instant.js';
import { type KnownCluster, needsTurns } from '../books/scheduling/known-cluster.js';
import { readSchedulerConfiguration } from '../books/scheduling/scheduler-configuration-rows.js';
import { commit, type Transaction } from '../commit.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { refreshCluster } from '../context/learn-cluster.js';
import { stepsInTurns } from '../context/steps-in-turns.js';
import { changeOrTime } from '../waiting/change-or-time.js';
import { type NextBlocked, nextBlocked, passAfter } from './blocked-pass.js';
import { Troubles } from './evaluation-troubles.js';
import { keepWaits, type WallOffset } from './keep-waits.js';
import { type BegunEvaluation, beginEvaluation, failEvaluation } from './process-evaluation.js';
import { writeInTurns } from './write-in-turns.js';

/** Processes the pending evaluations, by turns of their namespaces, and blocked ones when there is new room. */
export const evaluationLoop: BackgroundLoop = {
  name: 'evaluations',
  run: async (context, signal) => {
    const troubles = new Troubles();
    let progress: Progress = { pass: firstPass, offset: undefined, refreshed: false, turn: firstTurn };
    let turnBegan = context.clock.monotonic();
    while (!signal.aborted) {
      // A store in memory commits without a turn of the event loop.
      if (context.clock.monotonic() - turnBegan > turnMs) {
        await context.turns.next();
        turnBegan = context.clock.monotonic();
      }
      const step = await workOnce(context, troubles, progress, signal);
      if (step === 'failed') {
        await context.clock.sleep(pauseAfterFailure, signal);
        continue;
      }
      progress = step;
      if (step.worked) continue;
      await changeOrTime(
        context,
        { tables: [evaluations, capacitySignals, schedulerConfigurations], index: step.index, moment: step.nextDue },
        signal,
      );
    }
  },
};

/** Other work has its turn after so many milliseconds of evaluations. */
const turnMs = 2;

/** After a write that failed, in milliseconds. */
const pauseAfterFailure = 100;

/** The number of plans of an evaluation that may be discarded because something has changed; after that it is decided in its write. */
const plansInTurns = 2;

/** What the write was working on, for the case that it fails. */
interface Attempt {
  evaluation: Evaluation | undefined;
}

/** Whose evaluation was taken last, so that the next one is of another namespace. */
interface Turn {
  readonly namespace: string;
  /** It had waited for a time. */
  readonly waited: boolean;
}

const firstTurn: Turn = { namespace: '', waited: false };

/** What one write leaves to the next. */
interface Progress {
  readonly pass: BlockedPass;
  readonly turn: Turn;
  readonly offset: WallOffset | undefined;
  /** The cluster was just brought up to date in turns: whatever has changed since is read in the write. */
  readonly refreshed: boolean;
}

/** What a write begins with. */
interface Start extends Progress {
  readonly known: KnownCluster | undefined;
}

interface Work extends Progress {
  readonly worked: boolean;
  /** When the next evaluation that waits for a time is due. */
  readonly nextDue: Instant | undefined;
  /** The cluster after the work; `unread` when the work needs it and the engine does not know it, or what is known is too old. */
  readonly cluster?: KnownCluster | 'unread';
  /** Something has changed since the plan was begun: nothing of it was written, or not all. The evaluation is to be decided again. */
  readonly conflict?: 'fruitless' | 'partial';
  /** The plan that has to be finished outside of the write, and the entry that led to it. */
  readonly begun?: (BegunEvaluation & Pick<NextBlocked, 'entry'>) | undefined;
}

interface Indexed {
  /** Of the last write. */
  readonly index: number;
}

type Step = (Work & Indexed) | 'failed';

/**
 * One evaluation: in one write, or for a large job decided and written in turns of the event loop. A failure of the store does not count
 * against the evaluation: the write is repeated until it succeeds. An evaluation whose processing throws is given up after some attempts,
 * so that it does not hold up the others.
 */
async function workOnce(
  context: EngineContext,
  troubles: Troubles,
  progress: Progress,
  signal: AbortSignal,
): Promise<Step> {
  const began = context.clock.monotonic();
  const attempt: Attempt = { evaluation: undefined };
  try {
    const taken = await commit(context, hostPrincipal, (tx) =>
      ok(takeNext(tx, troubles, { ...progress, known: context.cluster.known }, attempt)),
    );
    const done = await taken.asyncAndThen(({ value: { begun, ...work }, index }) => {
      if (work.cluster === 'unread') {
        return refreshCluster(context, signal).map(() => ({ ...work, index, refreshed: true }));
      }
      if (begun === undefined) return okAsync({ ...work, index });
      return new ResultAsync(finishInTurns(context, { ...work, begun }, signal));
    });
    noteStore(context, troubles, done);
    if (done.isOk()) {
      const { cluster } = done.value;
      if (cluster !== undefined && cluster !== 'unread') context.cluster.remember(cluster);
      const took = (context.clock.monotonic() - began) / 1000;
      if (attempt.evaluation !== undefined) noteOutcome(context, troubles, attempt.evaluation, { ...done.value, took });
      return done.value;
    }
  } catch (error) {
    const id = attempt.evaluation?.ID;
    if (id !== undefined) troubles.faults.count(id);
    logFailure(context, attempt, error instanceof Error ? error.message : 'unknown');
  }
  return 'failed';
}

function noteOutcome(
  context: EngineContext,
  { faults, conflicts }: Troubles,
  { ID }: Evaluation,
  { worked, conflict, took }: Work & { readonly took: number },
): void {
  if (conflict === 'fruitless') conflicts.count(ID);
  if (conflict === 'fruitless' || !worked) return;
  faults.forget(ID);
  conflicts.forget(ID);
  if (conflict === 'partial') return;
  context.observer.record('signalbox.evaluation.duration', took, {});
}

/** Processes what is due, or only begins it where that takes longer than a write should. */
function takeNext(tx: Transaction, troubles: Troubles, { known, ...progress }: Start, attempt: Attempt): Work {
  if (readSchedulerConfiguration(tx).PauseEvalBroker) return paused(progress);
  const offset = keepWaits(tx, progress.offset);
  const { due, nextDue } = nextPending(tx, tx.now, progress.turn);
  const { pass } = progress;
  const turn = due === undefined ? progress.turn : { namespace: due.Namespace, waited: due.WaitUntil !== undefined };
  const next = due === undefined ? nextBlocked(tx, pass) : { evaluation: due, entry: undefined, pass };
  const { evaluation } = next;
  const idle = { offset, pass: next.pass, turn, refreshed: false, worked: false, nextDue };
  if (evaluation === undefined) return idle;
  if (known === undefined || (!progress.refreshed && needsTurns(tx, known)))
    return { ...idle, pass, turn: progress.turn, worked: true, cluster: 'unread' };
  attempt.evaluation = evaluation;
  const { evaluationAttempts, decidedAtOnce } = tx.settings.scheduling;
  if (troubles.faults.of(evaluation.ID) >= evaluationAttempts) {
    failEvaluation(tx, evaluation, 'The evaluation failed every time it was tried');
    return { ...idle, pass: passAfter(tx, next), worked: true };
  }
  const inTurns = troubles.conflicts.of(evaluation.ID) < plansInTurns;
  const atMost = inTurns ? decidedAtOnce : Number.POSITIVE_INFINITY;
  const taken = beginEvaluation(tx, evaluation, { known, atMost });
  if (taken.type === 'begun') return { ...idle, cluster: taken.known, begun: { ...taken, entry: next.entry } };
  return { ...idle, cluster: taken.cluster, pass: passAfter(tx, next), worked: true };
}

/** Decides the rest of a plan in turns and writes it in parts, unless something that it was decided on has changed. */
async function finishInTurns(
  context: EngineContext,
  { begun, ...work }: Work & { readonly begun: NonNullable<Work['begun']> },
  signal: AbortSignal,
): Promise<Result<Work & Indexed, StorageError>> {
  const decided = await stepsInTurns(context, begun, signal);
  if (decided.isErr()) return err(decided.error);
  const { index } = begun;
  if (signal.aborted) return ok({ ...work, index });
  if (decided.value === undefined) return ok({ ...work, index, worked: true, conflict: 'fruitless' });
  const atEnd = (tx: Transaction): BlockedPass => passAfter(tx, { pass: work.pass, entry: begun.entry });
  const written = await writeInTurns(context, decided.value, signal, atEnd);
  return written.map((plan) => {
    const done = { ...work, cluster: plan.cluster, index: plan.index };
    if (plan.end === 'complete') return { ...done, pass: plan.atEnd, worked: true };
    if (plan.end === 'stopped') return done;
    return { ...done, worked: true, conflict: plan.parts === 0 ? 'fruitless' : 'partial' };
  });
}

/** Evaluations stay as they are until the configuration changes; room that is freed meanwhile is noticed then. */
function paused(progress: Progress): Work {
  return { ...progress, worked: false, nextDue: undefined };
}

/** Logs a repeated failure once, because the loop retries ten times a second. */
function noteStore(context: EngineContext, troubles: Troubles, done: Result<unknown, StorageError>): void {
  const error = done.isErr() ? done.error.message : undefined;
  if (error !== undefined && error !== troubles.storeFailure) {
    context.logger.error({ error }, 'Evaluations wait: the store fails');
  }
  troubles.storeFailure = error;
}

function logFailure(context: EngineContext, { evaluation }: Attempt, error: string): void {
  context.logger.error({ evaluation: evaluation?.ID ?? '', error }, 'An evaluation could not be processed');
}

/**
 * The evaluation whose turn it is. Those whose time to wait for has come, and those without such a time, take turns; of the latter,
 * their namespaces in the order of their names, each with its most urgent one: no namespace waits for the queue of another.
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

/** The most urgent one of the namespace that comes after the given one, else of the first. */
function nextOfNamespaces(view: ReadView, last: string): Evaluation | undefined {
  const query = { index: 'due', prefix: ['pending'], limit: 1 };
  const [next = view.list(evaluations, query)[0]] = view.list(evaluations, {
    ...query,
    from: ['pending', `${last}\u0000`],
  });
  return next?.record;
}
