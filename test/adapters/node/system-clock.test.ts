import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../adapters/node/system-clock.js';
import { clockConformance } from '../../conformance/clock/index.js';

describe('systemClock', () => {
  clockConformance(it, {
    create: systemClock,
    pass: async (_clock, by) => {
      await pause(by);
    },
  });
});

describe('systemClock timers', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it('sleeps across a distance that one timer cannot hold', async () => {
    vi.useFakeTimers();
    const clock = systemClock();
    const distance = 40 * 86_400_000;
    let awake = false;
    void clock.sleepUntil(clock.now() + distance, new AbortController().signal).then(() => {
      awake = true;
    });
    await vi.advanceTimersByTimeAsync(distance - 1);
    expect(awake).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(awake).toBe(true);
  });

  it('notices within a minute that the clock of the host was set forward', async () => {
    vi.useFakeTimers();
    const clock = systemClock();
    let awake = false;
    void clock.sleepUntil(clock.now() + 8 * 3_600_000, new AbortController().signal).then(() => {
      awake = true;
    });
    vi.setSystemTime(Date.now() + 9 * 3_600_000);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(awake).toBe(true);
  });

  it('does not keep a process alive that has nothing else to do', async () => {
    const source = new URL('../../../adapters/node/system-clock.ts', import.meta.url).href;
    const program = `import { systemClock } from ${JSON.stringify(source)};
      const clock = systemClock();
      clock.sleepUntil(clock.now() + 3_600_000, new AbortController().signal);
      console.log('asleep');`;
    const run = promisify(execFile)(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      timeout: 20_000,
    });
    expect((await run).stdout).toBe('asleep\n');
  });
});
