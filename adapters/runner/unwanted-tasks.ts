import type { TaskDriver, TaskStart } from './task-driver.js';
import type { TaskMemory } from './task-memory.js';

/**
 * Ends processes of allocations that the engine does not want here any more: it took the node for dead, or the job was
 * purged while this runner was away. Gives the allocations that are over.
 */
export async function endUnwanted(
  memory: TaskMemory,
  drivers: ReadonlyMap<string, TaskDriver>,
  wanted: ReadonlySet<string>,
): Promise<string[]> {
  const unwanted: string[] = [];
  for (const { allocationId, tasks } of memory.known()) {
    if (wanted.has(allocationId)) continue;
    unwanted.push(allocationId);
    for (const task of tasks) {
      const record = memory.load(allocationId, task);
      if (record === undefined || record.outcome !== null || record.attempt === 0) continue;
      const start = startToFind(memory, allocationId, task, record.attempt);
      for (const driver of drivers.values()) {
        if (!driver.survives) continue;
        const outcome = await driver.recover(start);
        if (outcome.type === 'running') outcome.task.destroy();
      }
      memory.save(allocationId, task, { ...record, outcome: 'killed' });
    }
  }
  return unwanted;
}

function startToFind(memory: TaskMemory, allocationId: string, task: string, attempt: number): TaskStart {
  return {
    allocationId,
    task,
    attempt,
    config: {},
    environment: {},
    paths: memory.prepare(allocationId, task),
    payload: null,
    meta: {},
    logs: { maximumFiles: 1, maximumFileBytes: Number.POSITIVE_INFINITY, disabled: true },
  };
}
