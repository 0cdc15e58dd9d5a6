import { ok, type Result, ResultAsync } from 'neverthrow';
import { jobSummaries } from '../../../jobs/status/job-summary-record.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import { type Allocation, allocations, isTerminalAllocation } from '../../../scheduler/allocation.js';
import type { Steps } from '../../../scheduler/steps.js';
import type { EngineContext } from '../../context/engine-context.js';
import { steppedWork, stepsInTurns } from '../../context/steps-in-turns.js';
import { pagesOf } from '../../records/pages.js';

/** The members of an allocation that callers use. */
export type LiveAllocation = Pick<
  Allocation,
  'TaskGroup' | 'ClientStatus' | 'DeploymentStatus' | 'JobCreateIndex' | 'ModifyIndex'
>;

/** The live allocations of a job in a view. */
export type LiveIn = (view: ReadView) => readonly LiveAllocation[];

interface WhoseLive {
  readonly namespace: string;
  readonly jobId: string;
}

/** The maximum number of live allocations read at once. */
const readAtOnce = 64;
/** Allocations examined in one step of a longer read. */
const readInStep = 16;

/**
 * The live allocations of a job, for queries that are rerun after each change. For a large job they are read in steps, between which the event
 * loop runs; later reads only apply the changes since.
 */
export function liveAllocations(context: EngineContext, whose: WhoseLive): ResultAsync<LiveIn, StorageError> {
  return context.storage
    .read((view) => isLarge(view, whose))
    .andThen((large) =>
      large ? new ResultAsync(known(context, whose)) : ok((view: ReadView) => allLive(view, whose)),
    );
}

function isLarge(view: ReadView, { namespace, jobId }: WhoseLive): boolean {
  const groups = Object.values(view.get(jobSummaries, [namespace, jobId])?.record.Summary ?? {});
  return groups.reduce((sum, { Running, Starting, Unknown }) => sum + Running + Starting + Unknown, 0) > readAtOnce;
}

function allLive(view: ReadView, { namespace, jobId }: WhoseLive): readonly LiveAllocation[] {
  return view.list(allocations, { index: 'live_by_job', prefix: [namespace, jobId] }).map(({ record }) => record);
}

async function known(context: EngineContext, whose: WhoseLive): Promise<Result<LiveIn, StorageError>> {
  const work = steppedWork((view) => readInSteps(view, whose));
  const read = await stepsInTurns(context, work, new AbortController().signal);
  return read.map((found) => {
    if (found === undefined) throw new Error('the steps of reading the allocations have no result');
    return (view) => upToDate(view, found, whose);
  });
}

/** The live allocations as of the write `seen`. */
interface Known {
  readonly live: Map<string, LiveAllocation>;
  seen: number;
}

function* readInSteps(view: () => ReadView, { namespace, jobId }: WhoseLive): Steps<Known> {
  const known: Known = { live: new Map(), seen: view().index };
  const prefix = [namespace, jobId, 'open'];
  const keyOf = ({ ID }: Allocation): readonly [string, string, string, string] => [namespace, jobId, 'open', ID];
  for (const page of pagesOf(view, allocations, { index: 'current_by_job', prefix, size: readInStep, keyOf })) {
    for (const record of page) note(known, record);
    yield;
  }
  return known;
}

/** Applies the changes since the cached state; a view older than the cache is read completely. */
function upToDate(view: ReadView, known: Known, whose: WhoseLive): readonly LiveAllocation[] {
  if (view.index < known.seen) return allLive(view, whose);
  const changed = view.list(allocations, { index: 'by_modify', from: [known.seen + 1] });
  for (const { record } of changed) {
    if (record.Namespace === whose.namespace && record.JobID === whose.jobId) note(known, record);
  }
  known.seen = view.index;
  return [...known.live.values()];
}

function note({ live }: Known, record: Allocation): void {
  const { ID, TaskGroup, ClientStatus, DeploymentStatus, JobCreateIndex, ModifyIndex } = record;
  if (isTerminalAllocation(record)) live.delete(ID);
  else live.set(ID, { TaskGroup, ClientStatus, DeploymentStatus, JobCreateIndex, ModifyIndex } as LiveAllocation);
}
