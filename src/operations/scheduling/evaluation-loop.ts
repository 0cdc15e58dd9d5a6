import { ok } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import type { ReadView } from '../../ports/storage.js';
import { type BlockedPass, firstPass } from '../../scheduler/blocked/blocked-pass.js';
import { capacitySignals } from '../../scheduler/capacity-signal.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import { schedulerConfigurations } from '../../scheduler/scheduler-configuration.js';
import type { Instant } from '../../shared/instant.js';
import type { KnownCluster } from '../books/known-cluster.js';
import { readSchedulerConfiguration } from '../books/scheduler-configuration-rows.js';
import { commit } from '../commit.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { changeOrMoment } from '../waiting/change-or-moment.js';
import { nextBlocked, passAfter } from './blocked-pass.js';
import { keepWaits, type WallOffset } from './keep-waits.js';
import { failEvaluation, processEvaluation } from './process-evaluation.js';

/** Works on the pending evaluations, most urgent first, and on blocked ones when there is new room. */
export const evaluationLoop: BackgroundLoop = {
  name: 'evaluations',
  run: async (context, signal) => {
    const faults = new Map<string, number>();
    let progress: Progress = { pass: firstPass, cluster: undefined, offset: undefined };
    while (!signal.aborted) {
      const attempt: Attempt = { evaluation: undefined };
      const step = await workOnce(context, faults, progress, attempt);
      if (step === 'failed') {
        await context.clock.sleep(pauseAfterFailure, signal);
        continue;
      }
      progress = step;
      if (step.worked) continue;
      await changeOrMoment(
        context,
        { tables: [evaluations, capacitySignals, schedulerConfigurations], index: step.index, moment: step.nextDue },
        signal,
      );
    }
  },
};

/** After a write that failed, in milliseconds. */
const pauseAfterFailure = 100;

/** What the write was at, for when it fails. */
interface Attempt {
  evaluation: Evaluation | undefined;
}

/** What one write leaves to the next. */
interface Progress {
  readonly pass: BlockedPass;
  readonly cluster: KnownCluster | undefined;
  readonly offset: WallOffset | undefined;
}

interface Work extends Progress {
  readonly worked: boolean;
  /** When the next evaluation that waits for a moment is due. */
  readonly nextDue: Instant | undefined;
}

/**
 * One evaluation in one write. A store that fails is not the evaluation's fault: it is tried again for as long as that takes. An
 * evaluation that cannot be worked on is given up after some attempts, so that it does not hold up the others.
 */
async function workOnce(
  context: EngineContext,
  faults: Map<string, number>,
  progress: Progress,
  attempt: Attempt,
): Promise<(Work & { readonly index: number }) | 'failed'> {
  const began = context.clock.monotonic();
  try {
    const written = await commit(context, hostPrincipal, (tx) => {
      if (readSchedulerConfiguration(tx).PauseEvalBroker) return ok(paused(progress));
      const offset = keepWaits(tx, progress.offset);
      const { due, nextDue } = nextPending(tx, tx.now);
      const { pass } = progress;
      const blocked = due === undefined ? nextBlocked(tx, pass) : { evaluation: due, entry: undefined, pass };
      const { evaluation } = blocked;
      attempt.evaluation = evaluation;
      const idle = { ...progress, offset, pass: blocked.pass, worked: false, nextDue };
      if (evaluation === undefined) return ok<Work, never>(idle);
      const givenUp = (faults.get(evaluation.ID) ?? 0) >= tx.settings.scheduling.evaluationAttempts;
      if (givenUp) failEvaluation(tx, evaluation, 'The evaluation failed every time it was tried');
      const processed = givenUp ? progress : processEvaluation(tx, evaluation, progress.cluster);
      return ok<Work, never>({ ...idle, cluster: processed.cluster, pass: passAfter(tx, blocked), worked: true });
    });
    if (written.isOk()) {
      if (attempt.evaluation !== undefined) {
        faults.delete(attempt.evaluation.ID);
        const took = (context.clock.monotonic() - began) / 1000;
        context.observer.record('signalbox.evaluation.duration', took, {});
      }
      return { ...written.value.value, index: written.value.index };
    }
    logFailure(context, attempt, written.error.message);
  } catch (error) {
    const id = attempt.evaluation?.ID;
    if (id !== undefined) faults.set(id, (faults.get(id) ?? 0) + 1);
    logFailure(context, attempt, error instanceof Error ? error.message : 'unknown');
  }
  return 'failed';
}

/** Evaluations stay as they are until the configuration changes; room that is freed meanwhile is noticed then. */
function paused(progress: Progress): Work {
  return { ...progress, worked: false, nextDue: undefined };
}

function logFailure(context: EngineContext, { evaluation }: Attempt, error: string): void {
  context.logger.error({ evaluation: evaluation?.ID ?? '', error }, 'An evaluation could not be processed');
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
