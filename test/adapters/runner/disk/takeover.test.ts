import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { manualClock } from '../../../../adapters/memory/index.js';
import type { AllocationWork } from '../../../../adapters/runner/allocation/allocation-work.js';
import { DiskHandover } from '../../../../adapters/runner/disk/disk-handover.js';
import { DiskNotes, NoteKeeper } from '../../../../adapters/runner/disk/note-keeper.js';
import { diskTaskMemory, type TaskMemory } from '../../../../adapters/runner/disk/task-memory.js';
import { FinishedAllocations } from '../../../../adapters/runner/node/finished-allocations.js';
import { previousAllocations } from '../../../../adapters/runner/node/node-allocations.js';
import { Background } from '../../../../adapters/runner/waiting.js';
import type { Allocation } from '../../../../src/scheduler/allocation.js';
import { groupDocument, jobFrom } from '../../../support/jobs.js';
import { settled } from '../../../support/settled.js';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

const nothing = (): void => undefined;
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** A node of which this test says which allocations run. */
function node({
  keep = 50,
  directory = mkdtempSync(join(tmpdir(), 'signalbox-takeover-')),
  beforePrepare = (): Promise<void> => Promise.resolve(),
} = {}) {
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }));
  const clock = manualClock();
  const background = new Background(logger);
  const onDisk = diskTaskMemory(directory, new NoteKeeper(clock, logger, background));
  const prepare: TaskMemory['prepare'] = (...named) => beforePrepare().then(() => onDisk.prepare(...named));
  const memory: TaskMemory = { ...onDisk, prepare };
  const disks = new DiskHandover(new DiskNotes(directory), memory);
  const finished = new FinishedAllocations({
    memory,
    disks,
    background,
    clock,
    keep: { newest: keep, failedFor: 0, failedRuns: 0 },
  });
  const actors = new Map<string, { isDone: boolean }>();
  const premises = { memory, drivers: new Map(), logger, clock };
  disks.previousAllocations = previousAllocations(premises, { actors, untaken: new Map(), finished });
  const shared = (id: string): string => join(directory, 'allocations', id, 'alloc', 'data');
  return {
    directory,
    disks,
    memory,
    finished,
    actors,
    settled: () => background.settled(),
    shared,
    /** An allocation that has ended and has data. */
    ended(id: string) {
      disks.claim(work(id), false);
      mkdirSync(shared(id), { recursive: true });
      writeFileSync(join(shared(id), 'of'), id);
      finished.add(id);
    },
  };
}

function work(ID: string, PreviousAllocation?: string): AllocationWork {
  const job = jobFrom({ TaskGroups: [groupDocument({ EphemeralDisk: { SizeMB: 10, Sticky: true } })] });
  const [group] = job.TaskGroups;
  if (group === undefined) throw new Error('no group');
  const allocation = { ID, ...(PreviousAllocation === undefined ? {} : { PreviousAllocation }) } as Allocation;
  return { allocation, job, group };
}

const never = new AbortController().signal;

it('of two allocations that replace one, only the first gets its disk', async () => {
  const { disks, ended, shared } = node();
  ended('a');
  const replacements = [work('b', 'a'), work('c', 'a')];
  for (const each of replacements) disks.claim(each, false);
  const notes = await Promise.all(replacements.map((each) => disks.settle(each, never)));
  expect(notes.map((note) => note?.said)).toEqual([
    'The ephemeral disk of allocation a was taken over',
    'The ephemeral disk is empty: allocation a has left no data on this node',
  ]);
  expect([readdirSync(shared('b')), readdirSync(shared('c'))]).toEqual([['of'], []]);
});

it('passes over folders that a takeover had made before it was cut short', async () => {
  const { disks, ended, finished, memory, shared } = node();
  ended('a');
  disks.claim(work('b', 'a'), false);
  await memory.prepare('b', 'main');
  finished.add('b');
  disks.claim(work('c', 'b'), false);
  expect((await disks.settle(work('c', 'b'), never))?.said).toBe('The ephemeral disk of allocation b was taken over');
  expect(readFileSync(join(shared('c'), 'of'), 'utf8')).toBe('a');
});

it('an allocation that ends while it waits takes nothing', async () => {
  const { disks, ended, shared, actors } = node();
  ended('a');
  actors.set('a', { isDone: false });
  const over = new AbortController();
  const waiting = work('b', 'a');
  disks.claim(waiting, false);
  const settling = disks.settle(waiting, over.signal);
  over.abort();
  actors.set('a', { isDone: true });
  disks.changed();
  expect((await settling)?.settled).toBe(false);
  expect(existsSync(join(shared('a'), 'of'))).toBe(true);
});

