import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../adapters/node/system-clock.js';
import { clockConformance } from '../../conformance/clock/index.js';
import { patience } from '../../support/patience.js';

describe('systemClock', () => {
  clockConformance(it, {
    create: systemClock,
    pass: async (_clock, by) => {
      await pause(by);
    },
  });
});

describe('systemClock on a host whose clock is set', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  clockConformance(it, {
    create: systemClock,
    pass: async (_clock, by) => {
      await vi.advanceTimersByTimeAsync(by);
    },
    step: async (_clock, by) => {
      vi.setSystemTime(Date.now() + by);
      await vi.advanceTimersByTimeAsync(1000);
    },
  });

  it('sleeps for a duration that one timer cannot hold', async () => {
    const distance = 40 * 86_400_000;
    let awake = false;
    void systemClock()
      .sleep(distance, new AbortController().signal)
      .then(() => {
        awake = true;
      });
    await vi.advanceTimersByTimeAsync(distance - 1);
    expect(awake).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(awake).toBe(true);
  });

  it('looks at the wall clock only while somebody waits for an instant of it', async () => {
    const clock = systemClock();
    const waiting = new AbortController();
    const slept = clock.sleep(10_000, new AbortController().signal);
    expect(vi.getTimerCount()).toBe(1);
    void clock.sleepUntil(clock.now() + 10_000, waiting.signal);
    void clock.sleepUntil(clock.now() + 20_000, waiting.signal);
    expect(vi.getTimerCount()).toBe(4);
    waiting.abort();
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(10_000);
    await slept;
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('systemClock in a process', () => {
  const source = new URL('../../../adapters/node/system-clock.ts', import.meta.url).href;
  const run = async (program: string): Promise<string> => {
    const started = promisify(execFile)(
      process.execPath,
      [
        '--import',
        'tsx',
        '--input-type=module',
        '-e',
        `import { systemClock } from ${JSON.stringify(source)}; const clock = systemClock(); ${program}`,
      ],
      { timeout: patience },
    );
    return (await started).stdout;
  };

  it('does not keep it alive when it has nothing else to do', async () => {
    const out = await run(`clock.sleepUntil(clock.now() + 3_600_000, new AbortController().signal);
      clock.sleep(3_600_000, new AbortController().signal);
      console.log('asleep');`);
    expect(out).toBe('asleep\n');
  });

  it('reads the monotonic time that other processes of the host read', async () => {
    const clock = systemClock();
    const before = clock.monotonic();
    const [timeline, reading] = (await run('console.log(clock.timeline, clock.monotonic());')).trim().split(' ');
    if (timeline !== clock.timeline) return;
    expect(Number(reading)).toBeGreaterThan(before);
    expect(Number(reading)).toBeLessThan(clock.monotonic());
  });
});
