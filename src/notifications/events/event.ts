import { filterCompiler } from '../../filter/compile-filter.js';
import type { Instant } from '../../shared/instant.js';
import { any, flag, struct, text } from '../../shared/schema.js';
import { table } from '../../shared/table.js';
import type { DestinationKind } from '../configurations/destination.js';
import type { AssessmentTrigger, RunTrigger, WorkspaceTrigger } from './trigger.js';

/** A run changed state. All times are RFC 3339 strings, copied into payloads unchanged. */
export interface RunEvent {
  readonly kind: 'run';
  readonly trigger: RunTrigger;
  /** The reason for the notification, for example `Run Errored`. */
  readonly message: string;
  readonly runId: string;
  /** The page of the run; null when there is none. */
  readonly runUrl: string | null;
  /** Why the run was queued. */
  readonly runMessage: string | null;
  /** RFC 3339; null when unknown. */
  readonly runCreatedAt: string | null;
  /** The name of a person or program; null when unknown. */
  readonly runCreatedBy: string | null;
  /** The new state of the run; null when unknown. */
  readonly runStatus: string | null;
  /** When the run entered this state, RFC 3339; null when unknown. */
  readonly runUpdatedAt: string | null;
  /** Null when no person moved the run. */
  readonly runUpdatedBy: string | null;
  /** Speculative runs cause no notifications. */
  readonly speculative: boolean;
  /** Picture of the creator, for chat messages. */
  readonly runCreatorAvatarUrl?: string | null;
  /** Present for runs of jobs only. */
  readonly job?: RunOfJob;
  /** The failure of a job's run. */
  readonly failure?: RunFailure;
}

/** Which task of a job's run failed, and how. */
export interface RunFailure {
  readonly allocationId: string;
  readonly group: string;
  /** Null when no task failed: the node was lost, for example. */
  readonly task: string | null;
  /** Null when the task did not end on its own. */
  readonly exitCode: number | null;
  /** Number of the signal that ended the task; null for none. */
  readonly signal: number | null;
  readonly message: string;
  /** URL of the task's error stream. */
  readonly outputUrl?: string;
  /** The task's last lines of output, without values of variables; absent when there are none. */
  readonly output?: string;
}

/** The job whose run an event is about, and how the run ended. */
export interface RunOfJob {
  readonly namespace: string;
  readonly id: string;
  /** Absent while the run is unfinished. */
  readonly outcome?: {
    readonly name: 'succeeded' | 'failed' | 'stopped' | 'timed_out' | 'lost';
    /** The display name. */
    readonly text: string;
  };
}

/** One result of a health assessment, with the field names of the payload, into which it is copied unchanged. */
export interface AssessmentResult {
  readonly id: string;
  /** URL of the result. */
  readonly url: string;
  /** Whether the assessment itself succeeded. */
  readonly succeeded: boolean;
  /** Whether resources differ from their configuration. */
  readonly drifted: boolean;
  /** Whether every check passed. */
  readonly all_checks_succeeded: boolean;
  /** How many resources differ. */
  readonly resources_drifted: number;
  /** How many resources do not differ. */
  readonly resources_undrifted: number;
  /** How many checks passed. */
  readonly checks_passed: number;
  /** How many checks failed. */
  readonly checks_failed: number;
  /** How many checks could not be evaluated. */
  readonly checks_errored: number;
  /** How many checks have no known result. */
  readonly checks_unknown: number;
  /** RFC 3339. */
  readonly created_at: string;
}

/** A health assessment found something. */
export interface AssessmentEvent {
  readonly kind: 'assessment';
  readonly trigger: AssessmentTrigger;
  readonly message: string;
  /** The result that the event is about. */
  readonly newAssessmentResult: AssessmentResult;
  /** Null for the first assessment. */
  readonly priorAssessmentResult: AssessmentResult | null;
}

