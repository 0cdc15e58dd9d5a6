import { orThrow } from '../../../../src/client/index.js';
import type { Job } from '../../../../src/index.js';
import type { AllocationListStub } from '../../../../src/scheduler/index.js';
import { type Command, command, type Invocation, option } from '../../command-line/command.js';
import { followAllLogs, type ReadLog, writeAllLogs } from '../../logs/all-logs.js';
import { followLog, type LogStart, readLog } from '../../logs/task-log.js';
import { short } from '../../output/tables.js';
import { forOutput } from '../../output/terminal-text.js';
import { Stopped } from '../../stopped.js';
import { existing } from '../find-record.js';
import { namedOnce, numberOption } from '../option-values.js';
import { passOn } from '../print.js';
import { allocationOrThatOfJob, allocationToRead, ofJobOption, onlyTask } from './allocation-commands.js';

const logOptions = {
  stderr: option.flag('show the error stream'),
  stdout: option.flag('show the output stream (the default)'),
  f: option.flag('follow the output until the task ends'),
  tail: option.flag('only the last ten lines'),
  n: option.text('LINES', 'only this many last lines'),
  c: option.text('BYTES', 'only this many last bytes'),
} as const;

/** The number of lines that `--tail` shows by default. */
const usualLines = 10;

const ofAllocation = command({
  usage: 'alloc logs ALLOCATION [TASK]',
  summary: 'show the log of a task, by default of the only task',
  raw: true,
  options: {
    ...logOptions,
    ...ofJobOption,
    task: option.text('TASK', 'the task, the same as TASK'),
  },
  run: async (invocation) => {
    const { parameters, options, box, terminal } = invocation;
    const read = readerFrom(options);
    const named = namedOnce('task', parameters[1], options.task);
    const { ID, AllocatedResources } = await allocationOrThatOfJob(invocation, parameters[0] ?? '', allocationToRead);
    const task = named ?? onlyTask(Object.keys(AllocatedResources.Tasks));
    return passOn(terminal, read({ box, allocationId: ID, task, type: options.stderr ? 'stderr' : 'stdout' }));
  },
});

const ofJob = command({
  usage: 'job logs JOB [TASK]',
  summary: 'show the log of a task of a job, from the newest running allocation, else from the newest',
  raw: true,
  options: {
    ...logOptions,
    task: option.text('TASK', 'the task, the same as TASK'),
    group: option.text('GROUP', 'use an allocation of this group'),
    all: option.flag(
      'show all allocations, and all tasks unless TASK is given; each line begins with its allocation and task',
    ),
  },
  run: async (invocation) => {
    const { parameters, options, box, terminal } = invocation;
    const read = readerFrom(options);
    const named = namedOnce('task', parameters[1], options.task);
    const job = await jobOrItsNewestInstance(invocation, parameters[0] ?? '');
    if (options.all) return logsOfAll(invocation, job, { ...options, task: named }, read);
    const wanted = taskOf(job, named, options.group);
    const { ID } = await allocationOfJob(invocation, job, { ...wanted, wait: options.f });
    const type = options.stderr ? 'stderr' : 'stdout';
    return passOn(terminal, read({ box, allocationId: ID, task: wanted.task, type }));
  },
});

interface AllLogs {
  readonly task: string | undefined;
  readonly group: string | undefined;
  readonly stderr: boolean;
}

async function logsOfAll(
  { box, inNamespace, terminal }: Invocation,
  job: Job,
  { task, group, f, stderr }: Pick<ReadOptions, 'f'> & AllLogs,
  read: ReadLog,
): Promise<number> {
  if (task !== undefined) taskOf(job, task, group);
  const groups = job.TaskGroups.filter(({ Name }) => group === undefined || Name === group);
  if (groups.length === 0) throw new Stopped(`job ${job.ID} has no group ${group}`);
  const named = groups.map(({ Name, Tasks }) => {
    const names = Tasks.map((each) => each.Name);
    return [Name, names.filter((name) => task === undefined || name === task)] as const;
  });
  const type = stderr ? 'stderr' : 'stdout';
  const wanted = { box, jobId: job.ID, inNamespace, group, tasks: Object.fromEntries(named), type } as const;
  const write = (lines: Uint8Array): Promise<void> =>
    terminal.streams === undefined
      ? Promise.resolve(terminal.out(Buffer.from(lines).toString()))
      : terminal.streams.out(lines);
  // Before lines are prefixed, so that no line can pretend to be another task's.
  const shown: ReadLog = (log) => forOutput(terminal, read(log));
  if (f) await followAllLogs(wanted, shown, write);
  else if ((await writeAllLogs(wanted, shown, write)) === 0) throw new Stopped(`job ${job.ID} has no allocations yet`);
  return 0;
}

