import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Engine } from '../../src/index.js';

export interface HostRunner {
  stop(deadline: number): Promise<void>;
}

/**
 * Starts a runner for this host. With a store in a file the allocations live beside it, and processes survive a stop to
 * be found again; with a store in memory nobody could find them again, so they end with the server.
 */
export async function startHostRunner(engine: Engine, storePath: string | null): Promise<HostRunner> {
  const { createRunner, functionDriver, rawExecDriver } = await import('../runner/index.js');
  const directory =
    storePath === null ? await mkdtemp(join(tmpdir(), 'signalbox-')) : `${resolve(storePath)}-allocations`;
  const runner = createRunner(engine, {
    drivers: [rawExecDriver(), functionDriver({})],
    directory,
    onStop: storePath === null ? 'kill' : 'leave',
  });
  await runner.start();
  return {
    stop: async (deadline) => {
      await runner.stop({ deadline });
      if (storePath === null) await rm(directory, { recursive: true, force: true });
    },
  };
}
