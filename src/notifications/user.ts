import { madeOnce } from '../shared/remembered.js';
import { table } from '../shared/table.js';

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
