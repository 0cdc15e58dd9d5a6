import { table } from '../shared/table.js';

/** A person of an organization: a possible recipient of e-mail notifications. */
export interface User {
  readonly id: string;
  readonly username: string;
  readonly email: string;
  readonly organization: string;
}

export const users = table<User>('users', (user) => [user.id], {
  by_organization: { version: 1, key: (user) => [user.organization, user.id] },
});
