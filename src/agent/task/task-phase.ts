import type { Job } from '../../jobs/document/job.js';
import type { Task } from '../../jobs/document/task.js';

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
