import { err, errAsync, ok, type Result, ResultAsync } from 'neverthrow';
import { allows, everyNamespace } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import { runAllocation, runOfAllocationId, runsOfAllocationPrefix } from '../../../functions/job-projection.js';
import { runs } from '../../../functions/run.js';
import type { Job } from '../../../jobs/document/job.js';
import { type InvalidRequest, malformedId } from '../../../jobs/errors.js';
import { namespaceOf } from '../../../jobs/job-record.js';
import type { ReadView, Row, StorageError } from '../../../ports/storage.js';
import { isUuid } from '../../../queries/page.js';
import { type Allocation, allocations } from '../../../scheduler/allocation.js';
import {
  type AllocationDocument,
  type AllocationListStub,
  type AllocationStubOptions,
  allocationDocument,
  allocationListStub,
  derivedMembers,
  outcomeMember,
} from '../../../scheduler/allocation-views.js';
import type { Steps } from '../../../scheduler/steps.js';
import type { Key } from '../../../shared/table.js';
import type { EngineContext } from '../../context/engine-context.js';
import { steppedWork, stepsInTurns } from '../../context/steps-in-turns.js';
import { answerList, chainedSource, heldSource, type ListAnswer, type ListRequest } from '../../listing/answer-list.js';
import { createdSource } from '../../listing/created-source.js';
import { compileFilter } from '../../listing/filters.js';
import { computedRow, readRunAnywhere, readRunOfJob, watchesOfRun } from '../../records/function-jobs.js';
import { ofPresentRegistration, readAllocationJob } from '../../records/jobs/job-rows.js';
import { pagesOf } from '../../records/pages.js';
import { answerQuery } from '../../waiting/blocking-query.js';
import { type Answer, rowsUnder } from '../../waiting/parked-queries.js';
import {
  type JobQuery,
  type NamespaceQuery,
  queryKey,
  type Read,
  type RecordQuery,
  readOfJob,
  showsOutcomes,
  visibilityOf,
} from './read-query.js';

/** Selects the allocations of `listAllocations` and their members, and whether it waits for a change. */
interface ListAllocationsInput extends NamespaceQuery, ListRequest, AllocationStubOptions {}

/**
 * The allocations of a namespace, or of all that the caller may read. Index: that of the allocations table. Those of runs are listed only for
 * a prefix of at least eight digits.
 */
export function listAllocations(
  context: EngineContext,
  caller: Principal,
  input: ListAllocationsInput,
): ListAnswer<AllocationListStub> {
  const { prefix = '' } = input;
  if (!/^[0-9a-f]{8}/i.test(prefix)) return listAllocationsAnd(context, caller, input, false);
  return context.storage
    .read((view) => ofRuns(view, namespaceOf(input), prefix).length > 0)
    .andThen((withRuns) => listAllocationsAnd(context, caller, input, withRuns));
}

function listAllocationsAnd(
  context: EngineContext,
  caller: Principal,
  input: ListAllocationsInput,
  withRuns: boolean,
): ListAnswer<AllocationListStub> {
  const namespace = namespaceOf(input);
  const { key, sees, rows } = visibilityOf(caller, namespace, ['read-job']);
  const { resources = false, taskStates = true } = input;
  const outcome = showsOutcomes(input);
  return answerList(context, input, {
    key: ['allocations', namespace, key, resources, taskStates, outcome],
    tables: withRuns ? [...rows(allocations), runs] : rows(allocations),
    source: (view: ReadView) => {
      const stored = createdSource(view, allocations, { ...input, namespace, sees });
      if (!withRuns) return stored;
      const computed = ofRuns(view, namespace, input.prefix ?? '').filter(({ record }) => sees(record.Namespace));
      const startsInSecond = runOfAllocationId(input.nextToken ?? '') !== undefined;
      const second = heldSource(computed, startsInSecond ? input : {}, ({ record }) => record.ID);
      const isOfSecond = ({ record }: Row<Allocation>): boolean => runOfAllocationId(record.ID) !== undefined;
      return chainedSource({ first: stored, second: { ...second, accept: isOfSecond }, isOfSecond, startsInSecond });
    },
    filters: compileFilter.allocation,
    filtered: (view, { record }, { members }) => {
      const named = derivedMembers.some((member) => members.has(member)) ? allocationDocument(record) : record;
      return members.has('Job') ? { ...named, Job: readAllocationJob(view, record)?.record ?? null } : named;
    },
    show: (_, { record }) => allocationListStub(record, { resources, taskStates, outcome }),
  });
}

