import type { CustomEvent } from '../events/event.js';
import type { WorkspaceNames } from '../workspace.js';

/** The body of an event of a registered type, unless the type sends its data alone. */
interface CustomPayload {
  readonly type: string;
  /** When it happened: RFC 3339. */
  readonly timestamp: string;
  readonly message: string;
  readonly workspace_id: string;
  readonly workspace_name: string;
  readonly organization_name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export function customPayload(event: CustomEvent, workspace: WorkspaceNames): CustomPayload | CustomEvent['data'] {
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