it('a folder that is claimed is neither removed nor collected, and is removed when its disk has gone on', async () => {
  const { disks, ended, finished, memory, settled } = node({ keep: 0 });
  ended('a');
  disks.claim(work('b', 'a'), false);
  expect(await finished.collect('a')).toBe(false);
  expect(await finished.collect(null)).toBe(false);
  await disks.settle(work('b', 'a'), never);
  await settled();
  expect([memory.has('a'), memory.has('b')]).toEqual([false, true]);
});

it('a folder that is being removed has no data any more', async () => {
  const { disks, ended, finished, shared } = node();
  ended('a');
  const removal = finished.collect('a');
  disks.claim(work('b', 'a'), false);
  const note = await disks.settle(work('b', 'a'), never);
  expect(await removal).toBe(true);
  expect(note?.said).toContain('The ephemeral disk is empty');
  expect(readdirSync(shared('b'))).toEqual([]);
});

it('a folder that is removed during its takeover is not made anew by it', async () => {
  let [begun, goOn] = [(): void => undefined, (): void => undefined];
  const isUnderWay = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const mayGoOn = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const beforePrepare = (): Promise<void> => {
    begun();
    return mayGoOn;
  };
  const { directory, disks, ended, finished, memory } = node({ beforePrepare });
  ended('a');
  disks.claim(work('b', 'a'), false);
  const over = new AbortController();
  const settling = disks.settle(work('b', 'a'), over.signal);
  await isUnderWay;
  over.abort();
  finished.add('b');
  const removal = finished.collect('b');
  // Enough for a removal that waits for nothing.
  await settled();
  goOn();
  expect(await removal).toBe(true);
  expect(await settling).toBe(undefined);
  expect([memory.has('b'), readdirSync(join(directory, 'disks'))]).toEqual([false, ['a.json']]);
});

it('folders that are not to be kept go together, also when one was to get the disk of the other and never did', async () => {
  for (const order of [
    ['a', 'b'],
    ['b', 'a'],
  ]) {
    const { disks, ended, finished, memory, settled: removed } = node();
    ended('a');
    disks.claim(work('b', 'a'), false);
    await memory.prepare('b', 'main');
    finished.add('b');
    finished.forget(order);
    await removed();
    expect([memory.has('a'), memory.has('b'), finished.ids]).toEqual([false, false, []]);
  }
});

it('all folders are collected at once, also when one was to get the disk of the other and never did', async () => {
  const { disks, ended, finished, memory } = node();
  ended('a');
  disks.claim(work('b', 'a'), false);
  await memory.prepare('b', 'main');
  finished.add('b');
  expect(await finished.collect(null)).toBe(true);
  expect([memory.has('a'), memory.has('b'), finished.ids]).toEqual([false, false, []]);
});

it('a folder that nobody is to keep goes when its disk has gone on', async () => {
  const { disks, ended, finished, memory, settled: removed } = node();
  ended('a');
  disks.claim(work('b', 'a'), false);
  finished.forget(['a']);
  await removed();
  expect(memory.has('a')).toBe(true);
  await disks.settle(work('b', 'a'), never);
  await removed();
  expect([memory.has('a'), memory.has('b')]).toEqual([false, true]);
});

it('an allocation that ends twice is kept once', () => {
  const { ended, finished } = node();
  ended('a');
  ended('b');
  finished.add('a');
  expect(finished.ids).toEqual(['b', 'a']);
});

it('50 folders with data are kept besides those for logs, the newest ones', async () => {
  const { ended, memory, settled } = node({ keep: 0 });
  const ids = Array.from({ length: 52 }, (_, at) => `a${at}`);
  for (const id of ids) ended(id);
  await settled();
  expect(ids.filter((id) => !memory.has(id))).toEqual(['a0', 'a1']);
});

it('what a killed runner left half written or half removed is cleared away', async () => {
  const { directory, ended, disks } = node();
  ended('a');
  disks.claim(work('b', 'a'), false);
  for (const file of ['b.json.new', 'c.json', 'd.json']) writeFileSync(join(directory, 'disks', file), '');
  writeFileSync(join(directory, 'disks', 'd.json'), JSON.stringify({ allocation: 'e', settled: true }));
  mkdirSync(join(directory, 'removed', 'x', 'alloc'), { recursive: true });
  const again = node({ directory });
  await again.memory.finishRemovals();
  expect(readdirSync(join(directory, 'removed'))).toEqual([]);
  expect(readdirSync(join(directory, 'disks')).sort()).toEqual(['a.json', 'b.json']);
  expect(readFileSync(join(again.shared('a'), 'of'), 'utf8')).toBe('a');
  expect((await again.disks.settle(work('b', 'a'), never))?.said).toContain('was taken over');
});