/** The allocations of runs whose IDs begin with the prefix: one, or few. */
function ofRuns(view: ReadView, namespace: string, prefix: string): readonly Row<Allocation>[] {
  return runsOfAllocationPrefix(prefix, view.index)
    .flatMap((number) => allocationOfRun(view, number)?.allocation ?? [])
    .filter(({ record }) => namespace === everyNamespace || record.Namespace === namespace);
}

/** The allocations of one job, by ID; without `all`, only those of the current registration, if there is one. */
export function listJobAllocations(
  context: EngineContext,
  _caller: Principal,
  input: JobQuery & { readonly all?: boolean },
): Read<readonly AllocationListStub[]> {
  const all = input.all === true;
  const namespace = namespaceOf(input);
  const list = {
    index: 'by_job',
    prefix: [namespace, input.jobId],
    holds: ({ Namespace, JobID }: Allocation) => Namespace === namespace && JobID === input.jobId,
    accept: (view: ReadView) => {
      const isOfPresent = ofPresentRegistration(view, namespace, input.jobId, all);
      return (record: Allocation) => isOfPresent({ record });
    },
    shown: { outcome: showsOutcomes(input) },
  } as const;
  const ofRun = (view: ReadView) => {
    const found = readRunOfJob(view, namespace, input.jobId);
    const allocation = found && runAllocation(found.job, found);
    const value = allocation === undefined ? [] : [allocationListStub(allocation, list.shown)];
    return found && { index: found.modifyIndex, value };
  };
  const query = {
    key: ['job-allocations', all, list.shown.outcome],
    tables: [allocations],
    also: watchesOfRun(input.jobId),
    run: (view: ReadView) => ofRun(view) ?? stubsOrLong(view, list),
  };
  const key = queryKey(...query.key, namespace, input.jobId);
  return readOfJob(context, input, query).andThen((answer) => wholeList(context, answer, key, list));
}

/** The allocations that an evaluation created; empty when the evaluation does not exist. */
export function listEvaluationAllocations(
  context: EngineContext,
  caller: Principal,
  input: RecordQuery,
): Read<readonly AllocationListStub[], InvalidRequest> {
  return listAllocationsOf(context, caller, input, 'by_evaluation');
}

/** The allocations of a deployment; empty when the deployment does not exist. */
export function listDeploymentAllocations(
  context: EngineContext,
  caller: Principal,
  input: RecordQuery,
): Read<readonly AllocationListStub[], InvalidRequest> {
  return listAllocationsOf(context, caller, input, 'by_deployment');
}

/** The allocations under an ID in an index, in the namespaces that the caller may read. */
function listAllocationsOf(
  context: EngineContext,
  caller: Principal,
  input: RecordQuery,
  index: 'by_evaluation' | 'by_deployment',
): Read<readonly AllocationListStub[], InvalidRequest> {
  if (!isUuid(input.id)) return errAsync(malformedId());
  const visible = visibilityOf(caller, everyNamespace, ['read-job']);
  const id = input.id.toLowerCase();
  const list = {
    index,
    prefix: [id],
    holds: ({ EvalID, DeploymentID }: Allocation) => (index === 'by_evaluation' ? EvalID : DeploymentID) === id,
    accept: () => (record: Allocation) => visible.sees(record.Namespace),
    shown: { outcome: showsOutcomes(input) },
  };
  const key = () => queryKey('allocations', index, id, visible.key, list.shown.outcome);
  const query = {
    key,
    tables: [rowsUnder(allocations, [id], index)],
    run: (view: ReadView) => stubsOrLong(view, list),
  };
  return answerQuery(context, query, input.waiting).andThen((answer) => wholeList(context, answer, key(), list));
}

