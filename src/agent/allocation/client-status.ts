import type { ClientStatus, TaskState } from '../../scheduler/allocation.js';

/** The status of an allocation by those of its tasks (job interface, allocation life). */
export function clientStatusOf(
  states: Readonly<Record<string, TaskState>>,
): Extract<ClientStatus, 'pending' | 'running' | 'complete' | 'failed'> {
  const all = Object.values(states);
  if (all.some((state) => state.State === 'dead' && state.Failed)) return 'failed';
  if (all.some((state) => state.State === 'running')) return 'running';
  if (all.length === 0 || all.some((state) => state.State === 'pending')) return 'pending';
  return 'complete';
}

const sentences = {
  pending: 'No tasks have started',
  running: 'Tasks are running',
  complete: 'All tasks have completed',
  failed: 'Failed tasks',
} as const;

export function clientDescriptionOf(status: keyof typeof sentences): string {
  return sentences[status];
}
