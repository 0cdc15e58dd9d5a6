import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { TaskRecord } from '../../../src/agent/task/task-record.js';
import { pendingTask } from '../../../src/agent/task/transition-task-state.js';
import type { Instant } from '../../../src/shared/instant.js';
import { makeFolder } from './make-folder.js';
import type { NoteKeeper } from './note-keeper.js';
import { removeFolder } from './remove-folder.js';
import { type TaskPaths, taskPaths } from './task-paths.js';
import { textIn } from './text-file.js';
import { isTransientFault } from './transient-fault.js';

/** The tasks of an allocation that have notes. */
export interface KnownTasks {
  readonly allocationId: string;
  readonly tasks: readonly string[];
}

/** Where the runner keeps directories and notes: on disk, or nowhere for functions in a test. */
export interface TaskMemory {
  /** Makes the directories of a task; null when there is no disk. */
  prepare(allocationId: string, task: string): Promise<TaskPaths | null>;
  /** The same paths, whether they exist or not. */
  paths(allocationId: string, task: string): TaskPaths | null;
  /** The folder of an allocation, whether it exists or not; null when there is no disk. */
  folder(allocationId: string): string | null;
  /** Whether the folder of an allocation exists. */
  has(allocationId: string): boolean;
  /** Throws when notes cannot be read at present: they may report a process that runs. */
  load(allocationId: string, task: string): TaskRecord | undefined;
  /** Takes the newest record of a task; it is written when the disk allows. */
  save(allocationId: string, task: string, record: TaskRecord): void;
  /** Resolves true when the newest record will be found again, false when the runner stops before. */
  kept(allocationId: string, task: string): Promise<boolean>;
  /** Allocations, the oldest first, and their tasks with notes, for finding orphaned processes. Throws when they cannot be read at present. */
  known(): readonly KnownTasks[];
  /** Notes how an allocation has ended. */
  saveEnd(allocationId: string, end: AllocationEnd): void;
  /** Undefined when nothing was noted. */
  loadEnd(allocationId: string): AllocationEnd | undefined;
  forget(allocationId: string): Promise<void>;
  /** Finishes removals that an earlier runner began. */
  finishRemovals(): Promise<void>;
  /** Where the folders of allocations are; null when they are nowhere. */
  readonly root: string | null;
}

/** What is known of the end of an allocation. */
export interface AllocationEnd {
  /** Its namespace and job; for an instance the job that made it. */
  readonly job: string;
  /** It failed or took too long. */
  readonly failed: boolean;
  /** Wall time. */
  readonly at: Instant;
}

/** A note says whose it is, so that a note that was moved elsewhere is not used. */
interface StoredNote {
  readonly allocation: string;
  readonly task: string;
  readonly record: TaskRecord;
}

/** Keeps everything below `<directory>/allocations`. Notes survive the end of the process, not of the machine. */
export function diskTaskMemory(directory: string, notes: NoteKeeper): TaskMemory {
  const root = join(directory, 'allocations');
  const removed = join(directory, 'removed');
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const paths = (allocationId: string, task: string): TaskPaths => taskPaths(join(root, allocationId), task);
  const endFile = (allocationId: string, task: string): string => join(paths(allocationId, task).notes, 'ended.json');
  const tasksOf = (allocationId: string): readonly string[] =>
    subdirectories(join(root, allocationId)).filter((name) => existsSync(paths(allocationId, name).notes));
  const noteFile = (allocationId: string, task: string): string => join(paths(allocationId, task).notes, 'state.json');
  return {
    paths,
    folder: (allocationId) => join(root, basename(allocationId)),
    has: (allocationId) => isFolderName(allocationId) && existsSync(join(root, allocationId)),
    async prepare(allocationId, task) {
      const made = paths(allocationId, task);
      for (const name of ['logs', 'tmp', 'data']) await makeFolder(join(made.shared, name));
      for (const path of [made.local, made.secrets, made.notes, join(made.root, 'tmp')]) {
        await makeFolder(path, 0o700);
      }
      return made;
    },
    load(allocationId, task) {
      const file = noteFile(allocationId, task);
      const note = readNote(file);
      if (note !== undefined && note.allocation === allocationId && note.task === task) return note.record;
      return recordFromAttempts(paths(allocationId, task).notes);
    },
    save(allocationId, task, record) {
      const note: StoredNote = { allocation: allocationId, task, record };
      notes.set(noteFile(allocationId, task), JSON.stringify(note));
    },
    kept: (allocationId, task) => notes.kept(noteFile(allocationId, task)),
    known() {
      return byAge(root, readdirSync(root)).map((allocationId) => ({
        allocationId,
        tasks: subdirectories(join(root, allocationId)).filter((name) => existsSync(noteFile(allocationId, name))),
      }));
    },
    root,
    saveEnd(allocationId, end) {
      const [task] = tasksOf(allocationId);
      if (task !== undefined) notes.set(endFile(allocationId, task), JSON.stringify(end));
    },
    loadEnd(allocationId) {
      for (const task of tasksOf(allocationId)) {
        const end = readEnd(endFile(allocationId, task));
        if (end !== undefined) return end;
      }
      return undefined;
    },
    async finishRemovals() {
      for (const name of subdirectories(removed)) await removeFolder(join(removed, name));
    },
    async forget(allocationId) {
      const folder = join(root, allocationId);
      await notes.forget(folder);
      await removeWhole(folder, join(removed, allocationId));
    },
  };
}

