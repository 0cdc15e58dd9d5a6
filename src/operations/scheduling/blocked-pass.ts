import type { ReadView } from '../../ports/storage.js';
import {
  afterTrial,
  type BlockedPass,
  beginsAnew,
  nextOf,
  passOver,
  skipped,
} from '../../scheduler/blocked/blocked-pass.js';
import { type WaitingAsk, waitingAsks } from '../../scheduler/blocked/waiting-ask.js';
import { capacitySignals } from '../../scheduler/capacity-signal.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import type { Transaction } from '../commit.js';

/** The blocked evaluation that is to be tried next, and the entry that led to it. */
export interface NextBlocked {
  readonly evaluation: Evaluation | undefined;
  readonly entry: WaitingAsk | undefined;
  readonly pass: BlockedPass;
}

/** Goes on with the round, or begins another one when capacity was freed. */
export function nextBlocked(view: ReadView, before: BlockedPass): NextBlocked {
  const signalled = view.get(capacitySignals, ['capacity'])?.record.index ?? 0;
  let pass = beginsAnew(before, signalled) ? passOver(headsOf(view), before, signalled) : before;
  for (let entry = nextOf(pass); entry !== undefined; entry = nextOf(pass)) {
    const evaluation = view.get(evaluations, [entry.ID])?.record;
    const exhausted = pass.exhausted.has(entry.ask);
    if (evaluation?.Status === 'blocked' && !exhausted) return { evaluation, entry, pass };
    pass = skipped(pass, entry, exhausted ? undefined : followingOf(view, entry));
  }
  return { evaluation: undefined, entry: undefined, pass };
}

/** The round after the entry's evaluation was tried in this transaction. */
export function passAfter(tx: Transaction, { pass, entry }: Pick<NextBlocked, 'pass' | 'entry'>): BlockedPass {
  if (entry === undefined) return pass;
  const waitsFor = tx.list(waitingAsks, { prefix: [entry.ID] }).map(({ record }) => record.ask);
  return afterTrial(pass, { entry, waitsFor, following: followingOf(tx, entry) });
}

/** The most urgent entry of every ask. */
function headsOf(view: ReadView): WaitingAsk[] {
  const heads: WaitingAsk[] = [];
  for (let from = ''; ; ) {
    const [head] = view.list(waitingAsks, { index: 'by_ask', from: [from], limit: 1 });
    if (head === undefined) return heads;
    heads.push(head.record);
    from = `${head.record.ask}\u{10ffff}`;
  }
}

/** The next one of the same ask, by urgency. */
function followingOf(view: ReadView, { ask, priority, createIndex, ID }: WaitingAsk): WaitingAsk | undefined {
  const from = [ask, -priority, createIndex, `${ID}\u0000`];
  const [following] = view.list(waitingAsks, { index: 'by_ask', from, to: [`${ask}\u{10ffff}`], limit: 1 });
  return following?.record;
}
