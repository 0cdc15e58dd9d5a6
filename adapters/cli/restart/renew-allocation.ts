import { type Client, orThrow } from '../../../src/client/index.js';
import type { Allocation, TaskState } from '../../../src/scheduler/index.js';
import { placementFailures } from '../output/placement-failures.js';
import { short } from '../output/tables.js';
import { Stopped } from '../stopped.js';

/** The `wait` of a blocking query. */
const wait = '30s';

/** The part of an allocation to restart: one task, all tasks from the beginning, or the running ones. */
interface RestartedTasks {
  readonly task?: string;
  readonly all: boolean;
}

/** Restarts tasks in place and resolves when they run again. Rejects if they do not. */
export async function restartInPlace(box: Client, id: string, tasks: RestartedTasks): Promise<void> {
  const before = statesOf(await allocationAt(box, id));
  const concerned = Object.entries(before).filter(([name, state]) => isConcerned(name, state, tasks));
  await orThrow(box.allocations.restart(id, tasks));
  await untilAllocation(box, id, (allocation) => {
    const states = statesOf(allocation);
    return concerned.every(([name, { Restarts }]) => hasRestarted(states[name], Restarts));
  });
}

function isConcerned(name: string, { State }: TaskState, { task, all }: RestartedTasks): boolean {
  return task === undefined ? all || State === 'running' : name === task;
}

/** A prestart task counts as running again when it has ended successfully. */
function hasRestarted(state: TaskState | undefined, restarts: number): boolean {
  if (state === undefined || state.Restarts <= restarts) return false;
  return state.State === 'running' || (state.State === 'dead' && !state.Failed);
}

/** Stops an allocation and resolves with the ID of its replacement once that is running. Rejects if there is none. */
export async function replace(box: Client, id: string, noShutdownDelay: boolean): Promise<string> {
  const { evalId } = await orThrow(box.allocations.stop(id, { reschedule: true, noShutdownDelay }));
  const failures = await failuresOf(box, evalId);
  const { NextAllocation = '' } = await allocationAt(box, id);
  if (NextAllocation === '') {
    const why = failures === '' ? 'its job needs no replacement' : failures.trim();
    throw new Stopped(`allocation ${short(id)} is not replaced: ${why}`);
  }
  await untilAllocation(box, NextAllocation, ({ ClientStatus }) => ClientStatus === 'running');
  return NextAllocation;
}

/** Waits for the end of an evaluation, and reports placement failures. */
async function failuresOf(box: Client, id: string): Promise<string> {
  for (let waiting = {}; ; ) {
    const { value, index } = await orThrow(box.evaluations.read(id, waiting));
    if (value === undefined || value.Status !== 'pending') return placementFailures(value?.FailedTGAllocs ?? {});
    waiting = { index, wait };
  }
}

async function allocationAt(box: Client, id: string): Promise<Allocation> {
  const { value } = await orThrow(box.allocations.read(id));
  if (value === undefined) throw new Stopped(`allocation ${short(id)} no longer exists`);
  return value;
}

function statesOf({ TaskStates }: Allocation): Readonly<Record<string, TaskState>> {
  return TaskStates ?? {};
}

const over: readonly string[] = ['failed', 'lost', 'complete'];

async function untilAllocation(box: Client, id: string, holds: (allocation: Allocation) => boolean): Promise<void> {
  for (let waiting = {}; ; ) {
    const { value, index } = await orThrow(box.allocations.read(id, waiting));
    if (value === undefined) throw new Stopped(`allocation ${short(id)} no longer exists`);
    if (over.includes(value.ClientStatus)) throw new Stopped(`allocation ${short(id)} is ${value.ClientStatus}`);
    if (holds(value)) return;
    waiting = { index, wait };
  }
}
