import { isAbsolute, normalize, resolve, sep } from 'node:path';
import {
  interpolate,
  interpolationLookup,
  type TaskContext,
  taskEnvironment,
} from '../../../src/agent/environment/task-environment.js';
import type { StartFault } from '../../../src/agent/task/task-life.js';
import type { Job } from '../../../src/jobs/document/job.js';
import type { Task } from '../../../src/jobs/document/task.js';
import { type TaskNeed, taskNeeds } from '../../../src/jobs/task-needs.js';
import { type TaskPaths, targetOf, writeWhole } from '../disk/task-target.js';
import type { TaskStart } from '../drivers/task-driver.js';
import type { RunnerContext, TaskAssignment } from './runner-context.js';

type Lookup = (name: string) => string | undefined;

/** The inputs of a task's environment. */
export interface TaskSetting {
  readonly assignment: TaskAssignment;
  readonly node: RunnerContext['node'];
  readonly paths: TaskPaths | null;
}

/** The environment of a task from its job and node, and the function that interpolates references. */
export function taskSetting({ assignment, node, paths }: TaskSetting, added: Readonly<Record<string, string>> = {}) {
  const { job, group, task, allocation } = assignment;
  const directories = { shared: paths?.shared ?? '', local: paths?.local ?? '', secrets: paths?.secrets ?? '' };
  const context: TaskContext = { job, group, task, allocation, node, directories };
  const environment = { ...taskEnvironment(context), ...added };
  return { environment, lookup: interpolationLookup(context, environment) };
}

/** Everything that a driver needs to start or recover the task; `added`: environment variables of its templates. */
export function taskStart(setting: TaskSetting, attempt: number, added: Readonly<Record<string, string>>): TaskStart {
  const { assignment, paths } = setting;
  const { job, group, task, allocation } = assignment;
  const { environment, lookup } = taskSetting(setting, added);
  const payload = payloadOf(job);
  return {
    allocationId: allocation.ID,
    task: task.Name,
    attempt,
    config: interpolateAll(task.Config ?? {}, lookupWith(payload, lookup)) as Record<string, unknown>,
    environment,
    paths,
    payload,
    meta: { ...job.Meta, ...group.Meta, ...task.Meta },
    logs: {
      maximumFiles: task.LogConfig.MaxFiles,
      maximumFileBytes: task.LogConfig.MaxFileSizeMB * 1024 * 1024,
      disabled: task.LogConfig.Disabled,
    },
  };
}

function lookupWith(payload: Uint8Array | null, known: Lookup): Lookup {
  return (name) =>
    name === 'dispatch.payload' && payload !== null ? Buffer.from(payload).toString('utf8') : known(name);
}

function interpolateAll(value: unknown, lookup: Lookup): unknown {
  if (typeof value === 'string') return interpolate(value, lookup);
  if (Array.isArray(value)) return value.map((item) => interpolateAll(item, lookup));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, interpolateAll(item, lookup)]));
}

/** The decoded payload of a dispatched job; null if it has none. */
function payloadOf(job: Job): Uint8Array | null {
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
