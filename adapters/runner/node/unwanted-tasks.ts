import type { TaskRecord } from '../../../src/agent/task/task-life.js';
import type { Clock } from '../../../src/ports/clock.js';
import type { Logger } from '../../../src/ports/logger.js';
import type { KnownTasks, TaskMemory } from '../disk/task-memory.js';
import { messageOf } from '../disk/text-file.js';
import type { RunningTask, TaskDriver, TaskStart } from '../drivers/task-driver.js';
import { insist, within } from '../waiting.js';

export interface Premises {
  readonly memory: TaskMemory;
  readonly drivers: ReadonlyMap<string, TaskDriver>;
  readonly logger: Logger;
  readonly clock: Clock;
}

/**
 * Ends processes of allocations that the server no longer wants here: it considered the node dead, or the job was
 * purged while this runner was away. Returns the IDs of the ended allocations.
 */
export async function endUnwanted(
  premises: Premises,
  wanted: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<string[]> {
  const { memory, clock } = premises;
  const known = await insist(clock, signal, () => memory.known());
  const unwanted = known.filter(({ allocationId }) => !wanted.has(allocationId));
  for (const { allocationId, tasks } of unwanted) await endTasks(premises, { allocationId, tasks }, signal);
  return unwanted.map(({ allocationId }) => allocationId);
}

/** The same for one allocation, if there are notes of it. */
export async function endLeft(premises: Premises, allocationId: string, signal: AbortSignal): Promise<void> {
  const known = await insist(premises.clock, signal, () => premises.memory.known());
  const left = known.find((each) => each.allocationId === allocationId);
  if (left !== undefined) await endTasks(premises, left, signal);
}

/** Ends the remaining processes of an allocation, found by its notes alone. */
async function endTasks(
  { memory, drivers, logger, clock }: Premises,
  { allocationId, tasks }: KnownTasks,
  signal: AbortSignal,
): Promise<void> {
  for (const task of tasks) {
    const record = await insist(clock, signal, () => memory.load(allocationId, task));
    if (record === undefined || record.outcome !== null || record.attempt === 0) continue;
    const start = startToFind(memory, allocationId, task, record);
    for (const driver of drivers.values()) {
      if (!driver.survives) continue;
      try {
        const outcome = await insist(clock, signal, () => driver.recover(start));
        if (outcome.type === 'running') await destroyed(outcome.task);
      } catch (error) {
        logger.warn(
          { allocation: allocationId, task, error: messageOf(error) },
          'A task of an earlier runner could not be searched for',
        );
      }
    }
    memory.save(allocationId, task, { ...record, outcome: 'killed' });
  }
}

/** Resolves when the task has ended, or cannot be ended. */
async function destroyed(task: RunningTask): Promise<void> {
  await task.destroy();
  await within(destroyTimeout, task.exited);
}

const destroyTimeout = 5000;

function startToFind(memory: TaskMemory, allocationId: string, task: string, { attempt }: TaskRecord): TaskStart {
  return {
    allocationId,
    task,
    attempt,
    config: {},
    environment: {},
    paths: memory.paths(allocationId, task),
    payload: null,
    meta: {},
    logs: { maximumFiles: 1, maximumFileBytes: Number.POSITIVE_INFINITY, disabled: true },
  };
}
