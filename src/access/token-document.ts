import { durationTextFromNanos } from '../shared/duration.js';
import { isoFromInstant } from '../shared/instant.js';
import type { WorkspaceRight } from './principal.js';
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