/** A workspace is about to be destroyed on schedule, or its destroy run was attempted. */
export interface AutoDestroyEvent {
  readonly kind: 'auto_destroy';
  readonly trigger: WorkspaceTrigger;
  readonly message: string;
  /** Reminders only. */
  readonly autoDestroyAt: string | null;
  /** Results only; null when the run could not be created. */
  readonly runCreatedAt: string | null;
  /** Results only; null when the run could not be created. */
  readonly runStatus: string | null;
  /** Results only: the ID of the run; null when it could not be created. */
  readonly runExternalId: string | null;
  /** Why the run could not be created; null when it was, and for reminders. */
  readonly runCreateErrorMessage: string | null;
}

/** An event of a type registered by the application, or an alert of Signalbox. */
export interface CustomEvent {
  readonly kind: 'custom';
  /** The name of the type. */
  readonly trigger: string;
  readonly message: string;
  /** Matches the schema of the type. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Events with the same key keep their order at a destination; null for unordered ones. */
  readonly orderKey: string | null;
  /** RFC 3339. */
  readonly occurredAt: string;
  /** The form of the body for generic destinations; see `EventType`. */
  readonly body: 'envelope' | 'data';
}

/** An event that can cause notifications. */
export type NotificationEvent = RunEvent | AssessmentEvent | AutoDestroyEvent | CustomEvent;

/** A configuration that an event notifies: the members that its messages need, as of the event's acceptance. */
export interface NotifiedConfiguration {
  readonly id: string;
  /** `generic` when absent. */
  readonly kind?: DestinationKind;
  /** The trigger as written in the configuration; when absent, as in the event. */
  readonly trigger?: string;
  /** Only where messages show it: chat and e-mail. */
  readonly name?: string;
}

/** Why an event does not notify a configuration. */
export type Obstacle =
  | 'speculative_run'
  | 'local_execution'
  | 'feature_off'
  | 'disabled'
  | 'trigger_off'
  /** The configuration's filter rejects the event. */
  | 'filtered'
  | 'no_recipients'
  /** It is an alert about this configuration, which is not notified about itself. */
  | 'about_itself';

/** A configuration that an event does not notify, with the reasons, as of the event's acceptance. */
interface MissedConfiguration extends Pick<NotifiedConfiguration, 'id' | 'kind'> {
  readonly name: string;
  readonly obstacles: readonly Obstacle[];
}

/** The context of an event for messages; stored with the event, so that every retry of a message is identical. */
interface EventContext {
  readonly workspaceName: string;
  readonly organization: string;
  readonly workspaceUrl: string | null;
  readonly publicOrigin: string;
  readonly basePath: string;
}

/** An accepted event, with the configurations that it notifies. One row, whatever their number. */
export interface StoredEvent {
  readonly id: string;
  readonly workspaceId: string;
  /** Order of acceptance over the whole store. */
  readonly sequence: number;
  /** Its deliveries have the numbers from its sequence on. Absent in those of versions before. */
  readonly numbered?: true;
  readonly createdAt: Instant;
  readonly trigger: string;
  readonly event: NotificationEvent;
  readonly idempotencyKey: string | null;
  /** In the order of the positions in its deliveries' IDs; see `deliveryIdOf`. */
  readonly notified: readonly NotifiedConfiguration[];
  /** The other configurations of its workspace. Absent in samples, and in events of versions before. */
  readonly missed?: readonly MissedConfiguration[];
  readonly surroundings: EventContext;
  /** The trace that it belongs to; passed on by its messages. */
  readonly traceparent?: string;
  /** When its content was erased. */
  readonly erasedAt?: Instant;
  /** An example that was sent to one configuration, at the request of a user. */
  readonly sample?: true;
}

export const events = table<StoredEvent>(
  'notification_events',
  (event) => [event.sequence],
  {
    by_workspace: { version: 1, key: ({ workspaceId, sequence }) => [workspaceId, sequence], lazy: 128 },
    by_idempotency: {
      version: 1,
      key: ({ workspaceId, idempotencyKey, sequence }) =>
        idempotencyKey === null ? undefined : [workspaceId, idempotencyKey, sequence],
    },
  },
  { grows: true, numbered: true },
);

