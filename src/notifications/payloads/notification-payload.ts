import type {
  AssessmentEvent,
  AssessmentResult,
  AutoDestroyEvent,
  CustomEvent,
  RunEvent,
  RunFailure,
  RunOfJob,
} from '../events/event.js';
import type { WorkspaceNames } from '../workspace.js';

/** Every body that a generic destination can receive. Distinguish them by `payload_version`, then by `trigger_scope`. */
export type NotificationPayload = RunPayload | AssessmentPayload | AutoDestroyPayload;

/** A run notification whose only notification is the probe of a configuration. */
export function isVerification(payload: NotificationPayload): boolean {
  return payload.payload_version === 1 && payload.notifications[0]?.trigger === 'verification';
}

/** Whether the payload reports a run, or is a verification request. */
export function isRunPayload(payload: NotificationPayload): payload is RunPayload {
  return payload.payload_version === 1;
}

/** Whether the payload reports a health assessment. */
export function isAssessmentPayload(payload: NotificationPayload): payload is AssessmentPayload {
  return payload.payload_version === 2;
}

/** Whether the payload reports the destruction of a workspace. */
export function isAutoDestroyPayload(payload: NotificationPayload): payload is AutoDestroyPayload {
  return payload.payload_version === '2';
}

/** The body of a run notification, version 1 (notification interface, Run payload). Keys in this order, all always present. */
export interface RunPayload {
  readonly payload_version: 1;
  /** The configuration that is notified. */
  readonly notification_configuration_id: string;
  /** The page of the run; null when there is none. */
  readonly run_url: string | null;
  /** The run; null in a verification request, as are the other members about runs and workspaces. */
  readonly run_id: string | null;
  /** Why the run was queued; null when unknown. */
  readonly run_message: string | null;
  /** RFC 3339. */
  readonly run_created_at: string | null;
  /** The name of a person or program; null when unknown. */
  readonly run_created_by: string | null;
  readonly workspace_id: string | null;
  readonly workspace_name: string | null;
  readonly organization_name: string | null;
  /** Always one entry. */
  readonly notifications: readonly [RunNotification];
}

/** One entry of the payload of a run. */
export interface RunNotification {
  /** What happened, as a sentence for people. */
  readonly message: string;
  /** The trigger, as written in the configuration. */
  readonly trigger: string;
  /** The new state of the run; null when unknown. */
  readonly run_status: string | null;
  /** When the run entered this state, in RFC 3339; null when unknown. */
  readonly run_updated_at: string | null;
  /** The name of the person who changed the state; null when no person did. */
  readonly run_updated_by: string | null;
  /** The job, for the run of a job; the function, for that of a function. */
  readonly run_job?: { readonly namespace: string; readonly id: string };
  /** How the run of a job or function ended. */
  readonly run_outcome?: NonNullable<RunOfJob['outcome']>['name'];
  /** Present for failed runs of jobs only. */
  readonly run_failure?: {
    readonly allocation_id: string;
    readonly task_group: string;
    readonly task: string | null;
    readonly exit_code: number | null;
    readonly signal: number | null;
    readonly message: string;
    /** URL of the task's error stream. */
    readonly output_url?: string;
    /** The last lines that the task printed, without values of variables. */
    readonly output?: string;
  };
}

/** `trigger` is as written in the configuration. */
export function runPayload(
  configurationId: string,
  trigger: string,
  event: RunEvent,
  workspace: WorkspaceNames,
): RunPayload {
  return {
    payload_version: 1,
    notification_configuration_id: configurationId,
    run_url: event.runUrl,
    run_id: event.runId,
    run_message: event.runMessage,
    run_created_at: event.runCreatedAt,
    run_created_by: event.runCreatedBy,
    workspace_id: workspace.id,
    workspace_name: workspace.name,
    organization_name: workspace.organization,
    notifications: [
      {
        message: event.message,
        trigger,
        run_status: event.runStatus,
        run_updated_at: event.runUpdatedAt,
        run_updated_by: event.runUpdatedBy,
        ...(event.job === undefined ? {} : jobMembers(event.job)),
        ...(event.failure === undefined ? {} : { run_failure: failureMember(event.failure) }),
      },
    ],
  };
}

function jobMembers({ namespace, id, outcome }: RunOfJob) {
  return { run_job: { namespace, id }, ...(outcome === undefined ? {} : { run_outcome: outcome.name }) };
}

function failureMember({ allocationId, group, task, exitCode, signal, message, outputUrl, output }: RunFailure) {
  const member = { allocation_id: allocationId, task_group: group, task, exit_code: exitCode, signal, message };
  return {
    ...member,
    ...(outputUrl === undefined ? {} : { output_url: outputUrl }),
    ...(output === undefined ? {} : { output }),
  };
}

/** The body of a health assessment notification, version 2 as a number (notification interface, Health assessment payload). */
export interface AssessmentPayload {
  readonly payload_version: 2;
  /** The configuration that is notified. */
  readonly notification_configuration_id: string;
  /** Path of the configuration. */
  readonly notification_configuration_url: string;
  readonly trigger_scope: 'assessment';
  /** The trigger, as written in the configuration. */
  readonly trigger: string;
  /** The finding, as a sentence for people. */
  readonly message: string;
  readonly details: {
    /** The result that the notification is about. */
    readonly new_assessment_result: AssessmentResult;
    /** The previous result; null for the first. */
    readonly prior_assessment_result: AssessmentResult | null;
    readonly workspace_id: string;
    readonly workspace_name: string;
    readonly organization_name: string;
  };
}

