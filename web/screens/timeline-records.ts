import { err, ok, okAsync, Result, ResultAsync } from 'neverthrow';
import { useEffect, useRef } from 'preact/hooks';
import { instantFromUnixNanos } from '../../src/shared/instant.js';
import { box, type Failure, messageOf, type ValueOf } from '../app/engine.js';
import { type Reading, useRead, useRefresh } from '../app/read.js';
import { rights } from '../app/rights.js';
import { type EventRecord, filterString, type JobRecords } from '../rules/timeline.js';

/* What timelines are made of, read by the calls of the interface. Each part is bounded; what is left out is said. */

const mostRuns = 50;
const mostAllocations = 100;
const mostEvaluations = 100;
interface Bounds {
  readonly mostEvents: number;
  readonly mostWorkspaces: number;
}

/** Events of a job may be in any workspace: so many are asked. */
export const usualMost: Bounds = { mostEvents: 20, mostWorkspaces: 20 };

type Job = NonNullable<ValueOf<typeof box.jobs.read>>;

export interface JobPart {
  readonly records: JobRecords;
  /** The versions of the job that are kept, newest first. */
  readonly jobs: readonly Job[];
  /** What is left out, as sentences. */
  readonly cuts: readonly string[];
  /** Changes with what notifications may follow. */
  readonly stamp: string;
  /** Whether it only launches instances. */
  readonly isParent: boolean;
}

type Read<T> = ResultAsync<T, Failure>;

/** A job, or the job of an instance; undefined when neither it nor a run of it is kept. `all` has all runs that are kept. */
export function readJobPart(
  namespace: string,
  id: string,
  { signal, all = false }: { readonly signal: AbortSignal; readonly all?: boolean },
): Read<JobPart | undefined> {
  const read = async (): Promise<Result<JobPart | undefined, Failure>> => {
    const where = { namespace, signal };
    const [found, ended] = await Promise.all([
      box.jobs.read(id, where),
      box.jobs.runs({ ...where, jobId: id, perPage: all ? 1000 : mostRuns }),
    ]);
    if (found.isErr()) return err(found.error);
    if (ended.isErr()) return err(ended.error);
    const job = found.value.value;
    const { items: runs, nextToken } = ended.value.value;
    const cutRuns = nextToken === '' ? [] : [`Of the runs the newest ${runs.length} are listed.`];
    const empty = { versions: [], evaluations: [], allocations: [], deployments: [], instances: [] };
    if (job === undefined) {
      if (runs.length === 0) return ok(undefined);
      const records = { ...empty, namespace, id, exists: false, runs };
      return ok({ records, jobs: [], cuts: cutRuns, stamp: '', isParent: runs.some((run) => run.jobId !== id) });
    }
    const isParent = job.Periodic != null || (job.ParameterizedJob != null && !job.Dispatched);
    const parts = isParent ? await readParent(id, where) : await readWork(id, job.Type, where);
    if (parts.isErr()) return err(parts.error);
    // An instance has one version, which is that of its parent.
    const versions = await (job.ParentID === ''
      ? box.jobs.versions(id, where).map(({ value }) => value?.versions ?? [])
      : okAsync<readonly Job[], Failure>([job]));
    if (versions.isErr()) return err(versions.error);
    const { cuts, ...work } = parts.value;
    const records = { ...empty, namespace, id, exists: true, versions: versions.value, runs, ...work };
    const changed = [job.ModifyIndex, ...(work.allocations ?? []).map(({ ModifyIndex }) => ModifyIndex)];
    return ok({
      records,
      jobs: versions.value,
      cuts: [...cutRuns, ...cuts],
      stamp: String(Math.max(...changed)),
      isParent,
    });
  };
  return new ResultAsync(read());
}

interface Where {
  readonly namespace: string;
  readonly signal: AbortSignal;
}

type AllocationEntries = ValueOf<typeof box.jobs.allocations>;

interface Work extends Partial<Pick<JobRecords, 'evaluations' | 'deployments' | 'instances'>> {
  readonly allocations?: AllocationEntries;
  readonly cuts: readonly string[];
}

async function readWork(id: string, type: string, where: Where): Promise<Result<Work, Failure>> {
  const [allocations, evaluations, deployments] = await Promise.all([
    box.jobs.allocations(id, where),
    box.jobs.evaluations(id, where),
    type === 'service'
      ? box.jobs.deployments(id, where).map(({ value }) => value)
      : okAsync<ValueOf<typeof box.jobs.deployments>, Failure>([]),
  ]);
  if (allocations.isErr()) return err(allocations.error);
  if (evaluations.isErr()) return err(evaluations.error);
  if (deployments.isErr()) return err(deployments.error);
  const newest = <T extends { readonly CreateIndex: number }>(all: readonly T[], most: number): readonly T[] =>
    [...all].sort((a, b) => a.CreateIndex - b.CreateIndex).slice(-most);
  const cut = (all: readonly unknown[], most: number, what: string): readonly string[] =>
    all.length > most ? [`Of ${all.length.toLocaleString('en')} ${what} the newest ${most} are listed.`] : [];
  return ok({
    allocations: newest(allocations.value.value, mostAllocations),
    evaluations: newest(evaluations.value.value, mostEvaluations),
    deployments: deployments.value,
    cuts: [
      ...cut(allocations.value.value, mostAllocations, 'allocations'),
      ...cut(evaluations.value.value, mostEvaluations, 'evaluations'),
    ],
  });
}

