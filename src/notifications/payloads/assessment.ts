import type { AssessmentEvent, AssessmentResult } from '../events/event.js';
import type { WorkspaceNames } from '../workspace.js';

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
