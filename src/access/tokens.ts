import { nodePoolName, recordId } from '../options/option-kinds.js';
import { durationTextFromNanos, hour, type Milliseconds, minute } from '../shared/duration.js';
import { type Instant, isoFromInstant } from '../shared/instant.js';
import { table } from '../shared/table.js';
import { mergePolicies } from './allows.js';
import { anonymousPolicy, coversWorkload, rulesOf, type StoredPolicy, type StoredRole } from './policy-record.js';
import {
  anonymousPrincipal,
  type NamespaceRule,
  type NodeIdentity,
  type Principal,
  type Workload,
  type WorkspaceRight,
} from './principal.js';

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
  /** The limits of its rights `portal`. */
  readonly portal?: NonNullable<Principal['portal']>;
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
function isGlobal({ global, management }: StoredToken): boolean {
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

/**
 * A session: the holder of a token has its rights without presenting it, until `expiresAt` and while the token is valid. `secretHash` is the
 * SHA-256 of its secret in lower-case hex.
 */
interface StoredSession {
  readonly secretHash: string;
  /** `secretHash` of the token: a later token with the same accessor is another one. */
  readonly tokenHash: string;
  /** Index of the write that created it. */
  readonly madeAt: number;
  /** At most the expiry of the token, which never changes. */
  readonly expiresAt: Instant;
}

export const sessions = table<StoredSession>('sessions', ({ secretHash }) => [secretHash], {
  by_token: { version: 1, key: ({ tokenHash, madeAt }) => [tokenHash, madeAt] },
  by_expiry: { version: 1, key: ({ expiresAt, secretHash }) => [expiresAt, secretHash] },
});

/** A role that a token has. */
export interface RoleLink {
  readonly ID: string;
  /** The current name of the role. */
  readonly Name: string;
}

/** A token as lists show it, in the wire's own member names (job interface, tokens). */
export interface TokenStub {
  /** Names the token; not secret. */
  readonly AccessorID: string;
  /** For people; need not be unique. */
  readonly Name: string;
  /** `management` allows everything, `client` what its policies and roles grant; `node` is for the agent of one node. */
  readonly Type: 'client' | 'management' | 'node';
  /** Null for management and node tokens. */
  readonly Policies: readonly string[] | null;
  /** Null if it never had any. */
  readonly Roles: readonly RoleLink[] | null;
  /** Of a node token: the node that it is bound to (absent until the first registration) and its pool. */
  readonly NodeID?: string;
  /** The only node pool that the node of a node token may join; absent otherwise. */
  readonly NodePool?: string;
  /** Rights on workspaces, by ID or glob; absent if it has none. */
  readonly Workspaces?: Readonly<Record<string, WorkspaceRight>>;
  /** Whether the token was made for all regions. An installation is one region, so it has no effect. */
  readonly Global: boolean;
  /** Digest of the written content, in base64; null if none was stored. */
  readonly Hash: string | null;
  /** RFC 3339. */
  readonly CreateTime: string;
  /** RFC 3339; from then on the token is not accepted. Null if it never expires. */
  readonly ExpirationTime: string | null;
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}

/** A token as a read of a single token shows it. */
export interface TokenDocument extends TokenStub {
  /** Empty if the store does not keep it (no cipher) and the caller did not present it. */
  readonly SecretID: string;
  /** `1h0m0s`; empty if it has none. */
  readonly ExpirationTTL: string;
}

/** Returned to a caller without a token who asks for its own. */
export const anonymousDocument: TokenDocument = {
  AccessorID: 'anonymous',
  SecretID: '',
  Name: 'Anonymous Token',
  Type: 'client',
  Policies: ['anonymous'],
  Roles: null,
  Global: false,
  Hash: null,
  CreateTime: '0001-01-01T00:00:00Z',
  ExpirationTime: null,
  ExpirationTTL: '',
  CreateIndex: 0,
  ModifyIndex: 0,
};

/** Data of the store in addition to a token's record. */
export interface TokenLookup {
  readonly createIndex: number;
  readonly modifyIndex: number;
  readonly roleById: (id: string) => StoredRole | undefined;
}

export function tokenStub(token: StoredToken, { createIndex, modifyIndex, roleById }: TokenLookup): TokenStub {
  const { policies = [], roles, expiresAt, node } = token;
  return {
    AccessorID: token.accessor,
    Name: token.name,
    Type: typeOf(token),
    Policies: token.management || node !== undefined ? null : policies,
    Roles: roles === undefined ? null : roles.flatMap((id) => linkOf(roleById(id))),
    ...(node?.id === undefined ? {} : { NodeID: node.id }),
    ...(node === undefined ? {} : { NodePool: node.pool }),
    ...(Object.keys(token.workspaces).length === 0 ? {} : { Workspaces: token.workspaces }),
    Global: isGlobal(token),
    Hash: token.hash ?? null,
    CreateTime: isoFromInstant(token.createdAt),
    ExpirationTime: expiresAt === undefined ? null : isoFromInstant(expiresAt),
    CreateIndex: createIndex,
    ModifyIndex: modifyIndex,
  };
}

function typeOf({ management, node }: StoredToken): TokenStub['Type'] {
  if (node !== undefined) return 'node';
  return management ? 'management' : 'client';
}

export function tokenDocument(token: StoredToken, secret: string, lookup: TokenLookup): TokenDocument {
  const { lifetime } = token;
  const ExpirationTTL = lifetime === undefined ? '' : durationTextFromNanos(lifetime * 1_000_000);
  return { ...tokenStub(token, lookup), SecretID: secret, ExpirationTTL };
}

function linkOf(role: StoredRole | undefined): readonly RoleLink[] {
  return role === undefined ? [] : [{ ID: role.ID, Name: role.Name }];
}

/** Look-up of policies and roles. */
export interface Rulebook {
  readonly policy: (name: string) => StoredPolicy | undefined;
  readonly role: (id: string) => StoredRole | undefined;
}

/** The principal of a stored token: its own rules, its policies and those of its roles, as far as they exist. */
export function tokenPrincipal(token: StoredToken, rulebook: Rulebook): Principal {
  const { accessor, name, management, namespaces, workspaces, policies = [], roles = [], node } = token;
  if (node !== undefined) return { accessor, name, management: false, namespaces: {}, workspaces: {}, node };
  const limits = token.portal === undefined ? {} : { portal: token.portal };
  if (policies.length === 0 && roles.length === 0) {
    return { accessor, name, management, namespaces, workspaces, ...limits };
  }
  const named = new Set(policies);
  for (const id of roles) for (const { Name } of rulebook.role(id)?.Policies ?? []) named.add(Name);
  return {
    accessor,
    name,
    management,
    workspaces,
    ...limits,
    ...mergePolicies(rulesOfAll([...named].map(rulebook.policy)), namespaces),
    policies: [...named],
    roles,
  };
}

/** The principal of callers without a token: the rights of the policy `anonymous`, or none if it does not exist. */
export function nobodysPrincipal(rulebook: Rulebook): Principal {
  const policy = rulebook.policy(anonymousPolicy);
  const named = { ...anonymousPrincipal, policies: [anonymousPolicy] };
  return policy === undefined ? named : { ...named, ...mergePolicies(rulesOfAll([policy])) };
}

/** The principal of a task: it may read its job's variables, and has the rights of the policies for its job. */
export function workloadPrincipal(workload: Workload, candidates: readonly StoredPolicy[]): Principal {
  const covering = candidates.filter((policy) => coversWorkload(policy, workload));
  return {
    accessor: '',
    name: `${workload.jobId}/${workload.group}/${workload.task}`,
    management: false,
    workspaces: {},
    ...mergePolicies(rulesOfAll(covering)),
    policies: covering.map(({ Name }) => Name),
    workload,
  };
}

function rulesOfAll(policies: readonly (StoredPolicy | undefined)[]) {
  return policies.flatMap((policy) => (policy === undefined ? [] : (rulesOf(policy) ?? [])));
}
