import { err, errAsync, ok, type ResultAsync } from 'neverthrow';
import { hostPrincipal, type Principal } from '../../access/principal.js';
import { type JobRestart, jobRestarts, withBatch, withoutTarget } from '../../jobs/changes/job-restart.js';
import {
  type InvalidRequest,
  invalidRequest,
  type JobNotFound,
  jobNotFound,
  type RestartUnderWay,
} from '../../jobs/errors.js';
import { type JobReference, namespaceOf } from '../../jobs/job-record.js';
import type { ReadView, StorageError } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import { day, hour, type Milliseconds, minute, second } from '../../shared/duration.js';
import { isoFromInstant } from '../../shared/instant.js';
import { messageOf } from '../../shared/values.js';
import { commit } from '../commit.js';
import type { BackgroundLoop, EngineContext } from '../context/engine-context.js';
import { isUnconnected } from '../node-commands/perform-on-node.js';
import { readJobRow } from '../records/jobs/job-rows.js';
import { answerQuery, type MayWait } from '../waiting/blocking-query.js';
import { type Answer, rowsUnder } from '../waiting/parked-queries.js';
import { changeOrDueTime } from '../waiting/until-change.js';
import type { Transaction } from '../write-transaction.js';
import { askNodeOnce } from './ask-node.js';

/** The progress of the restart of a job; times as RFC 3339. */
export interface JobRestartView
  extends Pick<JobRestart, 'namespace' | 'jobId' | 'id' | 'atOnce' | 'total' | 'restarted' | 'failed' | 'failures'> {
  readonly state: 'running' | 'done' | 'failed' | 'cancelled';
  /** Allocations that are being restarted. */
  readonly underWay: readonly string[];
  readonly startedAt: string;
  /** Absent if the host began it. */
  readonly startedBy?: string;
  /** Absent while it is running. */
  readonly endedAt?: string;
}

interface RestartJobInput extends JobReference {
  /** Allocations at a time: 1 to 100, default 1. */
  readonly atOnce?: number;
  /** Milliseconds between two batches: at most an hour, default 0. */
  readonly wait?: Milliseconds;
  /** Starts tasks that have ended again, too. */
  readonly allTasks?: boolean;
  /** Continues when an allocation cannot be restarted; otherwise it ends. */
  readonly continues?: boolean;
}

/**
 * Restarts the running allocations of a job on their nodes, some at a time, whether or not the caller stays. Returns when it has begun. An
 * allocation may be restarted twice if a process is killed meanwhile.
 */
export function restartJob(
  context: EngineContext,
  caller: Principal,
  { jobId, atOnce = 1, wait = 0, allTasks = false, continues = false, ...input }: RestartJobInput,
): ResultAsync<JobRestartView, JobNotFound | InvalidRequest | RestartUnderWay | StorageError> {
  if (!(atOnce >= 1 && atOnce <= 100)) return errAsync(invalidRequest('atOnce', 'atOnce must be between 1 and 100'));
  if (!(wait >= 0 && wait <= hour)) return errAsync(invalidRequest('wait', 'wait must be between 0 and an hour'));
  const namespace = namespaceOf(input);
  return commit<JobRestart, JobNotFound | RestartUnderWay>(context, caller, (tx) => {
    if (readJobRow(tx, namespace, jobId) === undefined) return err(jobNotFound(namespace, jobId));
    const before = tx.get(jobRestarts, [namespace, jobId])?.record;
    if (before !== undefined && before.end === undefined)
      return err({
        type: 'restart_under_way',
        message: `a restart of "${jobId}" is under way: wait for it, or cancel it`,
      });
    const total = running(tx, { namespace, jobId, index: tx.index, after: '' }, Number.POSITIVE_INFINITY).length;
    const chosen = { atOnce, wait, allTasks, continues, total };
    const restart: JobRestart = {
      ...{
        namespace,
        jobId,
        id: tx.ids.next('uuid'),
        index: tx.index,
        ...chosen,
        restarted: 0,
        failed: 0,
        failures: [],
      },
      ...{ after: '', batch: [], notBefore: tx.now, startedAt: tx.now, startedBy: tx.actor ?? null },
    };
    tx.put(jobRestarts, restart);
    return ok(restart);
  }).map(({ value }) => shown(value));
}

/** The last restart of a job, under way or ended; undefined if there is none. */
export function readJobRestart(
  context: EngineContext,
  _caller: Principal,
  { jobId, waiting, ...input }: JobReference & MayWait,
): ResultAsync<Answer<JobRestartView | undefined>, StorageError> {
  const key = [namespaceOf(input), jobId];
  const query = {
    key: JSON.stringify(['job-restart', ...key]),
    tables: [rowsUnder(jobRestarts, key)],
    run: (view: ReadView) => {
      const row = view.get(jobRestarts, key);
      return { index: row?.modifyIndex ?? view.tableIndex(jobRestarts), value: row && shown(row.record) };
    },
  };
  return answerQuery(context, query, waiting);
}

/** Ends a restart: allocations that are being restarted are, and no others. */
export function cancelJobRestart(
  context: EngineContext,
  caller: Principal,
  { jobId, ...input }: JobReference,
): ResultAsync<JobRestartView, JobNotFound | StorageError> {
  const namespace = namespaceOf(input);
  return commit<JobRestart, JobNotFound>(context, caller, (tx) => {
    const restart = tx.get(jobRestarts, [namespace, jobId])?.record;
    if (restart === undefined) return err(jobNotFound(namespace, jobId));
    if (restart.end !== undefined) return ok(restart);
    const cancelled: JobRestart = { ...restart, batch: [], end: { state: 'cancelled', at: tx.now } };
    tx.put(jobRestarts, cancelled);
    return ok(cancelled);
  }).map(({ value }) => shown(value));
}

