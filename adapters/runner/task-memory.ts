import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RestartCount, TaskState } from '../../src/index.js';

/** What the runner must know of a task after it was killed itself. */
export interface TaskRecord {
  readonly state: TaskState;
  /** Number of the last start; 0 before the first. */
  readonly attempt: number;
  /** The last attempt whose end has been dealt with: noted together with what follows from it. */
  readonly endedAttempt: number;
  readonly counted: RestartCount;
  readonly outcome: 'succeeded' | 'failed' | 'killed' | null;
}

/** Absolute paths of a task's directories. */
export interface TaskPaths {
  /** Shared by the tasks of the allocation; `logs`, `tmp` and `data` are in it. */
  readonly shared: string;
  readonly logs: string;
  /** Where the task starts; `local`, `secrets` and `tmp` are in it. */
  readonly root: string;
  readonly local: string;
  readonly secrets: string;
  /** The runner's own notes; the task has no business there. */
  readonly notes: string;
}

/** Where the runner keeps directories and notes: on disk, or nowhere for functions in a test. */
export interface TaskMemory {
  /** Makes the directories; null when there is no disk. */
  prepare(allocationId: string, task: string): TaskPaths | null;
  load(allocationId: string, task: string): TaskRecord | undefined;
  save(allocationId: string, task: string, record: TaskRecord): void;
  /** Tasks of allocations that have notes, for finding processes that nobody asks for any more. */
  known(): readonly { readonly allocationId: string; readonly tasks: readonly string[] }[];
  forget(allocationId: string): void;
}

/** Keeps everything below `<directory>/allocations`. Notes survive the end of the process, not of the machine. */
export function diskTaskMemory(directory: string): TaskMemory {
  const root = join(directory, 'allocations');
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const paths = (allocationId: string, task: string): TaskPaths => {
    const allocation = join(root, allocationId);
    const own = join(allocation, task);
    return {
      shared: join(allocation, 'alloc'),
      logs: join(allocation, 'alloc', 'logs'),
      root: own,
      local: join(own, 'local'),
      secrets: join(own, 'secrets'),
      notes: join(own, 'private'),
    };
  };
  const recordFile = (allocationId: string, task: string): string =>
    join(paths(allocationId, task).notes, 'state.json');
  return {
    prepare(allocationId, task) {
      const made = paths(allocationId, task);
      for (const name of ['logs', 'tmp', 'data']) mkdirSync(join(made.shared, name), { recursive: true });
      for (const path of [made.local, made.secrets, made.notes, join(made.root, 'tmp')])
        mkdirSync(path, { recursive: true, mode: 0o700 });
      return made;
    },
    load(allocationId, task) {
      const file = recordFile(allocationId, task);
      if (!existsSync(file)) return undefined;
      try {
        return JSON.parse(readFileSync(file, 'utf8')) as TaskRecord;
      } catch {
        return undefined;
      }
    },
    save(allocationId, task, record) {
      const file = recordFile(allocationId, task);
      writeFileSync(`${file}.new`, JSON.stringify(record));
      renameSync(`${file}.new`, file);
    },
    known() {
      return readdirSync(root).map((allocationId) => ({
        allocationId,
        tasks: readdirSync(join(root, allocationId)).filter((name) => existsSync(recordFile(allocationId, name))),
      }));
    },
    forget(allocationId) {
      rmSync(join(root, allocationId), { recursive: true, force: true });
    },
  };
}

/** Remembers nothing beyond the process and makes no directories: for functions only. */
export function volatileTaskMemory(): TaskMemory {
  const records = new Map<string, Map<string, TaskRecord>>();
  return {
    prepare: () => null,
    load: (allocationId, task) => records.get(allocationId)?.get(task),
    save(allocationId, task, record) {
      const tasks = records.get(allocationId) ?? new Map<string, TaskRecord>();
      records.set(allocationId, tasks.set(task, record));
    },
    known: () => [...records].map(([allocationId, tasks]) => ({ allocationId, tasks: [...tasks.keys()] })),
    forget: (allocationId) => void records.delete(allocationId),
  };
}
