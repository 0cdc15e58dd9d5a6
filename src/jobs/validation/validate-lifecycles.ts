import type { Job } from '../document/job.js';
import type { Service } from '../document/service.js';
import type { Task } from '../document/task.js';
import type { TaskGroup } from '../document/task-group.js';
import { type Report, within } from './problems.js';

/** Refuses orders of tasks in which the main tasks never run, never stay up, or never become healthy. */
export function validateLifecycles(group: TaskGroup, job: Pick<Job, 'Type'>, report: Report): void {
  if (group.Tasks.length > 0 && group.Tasks.every((task) => task.Lifecycle !== null)) {
    report('at least one task must have no lifecycle block');
  }
  for (const task of group.Tasks) {
    if (task.Leader) validateLeader(task, job.Type, within(report, 'task', task.Name));
  }
  if (group.Update?.HealthCheck === 'checks') validateHealthChecks(group, report);
}

/** The end of the leader ends the other tasks. A prestart task as leader is accepted, as recorded answers of Nomad have it. */
function validateLeader(task: Task, jobType: string, report: Report): void {
  if (!runsBriefly(task)) return;
  const hook = task.Lifecycle?.Hook;
  if (hook === 'poststop') {
    report('a poststop task cannot be the leader: it starts when the other tasks have ended');
  } else if (hook === 'poststart' && (jobType === 'service' || jobType === 'system')) {
    report('a poststart task without sidecar cannot be the leader: its end would end the main tasks');
  }
}

/** Checks run while their task runs, and a deployment counts on all of them for as long as the main tasks run. */
function validateHealthChecks(group: TaskGroup, report: Report): void {
  const brief = new Set(group.Tasks.filter(runsBriefly).map(({ Name }) => Name));
  if (brief.size === 0) return;
  const validate = (service: Service, owner: string, at: Report): void => {
    for (const check of service.Checks ?? []) {
      const task = owner || check.TaskName || service.TaskName;
      if (check.OnUpdate === 'ignore' || !brief.has(task)) continue;
      within(
        at,
        'check',
        check.Name,
      )(
        `the task ${JSON.stringify(task)} does not run beside the main tasks, so a deployment never becomes healthy: set on_update to "ignore", or health_check of the update to "task_states"`,
      );
    }
  };
  for (const service of group.Services ?? []) validate(service, '', within(report, 'service', service.Name));
  for (const task of group.Tasks) {
    const at = within(report, 'task', task.Name);
    for (const service of task.Services ?? []) validate(service, task.Name, within(at, 'service', service.Name));
  }
}

/** A task that ends before the main tasks do, or begins after them. */
function runsBriefly({ Lifecycle }: Task): boolean {
  return Lifecycle !== null && (Lifecycle.Hook === 'poststop' || !Lifecycle.Sidecar);
}
