import { orThrow } from '../../../../src/client/index.js';
import type { Allocation, AllocationListStub, TaskState } from '../../../../src/scheduler/index.js';
import { type Command, command, type Invocation, option } from '../../command-line/command.js';
import { allocationsText, facts, inOneLine, short, tableOf, timeText } from '../../output/tables.js';
import { usageText } from '../../output/usage.js';
import { Stopped } from '../../stopped.js';
import { existing, onlyMatch, queryPrefix } from '../find-record.js';
import { detach, followWrite } from '../follow-write.js';
import { namedOnce, optional } from '../option-values.js';
import { confirm, print } from '../print.js';

const status = command({
  usage: 'alloc status [ALLOCATION]',
  summary: 'list the allocations, or show one with its tasks and their events',
  options: { stats: option.flag('current resource usage of its tasks') },
  run: async (invocation, prefix) => {
    if (invocation.options.stats) return print(invocation, await usageOf(invocation, prefix), usageText);
    if (prefix !== undefined) return print(invocation, await allocationOf(invocation, prefix), allocationText);
    const { value } = await orThrow(invocation.box.allocations.list(invocation.inNamespace));
    return print(invocation, value.items, allocationsText);
  },
});

async function usageOf(invocation: Invocation, prefix: string | undefined) {
  if (prefix === undefined) throw new Stopped('--stats is for one ALLOCATION', 2);
  const { ID } = await allocationOf(invocation, prefix);
  return orThrow(invocation.box.allocations.stats(ID));
}

/** The only allocation whose ID has this prefix. */
export async function allocationOf({ box, inNamespace }: Invocation, prefix: string): Promise<Allocation> {
  const { value } = await orThrow(box.allocations.list({ ...inNamespace, prefix: queryPrefix(prefix) }));
  const { ID } = onlyMatch(value.items, prefix, 'allocation');
  return existing(box.allocations.read(ID), `allocation ${prefix}`);
}

/** Option of commands on an allocation: select it by the ID of its job. */
export const ofJobOption = {
  job: option.flag('ALLOCATION is the ID of a job: use its newest running allocation'),
} as const;

type Choose = (allocations: readonly AllocationListStub[], wanted: Wanted) => AllocationListStub | undefined;

/** The allocation whose ID has this prefix, or with `--job` the selected one of the job with this ID. */
export async function allocationOrThatOfJob(invocation: Invocation, id: string, choose: Choose): Promise<Allocation> {
  const { box, inNamespace, options } = invocation;
  const ofJob: unknown = options['job'];
  if (ofJob !== true) return allocationOf(invocation, id);
  const task = typeof options['task'] === 'string' ? options['task'] : undefined;
  await existing(box.jobs.read(id, inNamespace), `job ${id}`);
  const chosen = choose(await existing(box.jobs.allocations(id, inNamespace), `job ${id}`), { task });
  if (chosen === undefined) throw new Stopped(`job ${id} has no such allocation`);
  return existing(box.allocations.read(chosen.ID), `allocation ${chosen.ID}`);
}

function allocationText(allocation: Allocation): string {
  const head = facts({
    ID: allocation.ID,
    Name: allocation.Name,
    Job: `${allocation.JobID} (version ${allocation.JobVersion ?? 0})`,
    Namespace: allocation.Namespace,
    Evaluation: short(allocation.EvalID),
    Node: `${allocation.NodeName} (${short(allocation.NodeID)})`,
    Desired: [allocation.DesiredStatus, allocation.DesiredDescription].filter(Boolean).join(': '),
    Status: [allocation.ClientStatus, allocation.ClientDescription].filter(Boolean).join(': '),
    Created: timeText(allocation.CreateTime),
    'Replaced by': allocation.NextAllocation,
  });
  const tasks = Object.entries(allocation.TaskStates ?? {});
  return [head, ...tasks.map(([name, state]) => taskText(name, state))].join('\n');
}

function taskText(name: string, state: TaskState): string {
  const head = `Task "${inOneLine(name)}" is ${state.State}${state.Failed ? ', failed' : ''}; restarts: ${state.Restarts}\n`;
  const rows = (state.Events ?? []).map(({ Time, Type, DisplayMessage }) => [timeText(Time), Type, DisplayMessage]);
  return head + tableOf(['Time', 'Event', 'Message'], rows, 'no events yet');
}

export function onlyTask(names: readonly string[]): string {
  const [first] = names;
  if (first === undefined) throw new Stopped('no task has run yet');
  if (names.length > 1) throw new Stopped(`name one of its tasks: ${names.join(', ')}`, 2);
  return first;
}

