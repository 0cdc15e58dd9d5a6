import { globMatches } from '../shared/values.js';
import type { DestinationKind } from './configurations/destination.js';
import { type NotificationEvent, type Obstacle, passesFilter } from './events/event.js';
import { configurationOfAlert } from './events/event-type.js';
import { spellingOf, spellingsOf, type TriggerFeature, triggerFromSpelling } from './events/trigger.js';
import type { Workspace } from './workspace.js';

/** The members of a configuration that decide whether an event notifies it. */
export interface ExplainedConfiguration {
  readonly id: string;
  readonly name: string;
  readonly kind: DestinationKind;
  readonly enabled: boolean;
  /** Triggers in any form. */
  readonly triggers: readonly string[];
  /** Recipients of e-mail, by ID. */
  readonly users: readonly string[];
  /** Event types as names or globs, and a filter expression over attributes; null accepts every event. */
  readonly options?: { readonly eventTypes: readonly string[]; readonly filter: string | null } | undefined;
}

/** Whether an event notifies one configuration, with all obstacles. */
export interface Explanation {
  readonly configurationId: string;
  readonly name: string;
  /** Whether the event notifies the configuration. */
  readonly fires: boolean;
  /** All obstacles. Empty when it fires. */
  readonly obstacles: readonly Obstacle[];
}

/**
 * For each configuration of the workspace, whether the event would notify it and if not, why (notification interface,
 * What the service does, 3 and 4, and Events).
 */
export function explain(
  event: NotificationEvent,
  workspace: Workspace,
  configurations: readonly ExplainedConfiguration[],
): Explanation[] {
  const general = obstaclesForAll(event, workspace);
  return configurations.map((configuration) => {
    const obstacles = [...general, ...obstaclesFor(event, configuration)];
    return { configurationId: configuration.id, name: configuration.name, fires: obstacles.length === 0, obstacles };
  });
}

/** The workspace's obstacles, which apply to all configurations. */
function obstaclesForAll(event: NotificationEvent, workspace: Workspace): Obstacle[] {
  const obstacles: Obstacle[] = [];
  if (event.kind === 'run' && event.speculative) obstacles.push('speculative_run');
  if (workspace.executionMode === 'local') obstacles.push('local_execution');
  const needs = triggerFromSpelling(event.trigger)?.needs ?? null;
  if (needs !== null && !hasFeature(workspace, needs)) obstacles.push('feature_off');
  return obstacles;
}

/** Whether a configuration asks for events of a trigger, whatever else keeps them from it. */
export function isSubscribed(
  trigger: string,
  { triggers, options }: Pick<ExplainedConfiguration, 'triggers' | 'options'>,
): boolean {
  if (spellingOf(trigger, triggers) !== undefined) return true;
  const names = spellingsOf(trigger);
  return options?.eventTypes.some((pattern) => names.some((name) => globMatches(pattern, name))) ?? false;
}

function hasFeature(workspace: Workspace, feature: TriggerFeature): boolean {
  switch (feature) {
    case 'drift_detection':
      return workspace.driftDetection;
    case 'health_assessments':
      return workspace.healthAssessments;
  }
}

function obstaclesFor(event: NotificationEvent, configuration: ExplainedConfiguration): Obstacle[] {
  const obstacles: Obstacle[] = [];
  if (!configuration.enabled) obstacles.push('disabled');
  if (!isSubscribed(event.trigger, configuration)) obstacles.push('trigger_off');
  const filter = configuration.options?.filter ?? null;
  if (filter !== null && !passesFilter(filter, event)) obstacles.push('filtered');
  if (configuration.kind === 'email' && configuration.users.length === 0) obstacles.push('no_recipients');
  if (event.kind === 'custom' && configurationOfAlert(event) === configuration.id) obstacles.push('about_itself');
  return obstacles;
}
