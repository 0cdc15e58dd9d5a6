import { isAbsolute, normalize, resolve, sep } from 'node:path';
import type { StartFault } from '../../../src/agent/task/task-life.js';
import type { Job } from '../../../src/jobs/document/job.js';
import type { Task } from '../../../src/jobs/document/task.js';
import { type TaskNeed, taskNeeds } from '../../../src/jobs/task-needs.js';
import type { TaskPaths } from '../disk/task-paths.js';
import { targetOf, writeWhole } from '../disk/task-target.js';

/** The decoded payload of a dispatched job; null if it has none. */
export function payloadOf(job: Job): Uint8Array | null {
  return job.Payload === null || job.Payload === '' ? null : Buffer.from(job.Payload, 'base64');
}

/** Writes the dispatch payload into the task's directory. Returns the fault if the task cannot be set up. */
export async function setUpTask(job: Job, task: Task, paths: TaskPaths | null): Promise<StartFault | undefined> {
  const missing = unsupportedPart(task);
  if (missing !== undefined) return setupFault(`The task uses ${missing}, which this runner does not provide`);
  const file = task.DispatchPayload?.File ?? '';
  if (file === '' || job.Payload === null) return undefined;
  if (paths === null) return setupFault('dispatch_payload needs a runner with a data directory');
  const target = resolve(paths.local, normalize(file));
  if (isAbsolute(file) || !target.startsWith(paths.local + sep)) {
    return setupFault(`The payload file ${file} is outside the task's directory`);
  }
  const bytes = Buffer.from(job.Payload, 'base64');
  await writeWhole(targetOf(paths, target), bytes, { mode: 0o600, uid: null, gid: null });
  return undefined;
}

export function setupFault(message: string): StartFault {
  return { kind: 'setup', message, recoverable: false };
}

/** A feature of the task that this runner lacks. The task fails instead of running without it. */
function unsupportedPart(task: Task): string | undefined {
  if (task.Vault !== null) return 'a secrets service';
  const [missing] = taskNeeds(task, null).flatMap((need) => unsupported[need] ?? []);
  return missing;
}

/** Features that this runner never provides. */
const unsupported: Readonly<Partial<Record<TaskNeed, string>>> = {
  user: 'another user',
  secrets: 'secrets',
  identities: 'tokens of identities',
  storage_plugins: 'a plugin for volumes',
};
