import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { TaskRecord } from '../../../src/agent/task/task-life.js';
import { pendingTask } from '../../../src/scheduler/allocation.js';
import type { Instant } from '../../../src/shared/instant.js';
import { codeOf, isRecord } from '../../../src/shared/values.js';
import { makeFolder, removeFolder } from './folders.js';
import type { NoteKeeper } from './note-keeper.js';
import { type TaskPaths, taskPaths } from './task-target.js';
import { isTransientFault, jsonIn } from './text-file.js';

/** The tasks of an allocation that have notes. */
export interface KnownTasks {
  readonly allocationId: string;
  readonly tasks: readonly string[];
}

/** Where the runner keeps directories and notes: on disk, or nowhere for a runner without a directory. */
export interface TaskMemory {
  /** Makes the directories of a task; null without a disk. */
  prepare(allocationId: string, task: string): Promise<TaskPaths | null>;
  /** The same paths, without creating them. */
  paths(allocationId: string, task: string): TaskPaths | null;
  /** The path of an allocation's folder, which may not exist; null without a disk. */
  folder(allocationId: string): string | null;
  /** Whether the folder of an allocation exists. */
  has(allocationId: string): boolean;
  /** Throws if notes cannot be read now: they may name a running process. */
  load(allocationId: string, task: string): TaskRecord | undefined;
  /** Sets the latest record of a task; it is written when the disk allows. */
  save(allocationId: string, task: string, record: TaskRecord): void;
  /** Resolves to true when the latest record is on disk, or to false if the runner stops before. */
  kept(allocationId: string, task: string): Promise<boolean>;
  /** Allocations, the oldest first, and their tasks with notes, to find orphaned processes. Throws if they cannot be read now. */
  known(): readonly KnownTasks[];
  /** Records how an allocation has ended. */
  saveEnd(allocationId: string, end: AllocationEnd): void;
  /** Undefined without a record. */
  loadEnd(allocationId: string): AllocationEnd | undefined;
  forget(allocationId: string): Promise<void>;
  /** Finishes removals that an earlier runner started. */
  finishRemovals(): Promise<void>;
  /** The folder with the allocations' folders; null without a disk. */
  readonly root: string | null;
}

/** How an allocation has ended. */
export interface AllocationEnd {
  /** Its namespace and job; for an instance the job that made it. */
  readonly job: string;
  /** It failed or timed out. */
  readonly failed: boolean;
  /** Wall time. */
  readonly at: Instant;
}

/** A note names its task, so that a note that was moved elsewhere is not used. */
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

/** The oldest folders first. */
function byAge(root: string, names: readonly string[]): readonly string[] {
  const madeAt = (name: string): number => statSync(join(root, name), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return names
    .map((name) => ({ name, at: madeAt(name) }))
    .sort((one, other) => one.at - other.at)
    .map(({ name }) => name);
}

/** Whether it is a plain file name, not a path. */
function isFolderName(name: string): boolean {
  return name === basename(name) && name !== '' && name !== '.' && name !== '..';
}

/** Renames the folder before removing it, so that a half-removed folder is never taken for a complete one. */
async function removeWhole(folder: string, into: string): Promise<void> {
  await makeFolder(dirname(into), 0o700);
  await removeFolder(into);
  try {
    await rename(folder, into);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
  }
  await removeFolder(into);
}

function readNote(file: string): StoredNote | undefined {
  const note = jsonIn(file) as Partial<StoredNote> | null | undefined;
  return typeof note?.record?.attempt === 'number' ? (note as StoredNote) : undefined;
}

function readEnd(file: string): AllocationEnd | undefined {
  const end = jsonIn(file);
  if (!isRecord(end)) return undefined;
  const { job, failed, at } = end;
  if (typeof job !== 'string' || typeof failed !== 'boolean' || typeof at !== 'number') return undefined;
  return { job, failed, at };
}

/** After lost notes, as after a power failure: finds the last start by the folders that starts leave. */
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

/** Keeps notes in memory only and makes no directories: for functions. */
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
