import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { groupUsage } from '../../../../adapters/runner/drivers/task-processes.js';

let busy: ChildProcess | undefined;
afterEach(() => {
  if (busy?.pid !== undefined) process.kill(-busy.pid, 'SIGKILL');
  busy = undefined;
});

it.skipIf(process.platform !== 'linux')(
  'many who ask for the use of processes share one sample, which is answered without a wait',
  async () => {
    busy = spawn('/bin/sh', ['-c', 'sleep 600 & echo up; while :; do :; done'], { detached: true });
    await once(busy.stdout as NodeJS.ReadableStream, 'data');
    const { pid = 0 } = busy;
    // Linux counts in hundredths of a second: the loop must have used one.
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[13]).not.toBe('0');
    // Sampling may have begun with another file of this worker: a sample may be older than the second process.
    await expect.poll(async () => (await groupUsage(pid)).processes.length).toBe(2);
    await expect.poll(async () => (await groupUsage(pid)).userPercent).toBeGreaterThan(0);
    const [first, ...others] = await Promise.all(Array.from({ length: 20 }, () => groupUsage(pid)));
    expect(first?.processes).toHaveLength(2);
    expect(first?.userPercent).toBeGreaterThan(0);
    expect(others).toEqual(Array(19).fill(first));

    // A sample of the next second may come between the two.
    await expect
      .poll(async () => {
        const began = performance.now();
        const [before, after] = [await groupUsage(pid), await groupUsage(pid)];
        return isDeepStrictEqual(after, before) && performance.now() - began < 100;
      })
      .toBe(true);

    // The next sample comes by the second: then the share is that of the last second, in which the processes continued.
    await expect.poll(async () => (await groupUsage(pid)).userPercent !== first?.userPercent).toBe(true);
    expect((await groupUsage(pid)).processes).toHaveLength(2);

    // One that began after the latest sample is measured all the same.
    const late = spawn('/bin/sh', ['-c', 'echo up; sleep 600'], { detached: true });
    await once(late.stdout, 'data');
    const used = await Promise.all([groupUsage(late.pid ?? 0), groupUsage(late.pid ?? 0)]);
    process.kill(-(late.pid ?? 0), 'SIGKILL');
    expect(used.map(({ residentBytes }) => residentBytes > 0)).toEqual([true, true]);
  },
);
