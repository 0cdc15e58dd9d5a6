import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { type ManualClock, manualClock, memoryStorage, recordingDelivery } from '../../../../adapters/memory/index.js';
import { randomIds } from '../../../../adapters/node/index.js';
import {
  createRunner,
  functionDriver,
  type RunnerOptions,
  type TaskFunction,
} from '../../../../adapters/runner/index.js';
import { type AgentPorts, agentPorts, createEngine, type Engine } from '../../../../src/index.js';
import { type Allocation, allocations } from '../../../../src/scheduler/allocation.js';
import { second } from '../../../../src/shared/duration.js';
import { patience } from '../../../support/patience.js';
import { settled } from '../../../support/settled.js';

/** An engine and a runner with real folders on one virtual clock. */
export interface VirtualRunner {
  readonly engine: Engine;
  readonly clock: ManualClock;
  /** The runner's folder. */
  readonly directory: string;
  allocations(): Promise<readonly Allocation[]>;
  /** Lets time pass a little at a time until the allocations are so. Gives the time that passed. */
  until(holds: (all: readonly Allocation[]) => boolean): Promise<number>;
}

interface VirtualRunnerOptions {
  /** The function `wait` of the function driver. */
  readonly wait: TaskFunction;
  /** The ports of the runner, made of those that the engine gives. */
  readonly ports?: (ports: AgentPorts) => AgentPorts;
  /** Further options of the runner. */
  readonly options?: Partial<RunnerOptions>;
}

const cleanups: (() => Promise<void>)[] = [];

/** Done after the test, the last one first. */
export function afterwards(cleanup: () => Promise<void>): void {
  cleanups.push(cleanup);
}

/** To be called once in a file: ends what the tests have started. */
export function endVirtualRunners(): void {
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
}

export async function virtualRunner({
  wait,
  ports = (given) => given,
  options = {},
}: VirtualRunnerOptions): Promise<VirtualRunner> {
  const directory = mkdtempSync(join(tmpdir(), 'signalbox-virtual-'));
  const clock = manualClock();
  const engine = createEngine({ storage: memoryStorage(), clock, ids: randomIds(), delivery: recordingDelivery() });
  engine.start();
  const drivers = [functionDriver({ wait })];
  const runner = createRunner(ports(agentPorts(engine)), { drivers, onStop: 'kill', ...options, directory });
  const starting = runner.start();
  await clock.advance(second);
  (await starting)._unsafeUnwrap();
  afterwards(async () => {
    const stopped = runner.stop({ deadline: 0 });
    await clock.advance(60 * second);
    await stopped;
    await engine.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  const present = async (): Promise<readonly Allocation[]> =>
    (await engine.storage.read((view) => view.list(allocations).map(({ record }) => record)))._unsafeUnwrap();
  return { engine, clock, directory, allocations: present, until: (holds) => passing(clock, present, holds) };
}

async function passing(
  clock: ManualClock,
  present: VirtualRunner['allocations'],
  holds: (all: readonly Allocation[]) => boolean,
): Promise<number> {
  const limit = performance.now() + patience;
  for (let passed = 0; ; passed += second / 10) {
    await settled();
    const all = await present();
    if (holds(all)) return passed;
    if (performance.now() > limit)
      throw new Error(JSON.stringify(all.map(({ ClientStatus, TaskStates }) => [ClientStatus, TaskStates])));
    await clock.advance(second / 10);
  }
}
