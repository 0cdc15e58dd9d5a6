import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { manualClock } from '../../../../adapters/memory/index.js';
import { NoteKeeper } from '../../../../adapters/runner/disk/note-keeper.js';
import { diskTaskMemory } from '../../../../adapters/runner/disk/task-memory.js';
import { FinishedAllocations, type KeptFinished } from '../../../../adapters/runner/node/finished-allocations.js';
import { Background } from '../../../../adapters/runner/waiting.js';
import { day, hour } from '../../../../src/shared/duration.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const quiet = (): void => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };

function node(keep: Partial<KeptFinished> = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-kept-'));
  const clock = manualClock();
  const background = new Background(logger);
  cleanups.push(async () => {
    // Folders are removed in the background, also those that the last lines of a test have asked for.
    await background.settled();
    rmSync(directory, { recursive: true, force: true });
  });
  const memory = diskTaskMemory(directory, new NoteKeeper(clock, logger, background));
  const options = {
    memory,
    disks: null,
    background,
    clock,
    keep: { newest: 50, failedFor: day, failedRuns: 200, ...keep },
  };
  const finished = new FinishedAllocations(options);
  let number = 0;
  return {
    clock,
    finished,
    /** Ends so many runs of a job; gives the ID of the last one. */
    end(job: string, failed = false, times = 1): string {
      for (let run = 0; run < times; run++) {
        number += 1;
        mkdirSync(join(directory, 'allocations', `a${number}`, 'main', 'private'), { recursive: true });
        finished.add(`a${number}`, { job, failed, at: clock.now() });
      }
      return `a${number}`;
    },
    settled: () => background.settled(),
    /** As the next agent on the same folder sees it. */
    again: () => new FinishedAllocations(options),
  };
}

describe('the folder of a run that failed', () => {
  it('stays for a day, whatever other jobs do', async () => {
    const { finished, end, clock, settled } = node();
    const failed = end('a nightly', true);
    end('a busy', false, 300);
    await settled();
    expect(finished.has(failed)).toBe(true);
    expect(finished.ids).toHaveLength(51);
    await clock.advance(23 * hour);
    end('a busy', false, 60);
    expect(finished.has(failed)).toBe(true);
    await clock.advance(2 * hour);
    end('a busy');
    expect(finished.has(failed)).toBe(false);
  });

  it('stays until there were 200 later runs of its job', () => {
    const { finished, end } = node();
    const failed = end('a often', true);
    end('a often', false, 199);
    expect(finished.has(failed)).toBe(true);
    end('a often');
    expect(finished.has(failed)).toBe(false);
  });

  it('stays, one beside the other, when each run fails', () => {
    const { finished, end } = node({ newest: 5, failedRuns: 20 });
    end('a broken', true, 100);
    expect(finished.ids).toHaveLength(20);
    const { finished: none, end: endOther } = node({ newest: 5, failedFor: 0 });
    endOther('a broken', true, 100);
    expect(none.ids).toHaveLength(5);
  });

  it('is known to the next agent', async () => {
    const { end, settled, again } = node({ newest: 1 });
    const failed = end('a nightly', true);
    const good = end('a busy');
    await settled();
    const next = again();
    for (const id of [failed, good]) next.add(id);
    next.add('other', { job: 'a busy', failed: false, at: 0 });
    expect(next.ids).toEqual([failed, 'other']);
  });

  it('goes when the server does not know it any more', async () => {
    const { finished, end, settled } = node();
    const failed = end('a nightly', true);
    finished.forget([failed]);
    await settled();
    expect(finished.has(failed)).toBe(false);
  });
});