async function readParent(id: string, where: Where): Promise<Result<Work, Failure>> {
  const filter = `ParentID == ${filterString(id)} and Status != "dead"`;
  const found = await box.jobs.list({ ...where, perPage: mostRuns, sort: '-changed', filter });
  if (found.isErr()) return err(found.error);
  const { items, nextToken } = found.value.value;
  return ok({
    instances: items,
    cuts: nextToken === '' ? [] : [`Of the instances under way ${items.length} are listed.`],
  });
}

/** When events of the job, or of one run of it, were accepted. */
function spanOf(
  { versions, runs }: JobRecords,
  number: number | undefined,
): { readonly since?: number; readonly until?: number } {
  const run = runs.find((each) => each.number === number);
  if (run !== undefined) return { since: Date.parse(run.createdAt), until: Date.parse(run.endedAt) + 1 };
  const begun = [
    ...versions.map(({ SubmitTime }) => instantFromUnixNanos(SubmitTime)),
    ...runs.map(({ createdAt }) => Date.parse(createdAt)),
  ];
  return begun.length === 0 ? {} : { since: Math.min(...begun) };
}

/** Which notifications are wanted. */
interface Wanted {
  readonly namespace: string;
  readonly id: string;
  /** Milliseconds; of the acceptance of the event, from and before. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** The only one to ask. */
  readonly workspace?: string | undefined;
}

interface NotificationPart {
  readonly events: readonly EventRecord[];
  readonly cuts: readonly string[];
  /** Whether a delivery is unfinished. */
  readonly isPending: boolean;
}

/** The events of a job's runs with their deliveries, oldest first. The call lists them for one workspace: those of the caller are asked in turn. */
function readNotifications(
  { namespace, id, since, until, workspace }: Wanted,
  { signal, mostEvents, mostWorkspaces }: { readonly signal: AbortSignal } & Bounds,
): Read<NotificationPart> {
  const read = async (): Promise<Result<NotificationPart, Failure>> => {
    const held = rights.value?.workspaces ?? {};
    const readable = Object.keys(held).filter((each) => held[each]?.right !== 'events');
    const asked = workspace === undefined ? readable.slice(0, mostWorkspaces) : [workspace];
    const lists = await Promise.all(
      asked.map((each) =>
        box.events.list(each, {
          signal,
          pageSize: mostEvents,
          filter: `run_job.namespace == ${filterString(namespace)} and run_job.id == ${filterString(id)}`,
          ...(since === undefined ? {} : { since }),
          ...(until === undefined ? {} : { until }),
        }),
      ),
    );
    const cuts: string[] = [];
    if (workspace === undefined && (asked.length < readable.length || rights.value?.isCut === true))
      cuts.push(`Notifications were looked for in ${asked.length} workspaces; you may read more of them.`);
    const found: { readonly id: string; readonly createdAt: string }[] = [];
    for (const [at, list] of lists.entries()) {
      // A workspace may have been removed meanwhile.
      if (list.isErr() && list.error.type !== 'not_found') return err(list.error);
      if (list.isErr()) continue;
      const { items, totalCount, counted } = list.value;
      if (totalCount > items.length)
        cuts.push(`Of ${totalCount.toLocaleString('en')} events the newest ${items.length} are listed.`);
      if (!counted) cuts.push(`The workspace ${asked[at]} has too many events: only its newest were examined.`);
      found.push(...items);
    }
    const newest = found.sort((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt)).slice(-mostEvents);
    if (newest.length < found.length) cuts.push(`Of ${found.length} events the newest ${mostEvents} are listed.`);
    const events = await Promise.all(newest.map((event) => readEvent(event.id, signal)));
    return Result.combine(events.filter((event) => event.isOk() || event.error.type !== 'not_found')).map((kept) => ({
      events: kept,
      cuts,
      isPending: kept.some(({ attempts }) => attempts.some(({ outcome }) => outcome === 'pending')),
    }));
  };
  return new ResultAsync(read());
}

/** An event with its deliveries; of those that are pending what they wait for, which only the delivery itself says. */
export function readEvent(id: string, signal: AbortSignal): Read<ValueOf<typeof box.events.show>> {
  return box.events
    .show(id, { signal })
    .andThen((event) =>
      ResultAsync.combine(
        event.attempts.map((delivery) =>
          delivery.outcome === 'pending' ? box.deliveries.show(delivery.id, { signal }) : okAsync(delivery),
        ),
      ).map((attempts) => ({ ...event, attempts })),
    );
}

/** Why notifications are missing, as a sentence. */
export function missingText(error: { readonly type: string }): string {
  return `The notifications could not be read: ${messageOf(error)}`;
}

interface Notified extends Bounds {
  /** Of the run to which the job is narrowed. */
  readonly number?: number | undefined;
  readonly workspace?: string | undefined;
}

/** What was notified of the runs of a job. It is read again when the job has changed, and while a delivery waits. */
export function useNotifications(
  { records, stamp }: JobPart,
  { number, workspace, mostEvents, mostWorkspaces }: Notified,
): Reading<NotificationPart> {
  const { namespace, id } = records;
  const wanted = { namespace, id, workspace, ...spanOf(records, number) };
  const reading = useRead(`timeline-notifications:${JSON.stringify([wanted, mostEvents])}`, {
    read: ({ signal }) => readNotifications(wanted, { signal, mostEvents, mostWorkspaces }),
  });
  const seen = useRef(stamp);
  useEffect(() => {
    if (seen.current !== stamp) void reading.refresh();
    seen.current = stamp;
  }, [stamp]);
  useRefresh(reading, reading.state.value.value?.isPending === true, 3000);
  return reading;
}