/** An allocation with the job version that it runs embedded; null when that version is no longer kept. */
interface AllocationWithJob {
  readonly allocation: Row<Allocation>;
  /** The allocation as the interface shows it. */
  readonly document: AllocationDocument;
  /** The version that the allocation runs; undefined when it is no longer kept. */
  readonly job: Row<Job> | undefined;
}

/** The allocation does not exist or is in a namespace that the caller may not read; the error is the same. */
export interface UnknownAllocation {
  readonly type: 'unknown_allocation';
  readonly message: string;
}

/** One allocation; undefined when there is none. */
export function readAllocation(
  context: EngineContext,
  caller: Principal,
  input: RecordQuery,
): Read<AllocationWithJob | undefined, InvalidRequest | UnknownAllocation> {
  if (!allows(caller, everyNamespace, ['read-job'])) return errAsync(unknownAllocation(input.id));
  if (!isUuid(input.id)) return errAsync(malformedId());
  const ofRun = runOfAllocationId(input.id);
  const outcomes = showsOutcomes(input);
  const query = {
    key: () => queryKey('allocation', input.id, outcomes),
    tables: ofRun === undefined ? [allocations] : [rowsUnder(runs, [ofRun])],
    run: (view: ReadView) => {
      const computed = ofRun === undefined ? undefined : allocationOfRun(view, ofRun, outcomes);
      if (computed !== undefined) return { index: computed.allocation.modifyIndex, value: computed };
      const row = view.get(allocations, [input.id.toLowerCase()]);
      const value =
        row === undefined ? undefined : { ...shownAllocation(row, outcomes), job: readAllocationJob(view, row.record) };
      return { index: row?.modifyIndex ?? view.tableIndex(allocations), value };
    },
  };
  return answerQuery(context, query, input.waiting).andThen((answer) => {
    const found = answer.value?.allocation.record;
    if (found === undefined || allows(caller, found.Namespace, ['read-job'])) return ok(answer);
    return err(unknownAllocation(found.ID));
  });
}

/** The allocation of a run, and its job. */
function allocationOfRun(view: ReadView, number: number, outcomes = true): AllocationWithJob | undefined {
  const found = readRunAnywhere(view, number);
  const allocation = found && runAllocation(found.job, found);
  if (found === undefined || allocation === undefined) return undefined;
  const { modifyIndex } = found;
  const row = computedRow(allocation, modifyIndex);
  return { ...shownAllocation(row, outcomes), job: computedRow(found.job, modifyIndex) };
}

function shownAllocation(row: Row<Allocation>, outcomes: boolean): Omit<AllocationWithJob, 'job'> {
  const document = allocationDocument(row.record);
  return {
    allocation: row,
    document: outcomes ? { ...document, ...outcomeMember(row.record) } : document,
  };
}

function unknownAllocation(id: string): UnknownAllocation {
  return { type: 'unknown_allocation', message: `Unknown allocation "${id.slice(0, 64)}"` };
}

/** Allocations of an index that orders them by ID below `prefix`. */
interface ListedBelow {
  readonly index: 'by_job' | 'by_evaluation' | 'by_deployment';
  readonly prefix: Key;
  /** Whether an allocation is below the prefix. */
  readonly holds: (allocation: Allocation) => boolean;
  /** Selects the allocations of the list. */
  readonly accept: (view: ReadView) => (allocation: Allocation) => boolean;
  readonly shown: AllocationStubOptions;
}

