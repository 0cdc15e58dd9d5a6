import { declarations } from '../../functions/declaration.js';
import type { Job } from '../../jobs/document/job.js';
import { jobs } from '../../jobs/job-record.js';
import { scheduleLaunches } from '../../jobs/periodic/decide-launch.js';
import { periodicLaunches } from '../../jobs/periodic/periodic-launch.js';
import type { ReadView } from '../../ports/storage.js';
import { isRegistered } from './job-progress.js';
import type { Reaction } from './reaction.js';

/** The next launch of a job that was registered: launches count from now on, or end. Those of a function are of its own schedules. */
export const launchesReaction: Reaction = {
  tables: [jobs],
  react: (tx, changes) => {
    for (const change of changes.of(jobs)) {
      const { before, after } = change;
      if (after !== undefined && !isRegistered(change)) continue;
      const next = after === undefined ? undefined : scheduleLaunches(after, tx.now);
      if (next !== undefined && !isOfFunction(tx, next)) tx.put(periodicLaunches, next);
      else if (before !== undefined) tx.remove(periodicLaunches, [before.Namespace, before.ID]);
    }
  },
};

function isOfFunction(view: ReadView, { Namespace, ID }: Pick<Job, 'Namespace' | 'ID'>): boolean {
  return view.get(declarations, [ID])?.record.namespace === Namespace;
}
