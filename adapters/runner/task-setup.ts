import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, normalize, resolve, sep } from 'node:path';
import type { Job, Task } from '../../src/index.js';
import type { TaskPaths } from './task-memory.js';

/** The decoded payload of a dispatched job; null without one. */
export function payloadOf(job: Job): Uint8Array | null {
  return job.Payload === null || job.Payload === '' ? null : Buffer.from(job.Payload, 'base64');
}

/** Puts into the task's directory what has to be there before it starts. Gives a sentence when the task cannot run here. */
export function setUpTask(job: Job, task: Task, paths: TaskPaths | null): string | undefined {
  const missing = unsupportedPart(task);
  if (missing !== undefined) return `The task uses ${missing}, which this runner does not provide`;
  const file = task.DispatchPayload?.File ?? '';
  if (file === '' || job.Payload === null) return undefined;
  if (paths === null) return 'The task wants its payload in a file, and this runner has no data directory';
  const target = resolve(paths.local, normalize(file));
  if (isAbsolute(file) || !target.startsWith(paths.local + sep))
    return `The payload file ${file} is outside of the task's directory`;
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, Buffer.from(job.Payload, 'base64'), { mode: 0o600 });
  return undefined;
}

/** A part of the job that would be left undone silently; better to say so than to run half a task. */
function unsupportedPart(task: Task): string | undefined {
  if ((task.Templates ?? []).length > 0) return 'templates';
  if ((task.Artifacts ?? []).length > 0) return 'artifacts';
  if ((task.VolumeMounts ?? []).length > 0) return 'volume mounts';
  if (task.Vault !== null) return 'a secrets service';
  if ((task.Secrets ?? []).length > 0) return 'secrets';
  if (task.User !== '') return 'another user';
  return undefined;
}
