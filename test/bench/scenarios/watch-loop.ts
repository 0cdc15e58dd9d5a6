import { readFileSync } from 'node:fs';

/** The longest turn of the event loop in milliseconds of its thread's processor time, until it ends. */
export function watchLoop(): { end(): Promise<number> } {
  let longest = 0;
  let before = threadTime();
  let ended = false;
  const look = (): void => {
    const now = threadTime();
    longest = Math.max(longest, now - before);
    before = now;
    if (!ended) setImmediate(look);
  };
  setImmediate(look);
  return {
    end: async () => {
      await new Promise(setImmediate);
      ended = true;
      return longest;
    },
  };
}

const cell = new Int32Array(new SharedArrayBuffer(4));
/** Milliseconds of waiting, after which the system's count is exact; else it is as of the last clock tick, up to 4 ms ago. */
const settling = 0.1;

/**
 * Milliseconds that the main thread has been on a processor. Other threads, which collect garbage or copy the log of SQLite, do not
 * keep the event loop from anything. Systems without `/proc` tell only the time of all threads.
 */
function threadTime(): number {
  try {
    Atomics.wait(cell, 0, 0, settling);
    return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}
