import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { recordingDelivery } from '../../../adapters/memory/index.js';
import { randomIds, systemClock } from '../../../adapters/node/index.js';
import { sqliteStorage } from '../../../adapters/sqlite/index.js';
import { createEngine, hostPrincipal } from '../../../src/index.js';
import { registerJob } from '../../../src/operations/jobs/registration/register-job.js';
import { readStoreExport } from '../../../src/operations/store/export/read-store-export.js';
import { commandLine, endAll, signalbox, temporaryFolder } from './cli-process.js';

/** A device that takes nothing, as a file on a full disk. */
const full = '/dev/full';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
  endAll();
});

/** The path of a store whose export is larger than what a pipe holds. */
async function largeStore(): Promise<string> {
  const path = join(temporaryFolder(), 'large.db');
  const storage = (await sqliteStorage(path))._unsafeUnwrap();
  const engine = createEngine({ storage, clock: systemClock(), ids: randomIds(), delivery: recordingDelivery() });
  const task = {
    Name: 't',
    Driver: 'raw_exec',
    Config: { command: '/bin/true', args: Array(30).fill('x'.repeat(10_000)) },
  };
  const job = { ID: 'large', Datacenters: ['*'], TaskGroups: [{ Name: 'g', Tasks: [task] }] };
  (await registerJob(engine, hostPrincipal, { job }))._unsafeUnwrap();
  await storage.close();
  return path;
}

describe('the output of a command', () => {
  it('is written to its end before the process ends, although a pipe has no room for it', async () => {
    const child = signalbox(['export', '--store', `sqlite:${await largeStore()}`]);
    expect((await child.ended).code, child.error()).toBe(0);
    expect(readStoreExport(child.out()).isOk()).toBe(true);
  });

  it.skipIf(!existsSync(full))('is an error in a sentence when it cannot be written', async () => {
    const output = openSync(full, 'w');
    cleanups.push(() => closeSync(output));
    const [program, ...args] = commandLine(['help']);
    const child = spawn(program, args, { stdio: ['ignore', output, 'pipe'] });
    let error = '';
    child.stderr?.on('data', (piece: Buffer) => (error += piece.toString()));
    const [code] = await once(child, 'close');
    expect(error).toBe('signalbox: the output cannot be written: ENOSPC: no space left on device, write\n');
    expect(code).toBe(1);
  });
});

describe('a server', () => {
  it.skipIf(!existsSync(full))('goes on when its log cannot be written', async () => {
    const log = openSync(full, 'w');
    cleanups.push(() => closeSync(log));
    const [program, ...args] = commandLine(['serve', '--listen', '127.0.0.1:0', '--access', 'open', '--no-runner']);
    // It warns of the setting that it does not know.
    const env = { ...process.env, TMPDIR: temporaryFolder(), SIGNALBOX_LISTN: 'x' };
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', log] });
    cleanups.push(() => void child.kill('SIGKILL'));
    const [first] = await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), once(child, 'exit')]);
    const origin = /^listening on (\S+)/.exec(String(first))?.[1];
    expect((await fetch(`${origin}/v1/jobs`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
