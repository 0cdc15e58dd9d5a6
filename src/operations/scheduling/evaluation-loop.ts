import { ok } from 'neverthrow';
import type { ReadView, WriteView } from '../../ports/storage.js';
import { blockedQueues } from '../../scheduler/blocked-queue.js';
import { capacitySignals } from '../../scheduler/capacity-signal.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import type { Instant } from '../../shared/instant.js';
import type { BackgroundLoop, EngineContext } from '../shared/context.js';
import { emit } from '../shared/context.js';
import { emitFacts, type Fact } from '../shared/facts.js';
import { failEvaluation, processEvaluation } from './process-evaluation.js';

/** Works on the pending evaluations, most urgent first, and on blocked ones when there is new room. */
export const evaluationLoop: BackgroundLoop = {
  name: 'evaluations',
  run: async (context, signal) => {
    const faults = new Map<string, number>();
    const blocked = new BlockedPass();
    while (!signal.aborted) {
      const step = await workOnce(context, faults, blocked);
      if (step.worked) continue;
      await untilWork(context, step.index, step.nextDue, signal);
    }
  },
};

interface Step {
  readonly worked: boolean;
  readonly index: number;
  /** When the next evaluation that waits for a moment is due. */
  readonly nextDue: Instant | undefined;
}

/** How far the blocked evaluations have been tried since capacity was last freed. */
class BlockedPass {
  /** The capacity signal that the pass answers. */
  seen = -1;
  /** The queue to try next; undefined when the pass is over. */
  cursor: string | undefined;
}

async function workOnce(context: EngineContext, faults: Map<string, number>, blocked: BlockedPass): Promise<Step> {
  const now = context.clock.now();
  const environment = { now, ids: context.ids, settings: context.settings };
  let working: Evaluation | undefined;
  const facts: Fact[] = [];
  let processed: Evaluation | undefined;
  const written = await context.storage.write((view) => {
    facts.length = 0;
    processed = undefined;
    working = undefined;
    const { due, nextDue } = nextPending(view, now);
    const chosen = due ?? nextBlocked(view, blocked);
    if (chosen === undefined) return ok<Pick<Step, 'worked' | 'nextDue'>, never>({ worked: false, nextDue });
    working = chosen;
    if ((faults.get(chosen.ID) ?? 0) >= context.settings.scheduling.evaluationAttempts) {
      facts.push(...failEvaluation(view, environment, chosen, 'The evaluation failed every time it was tried'));
      return ok<Pick<Step, 'worked' | 'nextDue'>, never>({ worked: true, nextDue });
    }
    const result = processEvaluation(view, environment, chosen);
    facts.push(...result.facts);
    processed = result.evaluation;
    if (chosen.Status === 'blocked') blocked.cursor = advanceCursor(view, chosen, result.placedAll, blocked);
    return ok<Pick<Step, 'worked' | 'nextDue'>, never>({ worked: true, nextDue });
  });
  if (written.isErr()) {
    await countFault(context, faults, working, written.error.message);
    return { worked: true, index: 0, nextDue: undefined };
  }
  emitFacts(context, facts);
  if (processed !== undefined) {
    const { Namespace, ID, JobID, Status } = processed;
    emit(context, 'evaluation.finished', { namespace: Namespace, evaluationId: ID, jobId: JobID, status: Status });
  }
  return { ...written.value.value, index: written.value.index };
}

/** A write that failed is tried again after a moment; an evaluation that makes it fail each time is given up. */
async function countFault(
  context: EngineContext,
  faults: Map<string, number>,
  working: Evaluation | undefined,
  message: string,
): Promise<void> {
  if (working !== undefined) faults.set(working.ID, (faults.get(working.ID) ?? 0) + 1);
  context.logger.error({ evaluation: working?.ID ?? '', error: message }, 'An evaluation could not be processed');
  await context.clock.sleepUntil(context.clock.now() + 100, new AbortController().signal);
}

/** An evaluation whose moment has come, else the most urgent one that waits for nothing. */
function nextPending(view: ReadView, now: Instant): { due: Evaluation | undefined; nextDue: Instant | undefined } {
  const [waiting] = view.list(evaluations, { index: 'due', prefix: ['waiting'], limit: 1 });
  const nextDue = waiting === undefined ? undefined : Date.parse(waiting.record.WaitUntil ?? '');
  if (waiting !== undefined && nextDue !== undefined && nextDue <= now) return { due: waiting.record, nextDue };
  const [urgent] = view.list(evaluations, { index: 'due', prefix: ['pending'], limit: 1 });
  return { due: urgent?.record, nextDue };
}

/** The first blocked evaluation of the queue that the pass has come to; a new capacity signal starts a new pass. */
function nextBlocked(view: ReadView, pass: BlockedPass): Evaluation | undefined {
  const signalled = view.get(capacitySignals, ['capacity'])?.record.index ?? 0;
  if (signalled > pass.seen) {
    pass.seen = signalled;
    pass.cursor = '';
  }
  while (pass.cursor !== undefined) {
    const [entry] = view.list(blockedQueues, { index: 'by_queue', from: [pass.cursor], limit: 1 });
    if (entry === undefined) {
      pass.cursor = undefined;
      return undefined;
    }
    const evaluation = view.get(evaluations, [entry.record.ID])?.record;
    if (evaluation?.Status === 'blocked') return evaluation;
    pass.cursor = afterQueue(entry.record.queue);
  }
  return undefined;
}

/** The same queue again while its evaluations find room; else the rest of the queue wants the same and is passed over. */
function advanceCursor(view: WriteView, tried: Evaluation, placedAll: boolean, pass: BlockedPass): string | undefined {
  const queue = view.get(blockedQueues, [tried.ID])?.record.queue;
  return placedAll || queue === undefined ? pass.cursor : afterQueue(queue);
}

/** A key after every entry of the queue: queue names are JSON arrays, which end in `]`. */
function afterQueue(queue: string): string {
  return `${queue}\u{10ffff}`;
}

/** Sleeps until evaluations or capacity change, or until the next evaluation is due. */
async function untilWork(
  context: EngineContext,
  index: number,
  nextDue: Instant | undefined,
  signal: AbortSignal,
): Promise<void> {
  // An abort during the last step would not be heard any more.
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
