import { nodePoolName, recordId } from '../options/option-kinds.js';
import { hour, type Milliseconds, minute } from '../shared/duration.js';
import type { Instant } from '../shared/instant.js';
import { table } from '../shared/table.js';
import type { NamespaceRule, NodeIdentity, WorkspaceRight } from './principal.js';

/**
 * A stored token. Its rights come from its policies, its roles and its own rules. The secret is never stored in the
 * clear: `secretHash` is its SHA-256 in lower-case hex, the key by which it is found.
 */
export interface StoredToken {
  readonly accessor: string;
  readonly secretHash: string;
  /** The encrypted secret, so that management callers can read it; absent if the host configured no cipher. */
  readonly sealedSecret?: string;
  readonly name: string;
  readonly management: boolean;
  readonly namespaces: Readonly<Record<string, NamespaceRule>>;
  readonly workspaces: Readonly<Record<string, WorkspaceRight>>;
  /** Names of policies, which need not exist. */
  readonly policies?: readonly string[];
  /** IDs of roles; removed roles are ignored. */
  readonly roles?: readonly string[];
  /** Set for the token of a node's agent, which has no other rights. */
  readonly node?: NodeIdentity;
  /** Whether it is valid in every region; fixed at creation. There is only one region. See `isGlobal` when absent. */
  readonly global?: boolean;
  readonly createdAt: Instant;
  /** From then on the token is not valid. */
  readonly expiresAt?: Instant;
  /** The lifetime from which the expiry was computed. */
  readonly lifetime?: Milliseconds;
  /** Digest of the written content, in base64. */
  readonly hash?: string;
  /** Index of the write that created it; absent in records of the first version. */
  readonly madeAt?: number;
}

export const tokens = table<StoredToken>('tokens', (token) => [token.accessor], {
  by_secret: { version: 1, key: (token) => [token.secretHash] },
  by_create: { version: 1, key: ({ madeAt = 0, accessor }) => [madeAt, accessor] },
  by_expiry: {
    version: 1,
    key: ({ expiresAt, accessor }) => (expiresAt === undefined ? undefined : [expiresAt, accessor]),
  },
  by_node: { version: 1, key: ({ node, accessor }) => (node?.id === undefined ? undefined : [node.id, accessor]) },
  by_management: { version: 1, key: ({ management, accessor }) => (management ? [accessor] : undefined) },
});

/** The writable part of a token. */
export interface TokenChoice {
  readonly name: string;
  /** `client`, `management` or `node`; anything else is refused. */
  readonly type: string;
  /** Node and pool of a node token, as far as the caller gives them; only node tokens have it. */
  readonly nodeId?: string;
  readonly nodePool?: string;
  readonly policies: readonly string[];
  /** Number of roles. */
  readonly roleCount: number;
  /** Rights on workspaces as given. */
  readonly workspaces: Readonly<Record<string, string>>;
  readonly global: boolean;
  readonly lifetime: Milliseconds | undefined;
  readonly expiresAt: Instant | undefined;
}

const shortestLifetime = minute;
const longestLifetime = 24 * hour;

interface TokenBounds {
  readonly createdAt: Instant;
  /** The stored token, for a change. */
  readonly before: StoredToken | undefined;
}

/** All problems of a token, in order; empty if it may be stored. `spelled` formats a duration. */
export function tokenFaults(
  choice: TokenChoice,
  { createdAt, before }: TokenBounds,
  spelled: (duration: Milliseconds) => string,
): readonly string[] {
  const faults: string[] = [];
  if (choice.name.length > 256) faults.push('token name too long');
  const granted = choice.policies.length + choice.roleCount;
  const rights = Object.keys(choice.workspaces).length;
  faults.push(...workspaceFaults(choice));
  if (choice.type === 'client') {
    if (granted + rights === 0) faults.push('client token missing policies or roles');
  } else if (choice.type === 'management') {
    if (granted > 0) faults.push('management token cannot be associated with policies or roles');
  } else if (choice.type === 'node') {
    if (granted + rights > 0) faults.push('node token cannot be associated with policies or roles');
    faults.push(...nodeFaults(choice));
  } else {
    faults.push('token type must be client or management');
  }
  if (choice.type !== 'node' && (choice.nodeId !== undefined || choice.nodePool !== undefined)) {
    faults.push('only a node token has a node ID or a node pool');
  }
  faults.push(...(before === undefined ? lifetimeFaults(choice, createdAt, spelled) : changeFaults(choice, before)));
  return faults;
}

function nodeFaults({ nodeId, nodePool }: TokenChoice): readonly string[] {
  const faults: string[] = [];
  if (nodeId !== undefined && !recordId.fits(nodeId)) faults.push(`node ID must be ${recordId.takes}`);
  if (nodePool !== undefined && !nodePoolName.fits(nodePool)) faults.push(`node pool must be ${nodePoolName.takes}`);
  return faults;
}

function workspaceFaults({ workspaces, type }: TokenChoice): readonly string[] {
  const entries = Object.entries(workspaces);
  const unfit = entries.some(([id, right]) => !isWorkspaceRight(right) || id === '' || id.length > 255);
  return [
    ...(unfit ? ['rights on workspaces are admin or events, by the ID of the workspace'] : []),
    ...(entries.length > 0 && type === 'management' ? ['management token has every right on workspaces already'] : []),
  ];
}

export function isWorkspaceRight(text: string): text is WorkspaceRight {
  return text === 'admin' || text === 'events';
}

function lifetimeFaults(
  { lifetime, expiresAt }: TokenChoice,
  createdAt: Instant,
  spelled: (duration: Milliseconds) => string,
): readonly string[] {
  const faults: string[] = [];
  if (lifetime !== undefined && lifetime < 0)
    faults.push(`token expiration TTL '${spelled(lifetime)}' should not be negative`);
  if (expiresAt === undefined) return faults;
  const left = expiresAt - createdAt;
  if (left < 0) faults.push('expiration time cannot be before create time');
  if (left < shortestLifetime) {
    faults.push(
      `expiration time cannot be less than ${spelled(shortestLifetime)} in the future (was ${spelled(left)})`,
    );
  }
  if (left > longestLifetime) {
    faults.push(`expiration time cannot be more than ${spelled(longestLifetime)} in the future (was ${spelled(left)})`);
  }
  return faults;
}

function changeFaults({ type, global, lifetime, expiresAt }: TokenChoice, before: StoredToken): readonly string[] {
  const faults: string[] = [];
  if ((type === 'node') !== (before.node !== undefined))
    faults.push('cannot make a node token of another, or the reverse');
  if (global !== isGlobal(before)) faults.push('cannot toggle global mode');
  if (lifetime !== before.lifetime) faults.push('cannot update expiration TTL');
  if (expiresAt !== before.expiresAt) faults.push('cannot update expiration time');
  return faults;
}

/** Tokens defined by the host do not set `global`: management tokens count as global, like a server's first token. */
export function isGlobal({ global, management }: StoredToken): boolean {
  return global ?? management;
}

export function isExpired(token: StoredToken, now: Instant): boolean {
  return token.expiresAt !== undefined && token.expiresAt <= now;
}

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
