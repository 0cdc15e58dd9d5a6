import { ok } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import { decideLaunch } from '../../jobs/periodic/decide-launch.js';
import { type PeriodicLaunch, periodicLaunches } from '../../jobs/periodic/periodic-launch.js';
import type { ReadView } from '../../ports/storage.js';
import { second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { readJobRow } from '../books/jobs/job-rows.js';
import { forgetSchedule } from '../books/jobs/periodic-launches.js';
import { commit, type Transaction } from '../commit.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { LaunchSpans } from '../context/traces.js';
import { changeOrTime } from '../waiting/change-or-time.js';
import { hasRunningInstance, launchWithin } from './launch-within.js';

/** The most launches per write: many jobs are due at midnight, and reports of nodes must not wait for all of them. */
const batch = 16;

/**
 * Launches periodic jobs when they are due. Due launches are read, decided and written in one transaction, each instance together with
 * the record of its launch: each instance is created once, even with several processes and kills at any time.
 */
export const periodicLaunchLoop: BackgroundLoop = {
  name: 'periodic-launches',
  run: async (context, signal) => {
    while (!signal.aborted) {
      const due = await launchDue(context);
      if (due === undefined) await context.clock.sleep(second, signal);
      else await changeOrTime(context, { tables: [periodicLaunches], index: due.index, moment: due.next }, signal);
    }
  },
};

/** Launches all due jobs. Returns the time of the next launch; undefined if the store failed. */
async function launchDue(
  context: EngineContext,
): Promise<{ readonly index: number; readonly next: Instant | undefined } | undefined> {
  const seen = await context.storage.read((view) => ({ index: view.index, next: nextDue(view) }));
  if (seen.isErr()) return failed(context, seen.error.message);
  const { next } = seen.value;
  if (next === undefined || next > context.clock.now()) return seen.value;
  const launches = new LaunchSpans(context.tracer);
  const written = await commit(context, hostPrincipal, (tx) => {
    for (const { record } of tx.list(periodicLaunches, { index: 'by_due_time', limit: batch })) {
      if (record.dueAt <= tx.now) settle(tx, record, launches);
    }
    return ok(nextDue(tx));
  });
  if (written.isOk()) launches.end();
  if (written.isErr()) return failed(context, written.error.message);
  // A store in memory commits without yielding to the event loop.
  await context.turns.next();
  return { index: written.value.index, next: written.value.value };
}

function nextDue(view: ReadView): Instant | undefined {
  return view.list(periodicLaunches, { index: 'by_due_time', limit: 1 })[0]?.record.dueAt;
}

/** Decides on one due launch and writes the result. */
function settle(tx: Transaction, record: PeriodicLaunch, launches: LaunchSpans): void {
  const job = readJobRow(tx, record.Namespace, record.ID)?.record;
  const decision = decideLaunch(job, record, hasRunningInstance(tx, record), tx.now);
  if (decision.kind === 'wait') return;
  if (decision.kind === 'launch' && job !== undefined) {
    tx.trace = launches.traceparentOf(record.Namespace, record.ID);
    launchWithin(tx, job, decision.at);
    tx.trace = undefined;
  }
  if (decision.kind === 'forget' || decision.next === undefined) forgetSchedule(tx, record);
  else tx.put(periodicLaunches, decision.next);
}

function failed({ logger }: EngineContext, error: string): undefined {
  logger.error({ error }, 'Periodic jobs could not be launched');
}