function shown(restart: JobRestart): JobRestartView {
  const { namespace, jobId, id, atOnce, total, restarted, failed, failures, batch, startedAt, startedBy, end } =
    restart;
  return {
    ...{ namespace, jobId, id, atOnce, total, restarted, failed, failures },
    state: end?.state ?? 'running',
    underWay: batch.map(({ allocationId }) => allocationId),
    startedAt: isoFromInstant(startedAt),
    ...(startedBy !== null && { startedBy }),
    ...(end && { endedAt: isoFromInstant(end.at) }),
  };
}

/** Running allocations of the job after one, in the order of IDs. */
function running(
  view: ReadView,
  { namespace, jobId, index, after }: Pick<JobRestart, 'namespace' | 'jobId' | 'index' | 'after'>,
  most: number,
): readonly Allocation[] {
  const found: Allocation[] = [];
  for (let from = `${after}\u0000`; found.length < most; ) {
    const query = { index: 'by_job', prefix: [namespace, jobId], from: [namespace, jobId, from], limit: readAtOnce };
    const page = view.list(allocations, query).map(({ record }) => record);
    found.push(...page.filter((one) => one.ClientStatus === 'running' && one.CreateIndex < index));
    const last = page.at(-1);
    if (last === undefined || page.length < readAtOnce) break;
    from = `${last.ID}\u0000`;
  }
  return found.slice(0, most);
}

const readAtOnce = 64;
/** Restarts that are taken up at a time, and ended ones that are removed in one write. */
const atATime = 50;

/** Carries out restarts. A batch is taken up in a write, so that of several processes one restarts an allocation. */
export const jobRestartLoop: BackgroundLoop = {
  name: 'job-restarts',
  async run(context, signal) {
    while (!signal.aborted) {
      const seen = await context.storage.read((view) => ({ index: view.index, dueAt: nextDue(view) }));
      if (seen.isErr()) throw new Error(seen.error.message);
      const { dueAt = Number.POSITIVE_INFINITY } = seen.value;
      if (dueAt > context.clock.now()) {
        await changeOrDueTime(context, { tables: [jobRestarts], ...seen.value }, signal);
        continue;
      }
      const taken = await commit<readonly JobRestart[], never>(context, hostPrincipal, (tx) => ok(takeUp(tx)));
      if (taken.isErr()) throw new Error(taken.error.message);
      // A node that does not answer holds up its own restart only.
      for (const restart of taken.value.value) {
        for (const target of restart.batch) {
          carryOut(context, restart, target, signal).catch((thrown: unknown) => {
            context.logger.error({ job: restart.jobId, error: messageOf(thrown) }, 'Restarting an allocation failed');
          });
        }
      }
    }
  },
};

function nextDue(view: ReadView): number | undefined {
  const due = view.list(jobRestarts, { index: 'running', limit: 1 })[0]?.record;
  const over = view.list(jobRestarts, { index: 'ended', limit: 1 })[0]?.record.end;
  const times = [due && dueAt(due), over && over.at + day].filter((at) => at !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}

function dueAt({ notBefore, batch }: JobRestart): number {
  return Math.max(notBefore, ...batch.map(({ until }) => until));
}

/** Restarts with a batch that this process has taken up. Those that ended long ago are removed. */
function takeUp(tx: Transaction): readonly JobRestart[] {
  for (const { record } of tx.list(jobRestarts, { index: 'ended', to: [tx.now - day + 1], limit: atATime }))
    tx.remove(jobRestarts, jobRestarts.key(record));
  const due = tx.list(jobRestarts, { index: 'running', to: [tx.now + 1], limit: atATime });
  return due.flatMap(({ record }) => {
    const next = running(tx, record, record.atOnce).map(({ ID, NodeID }) => ({ allocationId: ID, nodeId: NodeID }));
    const taken = withBatch(record, next, tx.now);
    tx.put(jobRestarts, taken);
    return taken.end === undefined ? [taken] : [];
  });
}

/** A node that is not connected, as after a restart of the server, is waited for this long. */
const reachableWithin = minute;

/** When the write of the result fails, the allocation is taken up again later. */
async function carryOut(
  context: EngineContext,
  { namespace, jobId, id, allTasks }: JobRestart,
  { allocationId, nodeId }: JobRestart['batch'][number],
  signal: AbortSignal,
): Promise<void> {
  const command = { type: 'restart', allocationId, task: null, all: allTasks } as const;
  const ask = () => askNodeOnce<null>(context, { NodeID: nodeId }, command);
  const begun = context.clock.monotonic();
  let done = await ask();
  while (done.isErr() && isUnconnected(done.error) && context.clock.monotonic() - begun < reachableWithin) {
    await context.clock.sleep(second, signal);
    if (signal.aborted) return;
    done = await ask();
  }
  const fault = done.isErr() ? ('message' in done.error ? done.error.message : done.error.type) : undefined;
  const written = await commit<void, never>(context, hostPrincipal, (tx) => {
    const restart = tx.get(jobRestarts, [namespace, jobId])?.record;
    if (restart?.id === id && restart.end === undefined)
      tx.put(jobRestarts, withoutTarget(restart, allocationId, fault, tx.now));
    return ok(undefined);
  });
  if (written.isErr()) context.logger.error({ jobId, error: written.error.message }, 'Noting a restart failed');
}