/** The list is too long to be read at once. */
const isLong = Symbol('a long list');
type StubsOrLong = readonly AllocationListStub[] | typeof isLong;

/** The maximum number of allocations of a list that is read at once. */
const readAtOnce = 64;
/** Allocations read in one step of a longer list. */
const readInStep = 16;
/** How often a list applies the changes that were made while it was read. */
const catchesUp = 3;

/** The list, if it is short. */
function stubsOrLong(view: ReadView, { index, prefix, accept, shown }: ListedBelow): Answer<StubsOrLong> {
  const rows = view.list(allocations, { index, prefix, limit: readAtOnce + 1 });
  const accepted = accept(view);
  const value =
    rows.length > readAtOnce
      ? isLong
      : rows.filter(({ record }) => accepted(record)).map(({ record }) => allocationListStub(record, shown));
  return { index: view.tableIndex(allocations), value };
}

/**
 * The list of any length: a long one is read in steps, between which the event loop runs, and then updated with the changes in the meantime. Its
 * index is that of its beginning, so that a blocking query sees every later change (decision 023). Readers with an equal `key` share
 * one result.
 */
function wholeList(
  context: EngineContext,
  { index, value }: Answer<StubsOrLong>,
  key: string,
  list: ListedBelow,
): ResultAsync<Answer<readonly AllocationListStub[]>, StorageError> {
  if (value !== isLong) return new ResultAsync(Promise.resolve(ok({ index, value })));
  const present = underWay.get(context) ?? new Map<string, Reading>();
  underWay.set(context, present);
  const before = present.get(key);
  if (before !== undefined && before.since >= index) return new ResultAsync(before.answer);
  const reading = { since: index, answer: readInTurns(context, list) };
  present.set(key, reading);
  const forget = (): void => {
    if (present.get(key) === reading) present.delete(key);
  };
  void reading.answer.then(forget, forget);
  return new ResultAsync(reading.answer);
}

interface Reading {
  /** The list includes every change up to this index. */
  readonly since: number;
  readonly answer: Promise<Result<Answer<readonly AllocationListStub[]>, StorageError>>;
}

const underWay = new WeakMap<EngineContext, Map<string, Reading>>();
const never = new AbortController().signal;

async function readInTurns(
  context: EngineContext,
  list: ListedBelow,
): Promise<Result<Answer<readonly AllocationListStub[]>, StorageError>> {
  const work = steppedWork((view) => readInSteps(view, list));
  const read = await stepsInTurns(context, work, never);
  if (read.isErr()) return err(read.error);
  if (read.value === undefined) throw new Error('the steps of reading a list have no result');
  return ok(read.value);
}

function* readInSteps(view: () => ReadView, list: ListedBelow): Steps<Answer<readonly AllocationListStub[]>> {
  const { index, prefix, holds, accept, shown } = list;
  const begun = view().tableIndex(allocations);
  let seen = view().index;
  const accepted = accept(view());
  const stubs = new Map<string, AllocationListStub>();
  const keyOf = ({ ID }: Allocation): readonly [...Key, string] => [...prefix, ID];
  for (const page of pagesOf(view, allocations, { index, prefix, size: readInStep, keyOf })) {
    for (const record of page) if (accepted(record)) stubs.set(record.ID, allocationListStub(record, shown));
    yield;
  }
  for (let times = 0; times < catchesUp; times += 1) {
    const changed = view().list(allocations, { index: 'by_modify', from: [seen + 1] });
    seen = view().index;
    for (const { record } of changed) {
      if (holds(record) && accepted(record)) stubs.set(record.ID, allocationListStub(record, shown));
      else stubs.delete(record.ID);
    }
    if (changed.length <= readInStep) break;
    yield;
  }
  const inOrder = [...stubs.values()].sort(({ ID: a }, { ID: b }) => (a < b ? -1 : 1));
  return { index: begun, value: inOrder };
}
