import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentPorts, type Engine } from '../../../src/index.js';
import type { Runner, RunnerOptions } from '../../runner/index.js';
import type { NodeOptions } from '../settings/node-settings.js';
import { Stopped } from '../stopped.js';
import type { ServeOptions } from './serve-options.js';

export interface HostRunner {
  stop(deadline: number): Promise<void>;
}

const retryPause = 2000;

/**
 * Starts a runner for this host. With a store that is kept, processes survive a stop of the server and are recovered at the next start;
 * with a store in memory they end with the server. A second server on the same directory serves without a runner until it is free, then takes
 * over the tasks of the first. So does a server whose node has another live agent.
 */
export async function startHostRunner(
  engine: Engine,
  { store, directory: named }: Pick<ServeOptions, 'store' | 'directory'>,
  node: NodeOptions & Required<Pick<RunnerOptions, 'download'>>,
): Promise<HostRunner> {
  const { createRunner, rawExecDriver } = await import('../../runner/index.js');
  const directory = named ?? (await mkdtemp(join(tmpdir(), 'signalbox-')));
  const runner = createRunner(agentPorts(engine), {
    drivers: [rawExecDriver()],
    directory,
    ...node,
    address: new URL(engine.settings.notifications.publicOrigin).host,
    onStop: store.place.type === 'memory' ? 'kill' : 'leave',
  });
  const stopping = new AbortController();
  const started = await tryToStart(engine, runner);
  const standby = started ? Promise.resolve() : standBy(engine, runner, stopping.signal);
  return {
    stop: async (deadline) => {
      stopping.abort();
      await standby;
      await runner.stop({ deadline });
      if (named === null) await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Rejects only if the directory is unusable. */
async function tryToStart(engine: Engine, runner: Runner): Promise<boolean> {
  const started = await runner.start();
  if (started.isOk()) return true;
  const { type, message } = started.error;
  if (type !== 'directory_in_use' && type !== 'node_taken') throw new Stopped(message);
  engine.logger.warn({ node: runner.nodeId }, `${message}; serving without a runner`);
  return false;
}

async function standBy(engine: Engine, runner: Runner, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await engine.clock.sleep(retryPause, signal);
    if (signal.aborted) return;
    const started = await runner.start();
    if (started.isErr()) continue;
    engine.logger.warn({}, 'The runner of this server has started: this server runs tasks now');
    return;
  }
}
