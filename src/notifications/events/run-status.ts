import type { RunTrigger } from './trigger.js';

/** Trigger and message of a run status. */
export interface RunStatusNotification {
  readonly trigger: RunTrigger;
  readonly message: string;
}

const say = (trigger: RunTrigger, message: string): RunStatusNotification => ({ trigger, message });
const confirm = say('run:needs_attention', 'Run Planned - Needs Confirmation');
const policy = say('run:needs_attention', 'Run Policy Check - Needs Override');

const byStatus: Readonly<Record<string, RunStatusNotification>> = {
  pending: say('run:created', 'Run Created'),
  planning: say('run:planning', 'Run Planning'),
  planned: confirm,
  cost_estimated: confirm,
  policy_checked: confirm,
  post_plan_completed: confirm,
  policy_override: policy,
  policy_soft_failed: policy,
  post_plan_awaiting_decision: say('run:needs_attention', 'Run Tasks Finished - Needs Decision'),
  planned_and_saved: say('run:needs_attention', 'Run Plan Saved - Needs Confirmation'),
  applying: say('run:applying', 'Run Applying'),
  applied: say('run:completed', 'Run Applied'),
  planned_and_finished: say('run:completed', 'Run Planned and Finished'),
  errored: say('run:errored', 'Run Errored'),
  canceled: say('run:errored', 'Run Canceled'),
  force_canceled: say('run:errored', 'Run Canceled'),
};

/** Statuses that wait for a person only when the plan has changes and is not applied automatically. */
const pausing: ReadonlySet<string> = new Set(['planned', 'cost_estimated', 'policy_checked', 'post_plan_completed']);

/**
 * The trigger and message for a run that reached a status; null for a status without notifications (`discarded`, intermediate
 * and unknown ones). `waits`: the run now waits for a user; it is used only for statuses that may continue without one.
 */
export function notificationForRunStatus(status: string, waits: boolean): RunStatusNotification | null {
  if (pausing.has(status) && !waits) return null;
  return Object.hasOwn(byStatus, status) ? (byStatus[status] as RunStatusNotification) : null;
}