const restart = command({
  usage: 'alloc restart ALLOCATION [TASK]',
  summary: 'restart the running tasks of an allocation, or one task',
  options: {
    task: option.text('TASK', 'the task, the same as TASK'),
    'all-tasks': option.flag('include tasks that have ended'),
  },
  run: async (invocation) => {
    const { options, parameters } = invocation;
    const task = optional('task', namedOnce('task', parameters[1], options.task));
    const { ID } = await allocationOf(invocation, parameters[0] ?? '');
    const answer = invocation.box.allocations.restart(ID, { ...task, all: invocation.options['all-tasks'] });
    return confirm(invocation, answer, `allocation ${short(ID)} restarts`);
  },
});

const signal = command({
  usage: 'alloc signal ALLOCATION [SIGNAL] [TASK]',
  summary: 'send a signal such as SIGHUP to the running tasks, or to one task',
  options: {
    s: option.text('SIGNAL', 'the signal; then TASK follows ALLOCATION'),
    task: option.text('TASK', 'the task, the same as TASK'),
  },
  run: async (invocation) => {
    const { options, parameters } = invocation;
    const [prefix = '', ...others] = parameters;
    const name = options.s ?? others.shift();
    if (name === undefined) throw new Stopped('name the signal: alloc signal ALLOCATION SIGHUP', 2);
    if (others.length > 1) throw new Stopped(`"${others[1]}" is an unexpected argument`, 2);
    const task = namedOnce('task', others[0], options.task);
    const { ID } = await allocationOf(invocation, prefix);
    const answer = invocation.box.allocations.signal(ID, name, optional('task', task));
    return confirm(invocation, answer, `${name} was sent to allocation ${short(ID)}`);
  },
});

const stop = command({
  usage: 'alloc stop ALLOCATION',
  summary: 'stop an allocation; it is replaced if its job still needs it',
  options: {
    ...detach,
    'no-shutdown-delay': option.flag('stop its tasks without shutdown delays'),
  },
  run: async (invocation, allocation = '') => {
    const { options, box } = invocation;
    const { ID, Namespace } = await allocationOf(invocation, allocation);
    const answer = await orThrow(box.allocations.stop(ID, { noShutdownDelay: options['no-shutdown-delay'] }));
    const inItsNamespace = { ...invocation, inNamespace: optional('namespace', Namespace) };
    return followWrite(inItsNamespace, answer, { detached: options.detach, done: `allocation ${short(ID)} stops` });
  },
});

interface CheckResult {
  readonly Service: string;
  /** Absent for a group service. */
  readonly Task?: string;
  readonly Check: string;
  readonly Mode: string;
  readonly Status: string;
  readonly Output: string;
}

const checks = command({
  usage: 'alloc checks ALLOCATION',
  summary: "what the checks of an allocation's services found last",
  run: async (invocation, allocation = '') => {
    const { ID } = await allocationOf(invocation, allocation);
    const answer = (await orThrow(invocation.box.allocations.checks(ID))) as Readonly<Record<string, CheckResult>>;
    const rows = Object.values(answer).map(({ Service, Task = '', Check, Mode, Status, Output }) => [
      Service,
      Task,
      Check,
      Mode,
      Status,
      Output,
    ]);
    const headings = ['Service', 'Task', 'Check', 'Mode', 'Status', 'Output'];
    return print(invocation, answer, () => tableOf(headings, rows, 'no checks'));
  },
});

export const allocationCommands: readonly Command[] = [status, checks, restart, signal, stop];

/** The requested part of a job. */
interface Wanted {
  readonly group?: string | undefined;
  /** Only allocations that have this task. */
  readonly task?: string | undefined;
}

/** The newest running allocation, else the newest that has started a task, else the newest. */
export function allocationToRead(
  allocations: readonly AllocationListStub[],
  wanted: Wanted,
): AllocationListStub | undefined {
  const newest = newestFirst(allocations, wanted);
  return newest.find(runs) ?? newest.find(({ TaskStates }) => hasStarted(TaskStates)) ?? newest[0];
}

/** The newest running allocation, preferably one in which the task itself is running. */
export function allocationToUse(
  allocations: readonly AllocationListStub[],
  wanted: Wanted,
): AllocationListStub | undefined {
  const running = newestFirst(allocations, wanted).filter(runs);
  const { task } = wanted;
  const ready = running.find(({ TaskStates }) => task === undefined || TaskStates?.[task]?.State === 'running');
  return ready ?? running[0];
}

function newestFirst(allocations: readonly AllocationListStub[], { group, task }: Wanted): AllocationListStub[] {
  return allocations
    .filter(({ TaskGroup }) => group === undefined || TaskGroup === group)
    .filter(({ TaskStates }) => task === undefined || TaskStates === null || Object.hasOwn(TaskStates, task))
    .sort((a, b) => b.CreateIndex - a.CreateIndex || b.ModifyIndex - a.ModifyIndex);
}

function runs({ ClientStatus }: AllocationListStub): boolean {
  return ClientStatus === 'running';
}

function hasStarted(states: AllocationListStub['TaskStates']): boolean {
  return Object.values(states ?? {}).some(({ StartedAt }) => StartedAt !== null);
}
