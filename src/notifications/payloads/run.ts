import type { RunEvent } from '../event.js';
import type { Workspace } from '../workspace.js';

/** The body of a run notification, version 1 (notification interface, Run payload). Keys in this order, all always present. */
export interface RunPayload {
  readonly payload_version: 1;
  readonly notification_configuration_id: string;
  readonly run_url: string | null;
  readonly run_id: string | null;
  readonly run_message: string | null;
  readonly run_created_at: string | null;
  readonly run_created_by: string | null;
  readonly workspace_id: string | null;
  readonly workspace_name: string | null;
  readonly organization_name: string | null;
  readonly notifications: readonly [RunNotification];
}

export interface RunNotification {
  readonly message: string;
  readonly trigger: string;
  readonly run_status: string | null;
  readonly run_updated_at: string | null;
  readonly run_updated_by: string | null;
}

/** `trigger` is spelled as the configuration spells it. */
export function runPayload(
  configurationId: string,
  trigger: string,
  event: RunEvent,
  workspace: Workspace,
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
      },
    ],
  };
}
