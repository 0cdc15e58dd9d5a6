import type { Transaction } from '../write-transaction.js';
import { blockedRequirementsReaction, needlessEvaluationsReaction } from './evaluations.js';
import { jobStatusReaction, jobStubsReaction, launchesReaction, parentsReaction, summariesReaction } from './jobs.js';
import { nodeRowsReaction } from './node-rows.js';
import { noticeTables, writeNotices } from './notices.js';
import { quotasReaction } from './quotas.js';
import { ChangeSet, type Reaction } from './reaction.js';
import { runsReaction } from './runs.js';
import { endedServicesReaction, servicesReaction } from './services.js';

/** In this order: each sees the changes of those before it. */
const reactions: readonly Reaction[] = [
  nodeRowsReaction,
  endedServicesReaction,
  summariesReaction,
  // Evaluations that become needless have no effect on summaries.
  needlessEvaluationsReaction,
  blockedRequirementsReaction,
  jobStatusReaction,
  parentsReaction,
  jobStubsReaction,
  launchesReaction,
  quotasReaction,
  runsReaction,
  // Services of tasks have a later index, which all later changes would have too.
  servicesReaction,
];

const watched = new Set([...noticeTables, ...reactions.flatMap(({ tables }) => tables)].map(({ name }) => name));

export function newChangeSet(): ChangeSet {
  return new ChangeSet(watched);
}

/** What follows from the changes since the last call. A write runs it before each further index, and at its end. */
export function react(tx: Transaction, changes: ChangeSet): void {
  changes.react(tx, reactions);
}

/** The last one: the events of the write. */
export function notice(tx: Transaction, changes: ChangeSet): void {
  writeNotices(tx, changes.all, tx.settings.events.kept, tx.cause);
}
