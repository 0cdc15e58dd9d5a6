import { table } from '../shared/table.js';

/** A person of an organization: a possible recipient of e-mail notifications. */
export interface User {
  readonly id: string;
  readonly username: string;
  /** Where e-mail notifications go. */
  readonly email: string;
  /** Only workspaces of this organization can notify the user. */
  readonly organization: string;
}

export const users = table<User>('users', (user) => [user.id], {
  by_organization: { version: 1, key: (user) => [user.organization, user.id] },
});
