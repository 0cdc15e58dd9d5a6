import type { ReadView, WriteView } from '../../ports/storage.js';
import { blockedRequirements } from '../../scheduler/blocked/blocked-requirement.js';
import { requirementNames } from '../../scheduler/blocked/requirement-names.js';
import { type Evaluation, evaluations, timeOfChange } from '../../scheduler/evaluation.js';
import { readJobRow } from '../records/jobs/job-rows.js';
import type { Reaction } from './reaction.js';

/** An evaluation that placed all that was wanted makes blocked ones of its job needless. */
export const needlessEvaluationsReaction: Reaction = {
  tables: [evaluations],
  react: (tx, changes) => {
    for (const { before, after } of changes.of(evaluations)) {
      if (after === undefined || before?.Status === 'complete' || !hasPlacedAll(after)) continue;
      const { ID, Namespace, JobID } = after;
      const query = { index: 'open_by_job', prefix: [Namespace, JobID, 'blocked'] };
      for (const { record } of tx.list(evaluations, query)) {
        tx.put(evaluations, {
          ...record,
          Status: 'canceled',
          StatusDescription: `evaluation "${ID}" successful`,
          ModifyIndex: tx.index,
          ModifyTime: timeOfChange(record, tx.now),
        });
      }
    }
  },
};

function hasPlacedAll({ Status, FailedTGAllocs = {} }: Evaluation): boolean {
  return Status === 'complete' && Object.keys(FailedTGAllocs).length === 0;
}

/** What blocked evaluations wait for. */
export const blockedRequirementsReaction: Reaction = {
  tables: [evaluations],
  react: (tx, changes) => {
    for (const { before, after } of changes.of(evaluations)) {
      if (before?.Status === 'blocked') forget(tx, before, after === undefined ? [] : namesOf(tx, after));
      if (after?.Status === 'blocked') add(tx, after);
    }
  },
};

/** None unless it is blocked. */
function namesOf(view: ReadView, evaluation: Evaluation): readonly string[] {
  return requirementNames(readJobRow(view, evaluation.Namespace, evaluation.JobID)?.record, evaluation);
}

function forget(view: WriteView, { ID }: Evaluation, kept: readonly string[]): void {
  for (const { record } of view.list(blockedRequirements, { prefix: [ID] }))
    if (!kept.includes(record.requirement)) view.remove(blockedRequirements, [ID, record.requirement]);
}

function add(view: WriteView, evaluation: Evaluation): void {
  const { ID, Priority: priority, CreateIndex: createIndex } = evaluation;
  for (const requirement of namesOf(view, evaluation))
    if (view.get(blockedRequirements, [ID, requirement]) === undefined)
      view.put(blockedRequirements, { ID, requirement, priority, createIndex });
}
