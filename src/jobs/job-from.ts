import { prepareJob } from './changes/prepare-job.js';
import type { JobInput, TaskGroupInput, TaskInput } from './document/input/index.js';
import type { Job } from './document/job.js';

/**
 * A whole stored job from as much of a document as a test cares about: `jobFrom({ Type: 'batch' })`. A group without tasks
 * gets one, a name that is missing is made up, and every default is filled as a registration fills it. `stored` lays what
 * a registration sets over it, for example `{ Version: 3 }`.
 *
 * For tests and scripts: a document that would be refused is a mistake of the caller, so that it throws with what is wrong.
 */
export function jobFrom(input: JobInput = {}, stored: Partial<Job> = {}): Job {
  const groups = input.TaskGroups ?? [{}];
  const prepared = prepareJob({ ID: 'job', ...input, TaskGroups: groups.map(wholeGroup) });
  if (prepared.isErr()) throw new Error(prepared.error.message);
  return { ...prepared.value, Status: 'pending', ...stored };
}

function wholeGroup(group: TaskGroupInput, index: number): TaskGroupInput {
  const tasks = group.Tasks ?? [{}];
  return { Name: numbered('group', index), ...group, Tasks: tasks.map(wholeTask) };
}

function wholeTask(task: TaskInput, index: number): TaskInput {
  return { Name: numbered('task', index), Driver: 'function', ...task };
}

/** `group`, `group-2`, `group-3`, … */
function numbered(name: string, index: number): string {
  return index === 0 ? name : `${name}-${index + 1}`;
}
