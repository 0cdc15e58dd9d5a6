import { ok } from 'neverthrow';
import { hostPrincipal } from '../../access/principal.js';
import { decideLaunch } from '../../jobs/periodic/decide-launch.js';
import { type PeriodicLaunch, periodicLaunches } from '../../jobs/periodic/periodic-launch.js';
import type { ReadView } from '../../ports/storage.js';
import { second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { commit } from '../commit.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { LaunchSpans } from '../context/traces.js';
import { readJobRow } from '../records/jobs/job-rows.js';
import { changeOrDueTime } from '../waiting/change-or-due-time.js';
import type { Transaction } from '../write-transaction.js';
import { hasRunningInstance, launchWithin } from './launch-within.js';

/** The maximum number of launches in one write: many jobs are due at midnight, and reports of nodes must not wait for all of them. */
const batch = 16;

/**
 * Launches periodic jobs when they are due. Due jobs are read, decided and written in one transaction, the instance together with
 * the record of its launch: whatever the number of processes, and wherever one of them is killed, an instance is created once.
 */
export const periodicLaunchLoop: BackgroundLoop = {
  name: 'periodic-launches',
  run: async (context, signal) => {
    while (!signal.aborted) {
      const due = await launchDue(context);
      if (due === undefined) await context.clock.sleep(second, signal);
      else await changeOrDueTime(context, { tables: [periodicLaunches], index: due.index, dueAt: due.next }, signal);
    }
  },
};

/** Launches all due jobs; returns the time of the next launch. Undefined when the store failed. */
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
  // An in-memory store commits without yielding to the event loop.
  await context.turns.next();
  return { index: written.value.index, next: written.value.value };
}

function nextDue(view: ReadView): Instant | undefined {
  return view.list(periodicLaunches, { index: 'by_due_time', limit: 1 })[0]?.record.dueAt;
}

/** Decides about one due job and writes the result. */
function settle(tx: Transaction, record: PeriodicLaunch, launches: LaunchSpans): void {
  const job = readJobRow(tx, record.Namespace, record.ID)?.record;
  const decision = decideLaunch(job, record, hasRunningInstance(tx, record), tx.now);
  if (decision.kind === 'wait') return;
  if (decision.kind === 'launch' && job !== undefined) {
    tx.trace = launches.traceparentOf(record.Namespace, record.ID);
    launchWithin(tx, job, decision.at);
    tx.trace = undefined;
  }
  if (decision.kind === 'forget' || decision.next === undefined)
    tx.remove(periodicLaunches, [record.Namespace, record.ID]);
  else tx.put(periodicLaunches, decision.next);
}

function failed({ logger }: EngineContext, error: string): undefined {
  logger.error({ error }, 'Launching periodic jobs failed');
}
