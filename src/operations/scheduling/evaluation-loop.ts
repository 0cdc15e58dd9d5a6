import { ok } from 'neverthrow';
import type { ReadView, WriteView } from '../../ports/storage.js';
import { capacitySignals } from '../../scheduler/capacity-signal.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import type { Instant } from '../../shared/instant.js';
import type { ConsequenceEnvironment } from '../shared/consequence-environment.js';
import { type BackgroundLoop, type EngineContext, emit } from '../shared/context.js';
import { emitFacts, type Fact } from '../shared/facts.js';
import { type BlockedPass, firstPass, nextBlocked, passAfter } from './blocked-pass.js';
import { failEvaluation, processEvaluation } from './process-evaluation.js';

/** Works on the pending evaluations, most urgent first, and on blocked ones when there is new room. */
export const evaluationLoop: BackgroundLoop = {
  name: 'evaluations',
  run: async (context, signal) => {
    const faults = new Map<string, number>();
    let pass = firstPass;
    while (!signal.aborted) {
      const attempt: Attempt = { evaluation: undefined };
      const step = await workOnce(context, faults, pass, attempt);
      if (step === undefined) {
        await pauseAfterFault(context, faults, attempt, signal);
        continue;
      }
      pass = step.pass;
      if (!step.worked) await untilWork(context, step.index, step.nextDue, signal);
    }
  },
};

/** What the write was at, for when it fails. */
interface Attempt {
  evaluation: Evaluation | undefined;
}

interface Work {
  readonly worked: boolean;
  readonly pass: BlockedPass;
  /** When the next evaluation that waits for a moment is due. */
  readonly nextDue: Instant | undefined;
  readonly finished: Evaluation | undefined;
  readonly facts: readonly Fact[];
}

/** One evaluation in one write. Undefined when the write failed. */
async function workOnce(
  context: EngineContext,
  faults: ReadonlyMap<string, number>,
  pass: BlockedPass,
  attempt: Attempt,
): Promise<(Work & { readonly index: number }) | undefined> {
  const environment = { now: context.clock.now(), ids: context.ids, settings: context.settings };
  const mostFaults = context.settings.scheduling.evaluationAttempts;
  try {
    const written = await context.storage.write((view) => {
      const { due, nextDue } = nextPending(view, environment.now);
      const blocked = due === undefined ? nextBlocked(view, pass) : { evaluation: undefined, pass };
      const chosen = due ?? blocked.evaluation;
      const idle: Work = { worked: false, pass: blocked.pass, nextDue, finished: undefined, facts: [] };
      if (chosen === undefined) return ok<Work, never>(idle);
      attempt.evaluation = chosen;
      const givenUp = (faults.get(chosen.ID) ?? 0) >= mostFaults;
      return ok<Work, never>({ ...idle, ...workOn(view, environment, chosen, blocked.pass, givenUp), worked: true });
    });
    if (written.isErr()) throw new Error(written.error.message);
    const work = written.value.value;
    emitFacts(context, work.facts);
    if (work.finished !== undefined) emitFinished(context, work.finished);
    return { ...work, index: written.value.index };
  } catch (error) {
    const message = error instanceof Error ? error.message : 'unknown';
    context.logger.error(
      { evaluation: attempt.evaluation?.ID ?? '', error: message },
      'An evaluation could not be processed',
    );
    return undefined;
  }
}

function workOn(
  view: WriteView,
  environment: ConsequenceEnvironment,
  evaluation: Evaluation,
  pass: BlockedPass,
  givenUp: boolean,
): Pick<Work, 'facts' | 'finished' | 'pass'> {
  if (givenUp) {
    const facts = failEvaluation(view, environment, evaluation, 'The evaluation failed every time it was tried');
    return { facts, finished: undefined, pass };
  }
  const result = processEvaluation(view, environment, evaluation);
  const next = evaluation.Status === 'blocked' ? passAfter(view, evaluation, result.placedAll, pass) : pass;
  return { facts: result.facts, finished: result.evaluation, pass: next };
}

function emitFinished(context: EngineContext, { Namespace, ID, JobID, Status }: Evaluation): void {
  emit(context, 'evaluation.finished', { namespace: Namespace, evaluationId: ID, jobId: JobID, status: Status });
}

/** A write that failed is tried again after a moment; an evaluation that makes it fail each time is given up. */
async function pauseAfterFault(
  context: EngineContext,
  faults: Map<string, number>,
  { evaluation }: Attempt,
  signal: AbortSignal,
): Promise<void> {
  if (evaluation !== undefined) faults.set(evaluation.ID, (faults.get(evaluation.ID) ?? 0) + 1);
  await context.clock.sleep(100, signal);
}

/** An evaluation whose moment has come, else the most urgent one that waits for nothing. */
function nextPending(
  view: ReadView,
  now: Instant,
): { readonly due: Evaluation | undefined; readonly nextDue: Instant | undefined } {
  const [waiting] = view.list(evaluations, { index: 'due', prefix: ['waiting'], limit: 1 });
  const nextDue = waiting === undefined ? undefined : Date.parse(waiting.record.WaitUntil ?? '');
  if (waiting !== undefined && nextDue !== undefined && nextDue <= now) return { due: waiting.record, nextDue };
  const [urgent] = view.list(evaluations, { index: 'due', prefix: ['pending'], limit: 1 });
  return { due: urgent?.record, nextDue };
}

/** Sleeps until evaluations or capacity change, or until the next evaluation is due. */
async function untilWork(
  context: EngineContext,
  index: number,
  nextDue: Instant | undefined,
  signal: AbortSignal,
): Promise<void> {
  // The signal may have aborted during the write before: then its event is over.
  if (signal.aborted) return;
  const either = new AbortController();
  const stop = (): void => either.abort();
  signal.addEventListener('abort', stop, { once: true });
  const changed = context.storage.waitForChange([evaluations, capacitySignals], index, either.signal);
  const due = nextDue === undefined ? [] : [context.clock.sleepUntil(nextDue, either.signal)];
  await Promise.race([changed, ...due]);
  either.abort();
  signal.removeEventListener('abort', stop);
  await Promise.all([changed, ...due]);
}
