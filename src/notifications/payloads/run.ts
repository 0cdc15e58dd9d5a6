import type { RunEvent, RunFailure, RunOfJob } from '../events/event.js';
import type { WorkspaceNames } from '../workspace.js';

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