/** Sequences for each index; keeps them safe integers for 2^41 writes. An event takes one for each of its deliveries. */
export const sequencesPerIndex = 4096;

/** The first sequence of the write with this index; its events count on from there. */
export function firstSequenceOf(writeIndex: number): number {
  return writeIndex * sequencesPerIndex;
}

/** Notifications with the same key keep their order at a destination: those of one run, or of one order key. Null for events without an order. */
export function orderKeyOf(event: NotificationEvent): string | null {
  if (event.kind === 'run') return event.runId;
  return event.kind === 'custom' ? event.orderKey : null;
}

/**
 * Whether an event contradicts another one. Members that are null, false or absent contradict nothing: a sender may repeat an
 * event with fewer members.
 */
export function contradicts(event: NotificationEvent, other: NotificationEvent): boolean {
  // Without a time from the sender, `occurredAt` is the time of each report. The form of the body comes from the type, which may
  // have changed since.
  return differs(event.kind === 'custom' ? { ...event, occurredAt: null, body: null } : event, other);
}

function differs(value: unknown, other: unknown): boolean {
  if (value === null || value === undefined || value === false) return false;
  if (typeof value !== 'object') return value !== other;
  if (typeof other !== 'object' || other === null) return true;
  const there = other as Readonly<Record<string, unknown>>;
  return Object.entries(value).some(([name, member]) =>
    differs(member, Object.hasOwn(there, name) ? there[name] : null),
  );
}

/** The event attributes that a configuration's filter may use. */
const eventSchema = struct({
  trigger: text,
  message: text,
  run_id: text,
  run_job: any,
  run_url: text,
  run_message: text,
  run_created_by: text,
  run_status: text,
  run_updated_by: text,
  new_assessment_result: any,
  prior_assessment_result: any,
  run_external_id: text,
  run_create_error_message: text,
  speculative: flag,
  data: any,
});

const compile = filterCompiler(eventSchema);

/** The longest filter of a configuration. */
const longest = 4096;

/** The fault of a filter, as the end of a sentence; null when it is valid. */
export function filterProblem(expression: string): string | null {
  if (expression.length > longest) return `must have at most ${longest} characters`;
  return compile(expression).match(
    () => null,
    ({ message }) => `is not a valid expression: ${message}`,
  );
}

/** Whether the event matches a filter. A filter that fails because the event lacks an attribute does not match. */
export function passesFilter(expression: string, event: NotificationEvent): boolean {
  return compile(expression)
    .andThen(({ matches }) => matches(eventRecord(event)))
    .unwrapOr(false);
}

/** The event as a record of named attributes, for filters. */
export function eventRecord(event: NotificationEvent): Readonly<Record<string, unknown>> {
  const { trigger, message } = event;
  switch (event.kind) {
    case 'run':
      return {
        trigger,
        message,
        run_id: event.runId,
        ...(event.job && { run_job: { namespace: event.job.namespace, id: event.job.id } }),
        run_url: event.runUrl,
        run_message: event.runMessage,
        run_created_by: event.runCreatedBy,
        run_status: event.runStatus,
        run_updated_by: event.runUpdatedBy,
        speculative: event.speculative,
        data: event.failure === undefined ? null : { failure: event.failure },
      };
    case 'assessment':
      return {
        trigger,
        message,
        new_assessment_result: event.newAssessmentResult,
        prior_assessment_result: event.priorAssessmentResult,
      };
    case 'auto_destroy':
      return {
        trigger,
        message,
        run_status: event.runStatus,
        run_external_id: event.runExternalId,
        run_create_error_message: event.runCreateErrorMessage,
      };
    case 'custom':
      return { trigger, message, data: event.data };
  }
}