export function assessmentPayload(
  configuration: { readonly id: string; readonly url: string },
  trigger: string,
  event: AssessmentEvent,
  workspace: WorkspaceNames,
): AssessmentPayload {
  return {
    payload_version: 2,
    notification_configuration_id: configuration.id,
    notification_configuration_url: configuration.url,
    trigger_scope: 'assessment',
    trigger,
    message: event.message,
    details: {
      new_assessment_result: inOrder(event.newAssessmentResult),
      prior_assessment_result: event.priorAssessmentResult === null ? null : inOrder(event.priorAssessmentResult),
      workspace_id: workspace.id,
      workspace_name: workspace.name,
      organization_name: workspace.organization,
    },
  };
}

/** Exactly the interface's members, in a fixed order, without further members of the host's object. */
function inOrder(result: AssessmentResult): AssessmentResult {
  return {
    id: result.id,
    url: result.url,
    succeeded: result.succeeded,
    drifted: result.drifted,
    all_checks_succeeded: result.all_checks_succeeded,
    resources_drifted: result.resources_drifted,
    resources_undrifted: result.resources_undrifted,
    checks_passed: result.checks_passed,
    checks_failed: result.checks_failed,
    checks_errored: result.checks_errored,
    checks_unknown: result.checks_unknown,
    created_at: result.created_at,
  };
}

/** The body of an auto destroy notification, version 2 as a string (notification interface, Auto destroy payload). */
export interface AutoDestroyPayload {
  readonly payload_version: '2';
  /** The configuration that is notified. */
  readonly notification_configuration_id: string;
  /** Path of the configuration. */
  readonly notification_configuration_url: string;
  readonly trigger_scope: 'workspace';
  /** The trigger, as written in the configuration. */
  readonly trigger: string;
  /** The event, as a sentence for people. */
  readonly message: string;
  readonly details: {
    /** Reminders only: the due time, in RFC 3339. */
    readonly auto_destroy_at: string | null;
    /** Results only: when the run was created, in RFC 3339. */
    readonly run_created_at: string | null;
    /** Results only: the status of the run. */
    readonly run_status: string | null;
    /** Results only: the ID of the run. */
    readonly run_external_id: string | null;
    /** Results only: why no run could be created; null when one was. */
    readonly run_create_error_message: string | null;
    /** Whether it is announced (`reminder`) or over (`results`). */
    readonly trigger_type: 'reminder' | 'results';
    readonly workspace_name: string;
    readonly organization_name: string;
  };
}

/** Members of the other kind (reminder or results) are always null. */
export function autoDestroyPayload(
  configuration: { readonly id: string; readonly url: string },
  trigger: string,
  event: AutoDestroyEvent,
  workspace: WorkspaceNames,
): AutoDestroyPayload {
  const reminder = event.trigger === 'workspace:auto_destro_reminder';
  return {
    payload_version: '2',
    notification_configuration_id: configuration.id,
    notification_configuration_url: configuration.url,
    trigger_scope: 'workspace',
    trigger,
    message: event.message,
    details: {
      auto_destroy_at: reminder ? event.autoDestroyAt : null,
      run_created_at: reminder ? null : event.runCreatedAt,
      run_status: reminder ? null : event.runStatus,
      run_external_id: reminder ? null : event.runExternalId,
      run_create_error_message: reminder ? null : event.runCreateErrorMessage,
      trigger_type: reminder ? 'reminder' : 'results',
      workspace_name: workspace.name,
      organization_name: workspace.organization,
    },
  };
}

/** The body of an alert, or of an event of a registered type with the body `envelope`. */
export interface OwnEventPayload {
  /** The name of the event type. */
  readonly type: string;
  /** When it happened: RFC 3339. */
  readonly timestamp: string;
  /** The event, as a sentence for people. */
  readonly message: string;
  /** The workspace of the event. */
  readonly workspace_id: string;
  readonly workspace_name: string;
  readonly organization_name: string;
  /** The data as reported. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Whether a body belongs to an event of a registered type or to an alert. */
export function isOwnEventPayload(body: unknown): body is OwnEventPayload {
  if (typeof body !== 'object' || body === null) return false;
  const { type, timestamp, message, data } = body as Partial<Record<keyof OwnEventPayload, unknown>>;
  const isEnvelope = [type, timestamp, message].every((member) => typeof member === 'string');
  return isEnvelope && typeof data === 'object' && data !== null;
}

export function customPayload(event: CustomEvent, workspace: WorkspaceNames): OwnEventPayload | CustomEvent['data'] {
  if (event.body === 'data') return event.data;
  return {
    type: event.trigger,
    timestamp: event.occurredAt,
    message: event.message,
    workspace_id: workspace.id,
    workspace_name: workspace.name,
    organization_name: workspace.organization,
    data: event.data,
  };
}
