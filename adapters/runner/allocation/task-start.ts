import {
  interpolate,
  interpolationLookup,
  type TaskContext,
  taskEnvironment,
} from '../../../src/agent/environment/task-environment.js';
import type { TaskPaths } from '../disk/task-paths.js';
import type { TaskStart } from '../drivers/task-driver.js';
import type { RunnerContext } from './runner-context.js';
import type { TaskAssignment } from './task-assignment.js';
import { payloadOf } from './task-setup.js';

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
