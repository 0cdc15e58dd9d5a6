import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import { type Allocation, allocations } from '../../../scheduler/allocation.js';
import {
  type AllocationListStub,
  type AllocationStubOptions,
  allocationListStub,
} from '../../../scheduler/allocation-stub.js';
import type { Steps } from '../../../scheduler/steps.js';
import type { Key } from '../../../shared/table.js';
import type { EngineContext } from '../../context/engine-context.js';
import { steppedWork, stepsInTurns } from '../../context/steps-in-turns.js';
import { pagesOf } from '../../records/pages.js';
import type { Answer } from '../../waiting/parked-queries.js';

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
export function stubsOrLong(view: ReadView, { index, prefix, accept, shown }: ListedBelow): Answer<StubsOrLong> {
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
export function wholeList(
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
