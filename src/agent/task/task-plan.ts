import type { Job } from '../../jobs/document/job.js';
import type { RestartPolicy } from '../../jobs/document/policies.js';
import type { Task } from '../../jobs/document/task.js';
import { type Milliseconds, millisecondsFromNanos, second } from '../../shared/duration.js';

/** What the agent needs to know about a task to decide its life. */
export interface TaskPlan {
  readonly name: string;
  readonly phase: TaskPhase;
  readonly leader: boolean;
  readonly restartPolicy: RestartPolicy;
  /** Whether the task runs permanently, so that it restarts after a success. */
  readonly restartsOnSuccess: boolean;
  /** With the prefix `SIG`. */
  readonly killSignal: string;
  readonly killTimeout: Milliseconds;
  readonly shutdownDelay: Milliseconds;
  /** Whether it continues when its agent ends, and can be recovered. */
  readonly survives: boolean;
}

/** Maximum kill timeout: a node never waits longer for a task to end. */
const maximumKillTimeout = 30 * second;

export function taskPlan(job: Pick<Job, 'Type'>, task: Task, survives: boolean): TaskPlan {
  const phase = taskPhase(task);
  return {
    name: task.Name,
    phase,
    leader: task.Leader,
    restartPolicy: task.RestartPolicy,
    restartsOnSuccess: restartsOnSuccess(job, phase),
    killSignal: signalName(task.KillSignal === '' ? 'SIGINT' : task.KillSignal),
    killTimeout: Math.min(millisecondsFromNanos(task.KillTimeout), maximumKillTimeout),
    shutdownDelay: millisecondsFromNanos(task.ShutdownDelay),
    survives,
  };
}

/** The full signal name in capitals; `term` and `TERM` become `SIGTERM`. */
export function signalName(text: string): string {
  const name = text.toUpperCase();
  return name.startsWith('SIG') ? name : `SIG${name}`;
}

/** When a task runs within its allocation. */
export type TaskPhase = 'prestart' | 'prestart_sidecar' | 'main' | 'poststart' | 'poststart_sidecar' | 'poststop';

export function taskPhase(task: Pick<Task, 'Lifecycle'>): TaskPhase {
  const lifecycle = task.Lifecycle;
  if (lifecycle === null) return 'main';
  switch (lifecycle.Hook) {
    case 'prestart':
      return lifecycle.Sidecar ? 'prestart_sidecar' : 'prestart';
    case 'poststart':
      return lifecycle.Sidecar ? 'poststart_sidecar' : 'poststart';
    case 'poststop':
      return 'poststop';
    default:
      return 'main';
  }
}

/** Whether a task restarts after a success: main tasks of services and sidecars run permanently. */
export function restartsOnSuccess(job: Pick<Job, 'Type'>, phase: TaskPhase): boolean {
  if (phase === 'main') return job.Type === 'service' || job.Type === 'system';
  return phase === 'prestart_sidecar' || phase === 'poststart_sidecar';
}
