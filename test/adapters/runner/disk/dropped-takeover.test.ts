import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { manualClock } from '../../../../adapters/memory/index.js';
import type { AllocationWork } from '../../../../adapters/runner/allocation/allocation-work.js';
import { Background } from '../../../../adapters/runner/background.js';
import { DiskNotes } from '../../../../adapters/runner/disk/disk-notes.js';
import { DiskSuccession } from '../../../../adapters/runner/disk/disk-succession.js';
import { NoteKeeper } from '../../../../adapters/runner/disk/note-keeper.js';
import { diskTaskMemory } from '../../../../adapters/runner/disk/task-memory.js';
import { settled } from '../../../support/settled.js';

const nothing = (): void => undefined;
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'signalbox-takeover-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('a replacement whose folder is removed while it takes a disk over leaves neither a folder nor a note', async () => {
  const keeper = new NoteKeeper(manualClock(), logger, new Background(logger));
  const disk = diskTaskMemory(directory, keeper);
  let goOn = nothing;
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let isAsked = nothing;
  const asked = new Promise<void>((resolve) => {
    isAsked = resolve;
  });
  const prepare: typeof disk.prepare = async (allocationId, task) => {
    isAsked();
    await held;
    return disk.prepare(allocationId, task);
  };
  const notes = new DiskNotes(directory);
  const succession = new DiskSuccession(notes, { ...disk, prepare });
  succession.predecessors = { standing: () => 'absent', clear: () => Promise.resolve(), passedOn: nothing };
  const work = {
    allocation: { ID: 'next', PreviousAllocation: 'first' },
    group: { Tasks: [{ Name: 'main' }], EphemeralDisk: { Sticky: true, Migrate: false, SizeMB: 10 } },
  } as unknown as AllocationWork;
  const over = new AbortController();
  succession.claim(work, false);
  const settling = succession.settle(work, over.signal);
  await asked;
  over.abort();
  const removing = (async () => {
    await succession.forget('next');
    await disk.forget('next');
  })();
  await settled();
  goOn();
  await Promise.all([settling, removing]);
  expect({ note: notes.get('next'), folder: disk.has('next') }).toEqual({ note: undefined, folder: false });
});
