import type { Instant } from '../shared/instant.js';
import { table } from '../shared/table.js';

/** Where the runs of a workspace are executed. Events of `local` workspaces cause no notifications. */
export const executionModes = ['remote', 'agent', 'local'] as const;
/** One of `executionModes`. */
export type ExecutionMode = (typeof executionModes)[number];

/**
 * The host's description of one of its workspaces, to which configurations belong, with the members that decide whether an
 * event may cause notifications.
 */
export interface Workspace {
  readonly id: string;
  readonly name: string;
  /** The organization that it belongs to, which has no record. */
  readonly organization: string;
  /** `local` causes no notifications (notification interface, What the service does, 4). */
  readonly executionMode: ExecutionMode;
  /** Needed by the drift and check triggers. */
  readonly driftDetection: boolean;
  /** Needed by the trigger of failed assessments. */
  readonly healthAssessments: boolean;
  /** Page of the workspace for links in messages; derived from the public origin when null. */
  readonly url: string | null;
  /** When it was first stored. */
  readonly createdAt: Instant;
}

/** The members of a workspace that appear in messages. */
export type WorkspaceNames = Pick<Workspace, 'id' | 'name' | 'organization' | 'url'>;

export const workspaces = table<Workspace>('workspaces', (workspace) => [workspace.id], {
  by_organization: { version: 1, key: (workspace) => [workspace.organization, workspace.name] },
});
