import { durationTextFromNanos } from '../shared/duration.js';
import { isoFromInstant } from '../shared/instant.js';
import { anonymousPolicy, coversWorkload, rulesOf, type StoredPolicy } from './policy-record.js';
import { anonymousPrincipal, type Principal, type Workload, type WorkspaceRight } from './principal.js';
import { mergePolicies } from './rights.js';
import type { StoredRole } from './role-record.js';
import { isGlobal, type StoredToken } from './tokens.js';

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
  if (policies.length === 0 && roles.length === 0) return { accessor, name, management, namespaces, workspaces };
  const named = new Set(policies);
  for (const id of roles) for (const { Name } of rulebook.role(id)?.Policies ?? []) named.add(Name);
  return {
    accessor,
    name,
    management,
    workspaces,
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