interface ReadOptions {
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly f: boolean;
  readonly tail: boolean;
  readonly n: string | undefined;
  readonly c: string | undefined;
}

/** How the options ask to read a log. */
function readerFrom(options: ReadOptions): ReadLog {
  if (options.stdout && options.stderr) throw new Stopped('give --stdout or --stderr, not both', 2);
  const start = startFrom(options);
  return (log) => (options.f ? followLog(log, start) : readLog(log, start));
}

function startFrom({ tail, n, c }: ReadOptions): LogStart {
  if (n !== undefined && c !== undefined) throw new Stopped('give -n or -c, not both', 2);
  const lines = numberOption('-n', n);
  if (lines !== undefined) return { lines };
  const bytes = numberOption('-c', c);
  if (bytes !== undefined) return { bytes };
  return tail ? { lines: usualLines } : 'beginning';
}

/** A periodic or parameterized job has no allocations: its newest instance is used. */
async function jobOrItsNewestInstance({ box, inNamespace }: Invocation, jobId: string): Promise<Job> {
  const job = await existing(box.jobs.read(jobId, inNamespace), `job ${jobId}`);
  if (job.Periodic === null && (job.ParameterizedJob === null || job.Dispatched)) return job;
  // Of the runs of a function, which come on pages, these are the latest.
  const { value } = await orThrow(box.jobs.list({ ...inNamespace, prefix: `${jobId}/`, reverse: true }));
  const [newest] = value.items
    .filter(({ ParentID }) => ParentID === jobId)
    .sort((a, b) => b.SubmitTime - a.SubmitTime || b.CreateIndex - a.CreateIndex);
  if (newest === undefined) throw new Stopped(`job ${jobId} has not been launched yet`);
  return existing(box.jobs.read(newest.ID, inNamespace), `job ${newest.ID}`);
}

interface TaskOfGroup {
  readonly task: string;
  readonly group: string | undefined;
}

/** Lists the existing groups or tasks if none was selected. */
function taskOf(job: Job, task: string | undefined, group: string | undefined): TaskOfGroup {
  const groups = job.TaskGroups.filter(({ Name }) => group === undefined || Name === group);
  if (groups.length === 0) {
    throw new Stopped(`job ${job.ID} has no group ${group}: ${job.TaskGroups.map(({ Name }) => Name).join(', ')}`);
  }
  const names = [...new Set(groups.flatMap(({ Tasks }) => Tasks.map(({ Name }) => Name)))];
  if (task === undefined) return { task: onlyTask(names), group };
  if (!names.includes(task)) throw new Stopped(`job ${job.ID} has no task ${task}: ${names.join(', ')}`);
  return { task, group };
}

interface WantedAllocation extends TaskOfGroup {
  /** Whether to wait for an allocation if there is none. */
  readonly wait: boolean;
}

async function allocationOfJob(
  { box, inNamespace, terminal }: Invocation,
  job: Job,
  { wait, ...wanted }: WantedAllocation,
): Promise<AllocationListStub> {
  for (let waiting = {}; ; ) {
    const { value, index } = await orThrow(box.jobs.allocations(job.ID, { ...inNamespace, ...waiting }));
    const allocation = allocationToRead(value ?? [], wanted);
    if (allocation === undefined && !wait) throw new Stopped(`job ${job.ID} has no allocations yet`);
    if (allocation !== undefined) {
      if ((value ?? []).length > 1) terminal.error(`allocation ${short(allocation.ID)} of ${job.ID}\n`);
      return allocation;
    }
    waiting = { index, wait: '30s' };
  }
}

export const logCommands: readonly Command[] = [ofAllocation, ofJob];
