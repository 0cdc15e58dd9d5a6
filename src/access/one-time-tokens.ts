import { minute } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';
import { table } from '../shared/table.js';

/** How long a one-time token can be exchanged. */
export const oneTimeLifetime = 10 * minute;

/**
 * A one-time token: its holder signs in elsewhere once, without revealing the secret of the token behind it. Each token has at most
 * one; a new one replaces it. `secretHash` is the SHA-256 of its secret in lower-case hex.
 */
interface StoredOneTimeToken {
  readonly accessor: string;
  readonly secretHash: string;
  /** The secret of the token, encrypted with the one-time secret, which is not stored. */
  readonly sealedSecret: string;
  /** From this time on it cannot be exchanged. */
  readonly expiresAt: Instant;
}

export const oneTimeTokens = table<StoredOneTimeToken>('one_time_tokens', ({ accessor }) => [accessor], {
  by_secret: { version: 1, key: ({ secretHash }) => [secretHash] },
  by_expiry: { version: 1, key: ({ expiresAt, accessor }) => [expiresAt, accessor] },
});

/** A one-time token as it is returned to its creator. */
export interface OneTimeToken {
  /** The secret that is exchanged for the token. */
  readonly OneTimeSecretID: string;
  /** The token that it is exchanged for. */
  readonly AccessorID: string;
  /** RFC 3339; ten minutes after its creation. */
  readonly ExpiresAt: string;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}
