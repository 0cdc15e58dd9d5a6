import type { Instant } from '../shared/instant.js';
import { madeOnce } from '../shared/remembered.js';
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

/** A person of an organization: a possible recipient of e-mail notifications. */
export interface User {
  readonly id: string;
  readonly username: string;
  /** The address for e-mail notifications. */
  readonly email: string;
  /** Only workspaces of this organization can notify the user. */
  readonly organization: string;
}

const mailAddress = madeOnce(() => /^[^\s@<>()[\]\\,;:"\p{Cc}\p{Cs}]{1,64}@[^\s@<>()[\]\\,;:"\p{Cc}\p{Cs}]{1,253}$/u);

/** Whether the string is a single bare address, `name@host`, valid in the envelope and in a header of a mail. */
export function isMailAddress(text: unknown): text is string {
  return typeof text === 'string' && mailAddress().test(text);
}

export const users = table<User>('users', (user) => [user.id], {
  by_organization: { version: 1, key: (user) => [user.organization, user.id] },
});

/** As exports have it. */
export const userWithoutAddress = (user: User): User => ({ ...user, email: `${user.id}@left-out.invalid` });

/** A rule applies to a job when all its members match. */
export interface RunNotificationRule {
  /** Workspace id that receives the run events. */
  readonly workspace: string;
  /** Namespace glob; absent means every namespace. */
  readonly namespace?: string;
  /** Job id glob; a dispatched or periodic run is matched by its parent's id. */
  readonly job?: string;
  /** Meta keys and values that the job must have; the value `*` requires only the key. */
  readonly meta?: Readonly<Record<string, string>>;
}
