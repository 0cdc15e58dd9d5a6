import type { ReadView } from '../../ports/storage.js';
import {
  afterTrial,
  type BlockedPass,
  beginsAnew,
  nextOf,
  passOver,
  skipped,
} from '../../scheduler/blocked/blocked-pass.js';
import { type BlockedRequirement, blockedRequirements } from '../../scheduler/blocked/blocked-requirement.js';
import { requirementNames } from '../../scheduler/blocked/requirement-names.js';
import { capacitySignals } from '../../scheduler/capacity-signal.js';
import { type Evaluation, evaluations } from '../../scheduler/evaluation.js';
import { readJobRow } from '../records/jobs/job-rows.js';
import type { Transaction } from '../write-transaction.js';

/** The blocked evaluation to try next, and the entry that led to it. */
export interface NextBlocked {
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
export function passAfter(tx: Transaction, { pass, entry }: Pick<NextBlocked, 'pass' | 'entry'>): BlockedPass {
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
