import { allocationOutcome, exceededDuration, lostServer, stoppedEarly } from '../../jobs/runs/job-run.js';
import type { ClientStatus, TaskState } from '../../scheduler/allocation.js';
import { type AllocationLife, isDone } from './transition-allocation.js';

/** The statuses that a node's agent reports; the server sets `lost` and `unknown`. */
export type ToldStatus = Extract<ClientStatus, 'pending' | 'running' | 'complete' | 'failed'>;

/** The state of an allocation as its agent reports it. Only the agent decides these members. */
export interface ToldState {
  /** Derived from the states of the tasks. */
  readonly clientStatus: ToldStatus;
  /** The status as a sentence. */
  readonly clientDescription: string;
  /** By name of the task. */
  readonly taskStates: Readonly<Record<string, TaskState>>;
}

export function toldState(life: AllocationLife): ToldState {
  const taskStates = Object.fromEntries(
    life.plan.tasks.flatMap((plan, at) => {
      const task = life.tasks[at];
      return task === undefined ? [] : [[plan.name, task.record.state]];
    }),
  );
  const clientStatus = clientStatusOf(life, Object.values(taskStates));
  return {
    clientStatus,
    clientDescription: descriptionOf(life, clientStatus),
    taskStates,
  };
}

/** The task whose output explains why an allocation failed or timed out; undefined for any other end. */
export function failedTask(life: AllocationLife): string | undefined {
  const { clientStatus, clientDescription, taskStates } = toldState(life);
  const outcome = isDone(life)
    ? allocationOutcome({ DesiredStatus: 'run', ClientStatus: clientStatus, ClientDescription: clientDescription })
    : undefined;
  if (outcome !== 'failed' && outcome !== 'timed_out') return undefined;
  const failed = Object.entries(taskStates).find(([, { Failed }]) => Failed);
  return failed?.[0] ?? life.plan.tasks.find(({ phase }) => phase === 'main')?.name;
}

/** Whether all required tasks are running: `failed` when one never will. */
export function standingOfTasks({ plan, tasks }: AllocationLife): 'up' | 'coming' | 'failed' {
  const needed = plan.tasks.flatMap(({ phase }, at) => {
    const task = tasks[at];
    return task === undefined || phase === 'poststop' ? [] : [{ phase, record: task.record }];
  });
  if (needed.some(({ record }) => record.outcome === 'failed')) return 'failed';
  const isUp = needed.every(({ phase, record }) =>
    phase === 'prestart' || phase === 'poststart' ? record.outcome === 'succeeded' : record.state.State === 'running',
  );
  return isUp ? 'up' : 'coming';
}

/**
 * The client status, derived from the task states (job interface, allocation life). A final status is reported when no task will start any
 * more.
 */
function clientStatusOf(life: AllocationLife, states: readonly TaskState[]): ToldStatus {
  if (isDone(life)) {
    if (wasCutOff(life)) return 'failed';
    return life.cause === 'expired' || !states.some(({ Failed }) => Failed) ? 'complete' : 'failed';
  }
  if (states.some(({ State }) => State === 'running')) return 'running';
  // Between two tasks all may be dead or waiting for a restart.
  const begun = states.some(({ State }) => State === 'dead');
  return begun && !states.some(({ State }) => State === 'pending') ? 'running' : 'pending';
}

/** Whether its work was interrupted because the node had lost the server: it is incomplete and may be done elsewhere. */
function wasCutOff({ cause, plan, tasks }: AllocationLife): boolean {
  return (
    cause === 'cut_off' &&
    tasks.some(({ record }, at) => plan.tasks[at]?.phase === 'main' && record.outcome === 'killed')
  );
}

function descriptionOf(life: AllocationLife, status: ToldStatus): string {
  if (life.cause === 'expired' && status === 'complete') return exceededDuration;
  if (status === 'failed' && wasCutOff(life)) return lostServer;
  return status === 'complete' && wasStoppedEarly(life) ? stoppedEarly : sentences[status];
}

/**
 * Whether a task that would have ended on its own was stopped before. For services a stop is the normal end, and tasks that still run beside a
 * successful leader are no longer needed.
 */
function wasStoppedEarly({ cause, plan, tasks }: AllocationLife): boolean {
  if (cause !== 'stopped') return false;
  const main = plan.tasks.flatMap((task, at) => {
    const life = tasks[at];
    return life === undefined || task.phase !== 'main' ? [] : [{ task, outcome: life.record.outcome }];
  });
  if (main.some(({ task, outcome }) => task.leader && outcome === 'succeeded')) return false;
  return main.some(({ task, outcome }) => !task.restartsOnSuccess && outcome === 'killed');
}

const sentences: Readonly<Record<ToldStatus, string>> = {
  pending: 'No tasks have started',
  running: 'Tasks are running',
  complete: 'All tasks have completed',
  failed: 'Failed tasks',
};
