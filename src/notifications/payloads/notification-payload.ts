import type { AssessmentPayload } from './assessment.js';
import type { AutoDestroyPayload } from './auto-destroy.js';
import type { RunPayload } from './run.js';

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
