import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manualClock } from '../../../../adapters/memory/index.js';
import { NoteKeeper } from '../../../../adapters/runner/disk/note-keeper.js';
import { diskTaskMemory } from '../../../../adapters/runner/disk/task-memory.js';
import { Background } from '../../../../adapters/runner/waiting.js';
import { pendingTask } from '../../../../src/scheduler/allocation.js';

const nothing = (): void => undefined;
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

describe('the folders of tasks on disk', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'signalbox-memory-'));
  });

  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  const record = { state: pendingTask, attempt: 1, endedAttempt: 0, counted: { intervalStart: 0, count: 0 } };

  it('are not made anew by a note that is being written when they are removed', async () => {
    const background = new Background(logger);
    const memory = diskTaskMemory(directory, new NoteKeeper(manualClock(), logger, background));
    const left: string[] = [];
    for (let turn = 0; turn < 100; turn += 1) {
      const id = `allocation-${turn}`;
      await memory.prepare(id, 'main');
      memory.save(id, 'main', { ...record, timeline: '', outcome: null });
      for (let wait = 0; wait < turn % 10; wait += 1) await new Promise((done) => setImmediate(done));
      await memory.forget(id);
      await background.settled();
      if (existsSync(memory.folder(id) ?? '')) left.push(id);
    }
    expect(left).toEqual([]);
  });
});
