/** Which payload a trigger's notifications carry (notification interface, Events). */
export type TriggerScope = 'run' | 'assessment' | 'workspace';

/** A workspace feature that a trigger requires. */
export type TriggerFeature = 'drift_detection' | 'health_assessments';

/** A kind of event of the notification interface. */
export interface TriggerDefinition {
  /** The canonical value. */
  readonly value: string;
  /** Other forms of the same trigger; all are accepted, and each configuration keeps the one it was given. */
  readonly aliases: readonly string[];
  /** The subject of its events; decides the payload. */
  readonly scope: TriggerScope;
  /** Display name. */
  readonly displayName: string;
  /** The workspace feature that it requires; null for none. */
  readonly needs: TriggerFeature | null;
}

/** Triggers of events of runs, in their canonical form. */
export type RunTrigger =
  | 'run:created'
  | 'run:planning'
  | 'run:needs_attention'
  | 'run:applying'
  | 'run:completed'
  | 'run:errored';
/** Triggers of events of health assessments, in their canonical form. */
export type AssessmentTrigger = 'assessment:drifted' | 'assessment:check_failure' | 'assessment:failed';
/** Triggers of events about the destruction of a workspace, in their canonical form. */
export type WorkspaceTrigger = 'workspace:auto_destro_reminder' | 'workspace:auto_destroy_run_results';
/** The canonical form of a trigger; `triggerFromSpelling` maps all forms to it. */
export type Trigger = RunTrigger | AssessmentTrigger | WorkspaceTrigger;

/** All accepted forms of a trigger. */
export type TriggerSpelling = Trigger | 'workspace:auto_destroy_reminder';

function define<V extends Trigger>(
  value: V,
  scope: TriggerScope,
  displayName: string,
  {
    needs = null,
    aliases = [],
  }: { readonly needs?: TriggerFeature | null; readonly aliases?: readonly TriggerSpelling[] } = {},
): TriggerDefinition & { readonly value: V } {
  return { value, aliases, scope, displayName, needs };
}

/** Every trigger of the notification interface, in its order. The misspelled name of the reminder is that of the interface. */
export const triggerDefinitions = [
  define('run:created', 'run', 'Created'),
  define('run:planning', 'run', 'Planning'),
  define('run:needs_attention', 'run', 'Needs Attention'),
  define('run:applying', 'run', 'Applying'),
  define('run:completed', 'run', 'Completed'),
  define('run:errored', 'run', 'Errored'),
  define('assessment:drifted', 'assessment', 'Drifted', { needs: 'drift_detection' }),
  define('assessment:check_failure', 'assessment', 'Checks Failed', { needs: 'drift_detection' }),
  define('assessment:failed', 'assessment', 'Health Assessment Failed', { needs: 'health_assessments' }),
  define('workspace:auto_destro_reminder', 'workspace', 'Auto Destroy Reminder', {
    aliases: ['workspace:auto_destroy_reminder'],
  }),
  define('workspace:auto_destroy_run_results', 'workspace', 'Auto Destroy Results'),
] as const satisfies readonly TriggerDefinition[];

const bySpelling: ReadonlyMap<string, (typeof triggerDefinitions)[number]> = new Map(
  triggerDefinitions.flatMap((definition) =>
    [definition.value, ...definition.aliases].map((spelling) => [spelling, definition] as const),
  ),
);

/** The trigger of a form; undefined for an unknown one. */
export function triggerFromSpelling(spelling: string): (TriggerDefinition & { readonly value: Trigger }) | undefined {
  return bySpelling.get(spelling);
}

/** Every form of every trigger. */
export const triggerSpellings: readonly string[] = [...bySpelling.keys()];

/** All forms of an event's trigger; the name of an event type has only one. */
export function spellingsOf(trigger: string): readonly string[] {
  const definition = bySpelling.get(trigger);
  return definition === undefined ? [trigger] : [definition.value, ...definition.aliases];
}

/** The form of the trigger in a list; undefined when the list does not contain the trigger. */
export function spellingOf(trigger: string, spellings: readonly string[]): string | undefined {
  return spellings.find((spelling) => bySpelling.get(spelling)?.value === trigger);
}

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
