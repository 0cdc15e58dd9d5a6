import { join } from 'node:path';

/** Absolute paths of a task's directories (job interface, directories and logs). */
export interface TaskPaths {
  /** Shared by the tasks of the allocation; contains `logs`, `tmp` and `data`. */
  readonly shared: string;
  readonly logs: string;
  /** The task's working directory; contains `local`, `secrets` and `tmp`. */
  readonly root: string;
  readonly local: string;
  readonly secrets: string;
  /** The runner's notes, which the task must not change. */
  readonly notes: string;
}

export function taskPaths(allocationRoot: string, task: string): TaskPaths {
  const root = join(allocationRoot, task);
  return {
    shared: join(allocationRoot, 'alloc'),
    logs: join(allocationRoot, 'alloc', 'logs'),
    root,
    local: join(root, 'local'),
    secrets: join(root, 'secrets'),
    notes: join(root, 'private'),
  };
}