/** The folders that were made first come first. */
function byAge(root: string, names: readonly string[]): readonly string[] {
  const madeAt = (name: string): number => statSync(join(root, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return names
    .map((name) => ({ name, at: madeAt(name) }))
    .sort((one, other) => one.at - other.at)
    .map(({ name }) => name);
}

/** A name, and no path that leads elsewhere. */
function isFolderName(name: string): boolean {
  return name === basename(name) && name !== '' && name !== '.' && name !== '..';
}

/** Moves the folder away in one step before it is removed, so that a half-removed one is never taken for a whole one. */
async function removeWhole(folder: string, into: string): Promise<void> {
  await makeFolder(dirname(into), 0o700);
  await removeFolder(into);
  try {
    await rename(folder, into);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await removeFolder(into);
}

function readNote(file: string): StoredNote | undefined {
  const text = textIn(file);
  if (text === undefined) return undefined;
  try {
    const note = JSON.parse(text) as Partial<StoredNote> | null;
    return typeof note?.record?.attempt === 'number' ? (note as StoredNote) : undefined;
  } catch {
    return undefined;
  }
}

function readEnd(file: string): AllocationEnd | undefined {
  const text = textIn(file);
  if (text === undefined) return undefined;
  try {
    const { job, failed, at } = JSON.parse(text) as Partial<AllocationEnd>;
    if (typeof job !== 'string' || typeof failed !== 'boolean' || typeof at !== 'number') return undefined;
    return { job, failed, at };
  } catch {
    return undefined;
  }
}

/** Notes were lost, as after a power cut, but starts have left their folders: the last one is looked for. */
function recordFromAttempts(notes: string): TaskRecord | undefined {
  const attempt = Math.max(0, ...subdirectories(join(notes, 'attempts')).map(Number).filter(Number.isInteger));
  if (attempt === 0) return undefined;
  return {
    state: pendingTask,
    attempt,
    endedAttempt: attempt - 1,
    counted: { intervalStart: 0, count: 0 },
    timeline: '',
    outcome: null,
  };
}

function subdirectories(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if (isTransientFault(error)) throw error;
    return [];
  }
}

/** Remembers nothing beyond the process and makes no directories: for functions only. */
export function volatileTaskMemory(): TaskMemory {
  const records = new Map<string, Map<string, TaskRecord>>();
  return {
    prepare: () => Promise.resolve(null),
    paths: () => null,
    folder: () => null,
    has: () => false,
    load: (allocationId, task) => records.get(allocationId)?.get(task),
    save(allocationId, task, record) {
      const tasks = records.get(allocationId) ?? new Map<string, TaskRecord>();
      records.set(allocationId, tasks.set(task, record));
    },
    kept: () => Promise.resolve(true),
    known: () => [...records].map(([allocationId, tasks]) => ({ allocationId, tasks: [...tasks.keys()] })),
    root: null,
    saveEnd: () => undefined,
    loadEnd: () => undefined,
    finishRemovals: () => Promise.resolve(),
    forget(allocationId) {
      records.delete(allocationId);
      return Promise.resolve();
    },
  };
}
