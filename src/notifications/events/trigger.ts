/** Which payload a trigger's notifications carry (notification interface, Events). */
export type TriggerScope = 'run' | 'assessment' | 'workspace';

/** What the workspace must have switched on before a trigger can fire. */
export type TriggerFeature = 'drift_detection' | 'health_assessments';

/** A kind of event of the notification interface. */
export interface TriggerDefinition {
  /** The canonical value. */
  readonly value: string;
  /** Other forms of the same trigger; all are accepted, and each configuration keeps the one it was given. */
  readonly aliases: readonly string[];
  /** What its events are about, which decides the payload. */
  readonly scope: TriggerScope;
  /** For people. */
  readonly displayName: string;
  /** What the workspace must have switched on; null for nothing. */
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
/** The canonical form of a trigger; `triggerFromSpelling` knows the others. */
export type Trigger = RunTrigger | AssessmentTrigger | WorkspaceTrigger;

/** How a trigger may be written. */
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

/** Every trigger of the notification interface, in its order. The misspelled name of the reminder is the one that the interface has. */
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

/** The trigger that a form means; undefined for an unknown one. */
export function triggerFromSpelling(spelling: string): (TriggerDefinition & { readonly value: Trigger }) | undefined {
  return bySpelling.get(spelling);
}

/** Every form of every trigger. */
export const triggerSpellings: readonly string[] = [...bySpelling.keys()];

/** Every way to write the name of an event's trigger; the name of an event type has one. */
export function spellingsOf(trigger: string): readonly string[] {
  const definition = bySpelling.get(trigger);
  return definition === undefined ? [trigger] : [definition.value, ...definition.aliases];
}

/** How a list of forms writes the trigger; undefined when the trigger is not in the list. */
export function spellingOf(trigger: string, spellings: readonly string[]): string | undefined {
  return spellings.find((spelling) => bySpelling.get(spelling)?.value === trigger);
}
