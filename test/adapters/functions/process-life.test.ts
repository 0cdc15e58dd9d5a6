import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { identity, lifeOf } from '../../../adapters/functions/process-life.js';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

const startOf = (pid: number): string => {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] as string;
};

async function child(): Promise<{ readonly process: ChildProcess; readonly identity: string }> {
  const started = spawn('sleep', ['60']);
  children.push(started);
  await once(started, 'spawn');
  const pid = started.pid as number;
  return { process: started, identity: (identity as string).replace(/ \d+ \d+$/, ` ${pid} ${startOf(pid)}`) };
}

test.runIf(identity !== undefined)(
  'a process is alive until it has died, and unknown while it is stopped',
  async () => {
    const own = await child();
    expect(lifeOf(own.identity)).toBe('alive');
    own.process.kill('SIGSTOP');
    await expect.poll(() => lifeOf(own.identity)).toBe('unknown');
    own.process.kill('SIGCONT');
    await expect.poll(() => lifeOf(own.identity)).toBe('alive');
    own.process.kill('SIGKILL');
    await expect.poll(() => lifeOf(own.identity)).toBe('dead');
  },
);

test.runIf(identity !== undefined)('a number that is used again is another process', async () => {
  const own = await child();
  expect(lifeOf(own.identity.replace(/\d+$/, '1'))).toBe('dead');
});

test.each(['', 'elsewhere 1 1', '../../etc/passwd', `${identity} 1`])(
  'what is of another machine is unknown: %s',
  (other) => {
    expect(lifeOf(other)).toBe('unknown');
  },
);
