import type { AutoDestroyEvent } from '../events/event.js';
import type { WorkspaceNames } from '../workspace.js';

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
