import type { CustomEvent } from '../events/event.js';
import type { WorkspaceNames } from '../workspace.js';

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
