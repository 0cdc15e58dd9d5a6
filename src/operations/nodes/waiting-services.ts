import type { Job } from '../../jobs/document/job.js';
import { jobs } from '../../jobs/job-record.js';
import type { ReadView } from '../../ports/storage.js';
import { type Allocation, allocations } from '../../scheduler/allocation.js';
import type { DrainedAllocation, DrainedJob } from '../../scheduler/nodes/decide-drain.js';
import type { Steps } from '../../scheduler/steps.js';
import { pagesOf } from '../records/pages.js';
import { isSameAllocation, jobKey, type KnownAllocation, knownAllocation } from './known-allocation.js';

interface KnownService {
  /** Undefined when it was purged. */
  job: DrainedJob | undefined;
  /** Index of the last change of its row; undefined when it was purged. */
  modifyIndex: number | undefined;
  /** Live allocations that do not have to leave, by group and ID. */
  readonly groups: Map<string, Map<string, KnownAllocation>>;
}

/** Records read in one step. */
const readInStep = 16;

/** Services with allocations that wait to leave draining nodes, each with its allocations that stay, on any node. */
export class WaitingServices {
  /** By job key. */
  readonly #services = new Map<string, KnownService>();
  /** Index of the last change of any job at the time of the read. */
  #jobsIndex = 0;

  clear(): void {
    this.#services.clear();
    this.#jobsIndex = 0;
  }

  jobOf(allocation: DrainedAllocation): DrainedJob | undefined {
    return this.#services.get(jobKey(allocation))?.job;
  }

  /** The staying allocations of the allocation's group. */
  stayingOf(allocation: DrainedAllocation): Iterable<KnownAllocation> {
    return this.#services.get(jobKey(allocation))?.groups.get(allocation.TaskGroup)?.values() ?? [];
  }

  /** Whether no job has changed since the read. */
  isCurrent(view: ReadView): boolean {
    return view.tableIndex(jobs) === this.#jobsIndex;
  }

  /** Whether the job is unchanged since it was cached. */
  isSame(view: ReadView, allocation: DrainedAllocation): boolean {
    const known = this.#services.get(jobKey(allocation));
    return (
      known !== undefined && view.get(jobs, [allocation.Namespace, allocation.JobID])?.modifyIndex === known.modifyIndex
    );
  }

  isNews(allocation: KnownAllocation): boolean {
    const service = this.#services.get(jobKey(allocation));
    if (service === undefined) return false;
    const before = service.groups.get(allocation.TaskGroup)?.get(allocation.ID);
    return !isSameAllocation(before, allocation.leaves ? undefined : allocation);
  }

  put(allocation: KnownAllocation): void {
    const service = this.#services.get(jobKey(allocation));
    if (service !== undefined) putStaying(service, allocation);
  }

  /**
   * Limits the cache to the wanted services, given by job key with one of their allocations; `onChange` is called when a cached job has
   * changed. Returns whether allocations of new services were read, during which others may have changed.
   */
  *read(view: () => ReadView, wanted: ReadonlyMap<string, DrainedAllocation>, onChange: () => void): Steps<boolean> {
    for (const key of this.#services.keys()) if (!wanted.has(key)) this.#services.delete(key);
    const index = view().tableIndex(jobs);
    const before = this.#services.size;
    let at = 0;
    for (const [key, one] of wanted) {
      at += 1;
      const known = this.#services.get(key);
      if (known === undefined) this.#services.set(key, yield* readService(view, one));
      else if (index !== this.#jobsIndex && readAgain(view(), one, known)) onChange();
      if (at % readInStep === 0) yield;
    }
    this.#jobsIndex = index;
    return this.#services.size > before;
  }
}

function* readService(view: () => ReadView, allocation: DrainedAllocation): Steps<KnownService> {
  const { Namespace, JobID } = allocation;
  const row = view().get(jobs, [Namespace, JobID]);
  const job = row && drainedJob(row.record);
  const read: KnownService = { job, modifyIndex: row?.modifyIndex, groups: new Map() };
  for (const page of pagesOf(view, allocations, openOf(allocation))) {
    for (const one of page) putStaying(read, knownAllocation(one));
    yield;
  }
  return read;
}

/** Re-reads the job; returns whether it has changed. */
function readAgain(view: ReadView, { Namespace, JobID }: DrainedAllocation, known: KnownService): boolean {
  const row = view.get(jobs, [Namespace, JobID]);
  if (row?.modifyIndex === known.modifyIndex) return false;
  known.job = row && drainedJob(row.record);
  known.modifyIndex = row?.modifyIndex;
  return true;
}

function putStaying({ groups }: KnownService, allocation: KnownAllocation): void {
  const { ID, TaskGroup, leaves } = allocation;
  const group = groups.get(TaskGroup);
  if (leaves) group?.delete(ID);
  else if (group === undefined) groups.set(TaskGroup, new Map([[ID, allocation]]));
  else group.set(ID, allocation);
}

function drainedJob({ Stop, TaskGroups }: Job): DrainedJob {
  return { Stop, TaskGroups: TaskGroups.map(({ Name, Count, Migrate }) => ({ Name, Count, Migrate })) };
}

function openOf({ Namespace, JobID }: DrainedAllocation) {
  const prefix = [Namespace, JobID, 'open'];
  const keyOf = ({ ID }: Allocation) => [...prefix, ID] as const;
  return { index: 'current_by_job', prefix, size: readInStep, keyOf };
}
