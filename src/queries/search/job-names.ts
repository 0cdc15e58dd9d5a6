import type { Job } from '../../jobs/document/job.js';
import type { Task } from '../../jobs/document/task.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { FuzzyName } from './fuzzy-search.js';

/** The kinds of names within a job that a fuzzy search finds. */
export function namesOfJob(job: Pick<Job, 'ID' | 'Name' | 'Namespace' | 'TaskGroups'>): FuzzyName[] {
  const scope = [job.Namespace, job.ID];
  return [{ kind: 'jobs', name: job.Name, scope }, ...job.TaskGroups.flatMap((group) => namesOfGroup(group, scope))];
}

function namesOfGroup(group: TaskGroup, job: readonly string[]): FuzzyName[] {
  const scope = [...job, group.Name];
  return [
    { kind: 'groups', name: group.Name, scope: job },
    ...(group.Services ?? []).map(({ Name }): FuzzyName => ({ kind: 'services', name: Name, scope })),
    ...group.Tasks.flatMap((task) => namesOfTask(task, scope)),
  ];
}

function namesOfTask(task: Task, group: readonly string[]): FuzzyName[] {
  const scope = [...group, task.Name];
  return [
    { kind: 'tasks', name: task.Name, scope: group },
    ...(task.Services ?? []).map(({ Name }): FuzzyName => ({ kind: 'services', name: Name, scope })),
    ...whatRuns(task).map(({ kind, name }): FuzzyName => ({ kind, name, scope })),
  ];
}

/** The member of a driver's configuration that names the command or image it runs. */
const RUNS: Readonly<Record<string, { readonly kind: 'images' | 'commands' | 'classes'; readonly member: string }>> = {
  docker: { kind: 'images', member: 'image' },
  exec: { kind: 'commands', member: 'command' },
  raw_exec: { kind: 'commands', member: 'command' },
  java: { kind: 'classes', member: 'class' },
};

function whatRuns({ Driver, Config }: Task): { kind: 'images' | 'commands' | 'classes'; name: string }[] {
  const runs = Object.hasOwn(RUNS, Driver) ? RUNS[Driver] : undefined;
  if (runs === undefined || Config === null || !Object.hasOwn(Config, runs.member)) return [];
  const name = Config[runs.member];
  return typeof name === 'string' ? [{ kind: runs.kind, name }] : [];
}
