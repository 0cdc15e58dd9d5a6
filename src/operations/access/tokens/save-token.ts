import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { type InvalidAccess, type TokenNotFound, unfitAccess } from '../../../access/errors.js';
import { roles, type StoredRole } from '../../../access/policy-record.js';
import type { NodeIdentity, Principal, WorkspaceRight } from '../../../access/principal.js';
import {
  isWorkspaceRight,
  type StoredToken,
  type TokenChoice,
  type TokenDocument,
  tokenDocument,
  tokenFaults,
  tokens,
} from '../../../access/tokens.js';
import type { StorageError } from '../../../ports/storage.js';
import { isUuid } from '../../../queries/page.js';
import { durationTextFromNanos, type Milliseconds } from '../../../shared/duration.js';
import type { Instant } from '../../../shared/instant.js';
import { commit, commitValue } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { contentHash } from '../../records/content-hash.js';
import { secretHash } from '../../records/presented-secret.js';
import type { Transaction } from '../../write-transaction.js';
import { invalidAccess } from '../invalid-access.js';
import { shownSecret, tokenLookup } from './read-token.js';

/** The requested members of a token. */
export interface SaveTokenInput {
  /** The token to change; absent creates a new one. With a `secret`, a missing token is created. */
  readonly accessor?: string;
  /** The secret of an imported client token, with its accessor; both are UUIDs. An existing token keeps its secret. */
  readonly secret?: string;
  /** For people; need not be unique. */
  readonly name: string;
  /** `client`, `management`, or `node` for the agent of a node. */
  readonly type: string;
  /** Names of policies, which need not exist. Null and absent: none. */
  readonly policies?: readonly string[] | null;
  /** Existing roles, by ID or name. */
  readonly roles?: readonly { readonly id?: string; readonly name?: string }[] | null;
  /**
   * Of a node token: its node; when absent, the first one that registers with it. A change without this member keeps
   * the stored value.
   */
  readonly nodeId?: string;
  /** Of a node token: the pool of its node; `default` when absent. */
  readonly nodePool?: string;
  /** `admin` or `events` by ID or glob of a workspace; absent keeps what the token has. */
  readonly workspaces?: Readonly<Record<string, string>>;
  /** Kept and shown. An installation is one region, so it has no effect. */
  readonly global?: boolean;
  /** Lifetime of the token, in milliseconds; `expiresAt` takes precedence. */
  readonly lifetime?: Milliseconds;
  /** From this time on the token is refused; absent: it never expires, unless there is a `lifetime`. */
  readonly expiresAt?: Instant;
}

/** Errors of `saveToken`. */
type SaveTokenError = InvalidAccess | StorageError;

/**
 * Creates a token, with a random or an imported secret, or changes the rights of one: its secret, region scope and expiry are kept.
 * Only management callers may do this. The result has the secret if it can be shown: always for a new token.
 */
export function saveToken(
  context: EngineContext,
  caller: Principal,
  input: SaveTokenInput,
): ResultAsync<TokenDocument, SaveTokenError> {
  return commitValue(context, caller, (tx) => storeToken(context, tx, input));
}

function storeToken(
  context: EngineContext,
  tx: Transaction,
  input: SaveTokenInput,
): Result<TokenDocument, InvalidAccess> {
  const { accessor } = input;
  const row = accessor === undefined ? undefined : tx.get(tokens, [accessor]);
  const unfit = accessor === undefined || row !== undefined ? undefined : unfitUpload(tx, accessor, input);
  if (unfit !== undefined) return err(unfitAccess(unfit));
  const before = row?.record;
  const createdAt = before?.createdAt ?? tx.now;
  const choice = choiceOf(input, createdAt, before);
  const faults = tokenFaults(choice, { createdAt, before }, (duration) => durationTextFromNanos(duration * 1_000_000));
  if (faults.length > 0) return err(invalidAccess('token', faults));
  return rolesOf(tx, input).map((linked) => {
    const secret = before === undefined ? (uploadedSecret(input) ?? tx.ids.next('token_secret')) : undefined;
    const kept = before ?? freshToken(context, tx, { accessor, secret: secret ?? '' });
    const token = changed(kept, input, choice, linked);
    tx.put(tokens, token);
    const lookup = tokenLookup(tx, { createIndex: row?.createIndex ?? tx.index, modifyIndex: tx.index });
    return tokenDocument(token, secret ?? shownSecret(context, token, tx.caller), lookup);
  });
}

function uploadedSecret({ accessor, secret }: SaveTokenInput): string | undefined {
  return accessor === undefined ? undefined : secret;
}

/** The fault of an imported token with accessor and secret; undefined when it is valid. */
function unfitUpload(tx: Transaction, accessor: string, { secret, type }: SaveTokenInput): string | undefined {
  if (secret === undefined || type === 'node') return `cannot find token ${accessor.slice(0, 64)}`;
  if (type === 'management') return 'a management token cannot be uploaded';
  if (!isUuid(accessor) || !isUuid(secret)) return 'the accessor and the secret of an uploaded token must be UUIDs';
  const isTaken = tx.list(tokens, { index: 'by_secret', prefix: [secretHash(secret)], limit: 1 }).length > 0;
  return isTaken ? 'the secret of an uploaded token belongs to another token' : undefined;
}

function choiceOf(input: SaveTokenInput, createdAt: Instant, before: StoredToken | undefined): TokenChoice {
  const { lifetime, expiresAt } = input;
  return {
    name: input.name,
    type: input.type,
    ...nodeChoice(input),
    policies: input.policies ?? [],
    roleCount: input.roles?.length ?? 0,
    workspaces: input.workspaces ?? (input.type === 'client' ? before?.workspaces : undefined) ?? {},
    global: input.global ?? false,
    lifetime,
    expiresAt: expiresAt ?? (lifetime === undefined ? undefined : createdAt + lifetime),
  };
}

function nodeChoice({ nodeId, nodePool }: SaveTokenInput): Pick<TokenChoice, 'nodeId' | 'nodePool'> {
  return { ...(nodeId === undefined ? {} : { nodeId }), ...(nodePool === undefined ? {} : { nodePool }) };
}

function freshToken(
  context: EngineContext,
  tx: Transaction,
  { accessor, secret }: { readonly accessor: string | undefined; readonly secret: string },
): StoredToken {
  const sealed = context.cipher?.seal(secret);
  return {
    accessor: accessor ?? tx.ids.next('token_accessor'),
    secretHash: secretHash(secret),
    ...(sealed === undefined ? {} : { sealedSecret: sealed }),
    name: '',
    management: false,
    namespaces: {},
    workspaces: {},
    createdAt: tx.now,
    madeAt: tx.index,
  };
}

function changed(
  kept: StoredToken,
  input: SaveTokenInput,
  { policies, workspaces, global, expiresAt, lifetime }: TokenChoice,
  linked: readonly string[] | undefined,
): StoredToken {
  const { roles: _roles, ...rest } = kept;
  const node = input.type === 'node' ? nodeOf(kept, input) : undefined;
  const rights = Object.entries(workspaces).filter((entry): entry is [string, WorkspaceRight] =>
    isWorkspaceRight(entry[1]),
  );
  const told = [...(node === undefined ? [] : [node]), ...(rights.length === 0 ? [] : [rights])];
  const hash = contentHash(input.name, input.type, policies, linked ?? null, global, ...told);
  return {
    ...rest,
    name: input.name,
    management: input.type === 'management',
    policies,
    ...(node === undefined ? {} : { node }),
    ...(linked === undefined ? {} : { roles: linked }),
    workspaces: Object.fromEntries(rights),
    global,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(lifetime === undefined ? {} : { lifetime }),
    hash,
  };
}

function nodeOf({ node }: StoredToken, { nodeId, nodePool }: SaveTokenInput): NodeIdentity {
  const id = nodeId ?? node?.id;
  return { ...(id === undefined ? {} : { id }), pool: nodePool ?? node?.pool ?? 'default' };
}

/** The IDs of the requested roles, without duplicates; undefined when none were requested. */
function rolesOf(
  tx: Transaction,
  { roles: asked }: SaveTokenInput,
): Result<readonly string[] | undefined, InvalidAccess> {
  if (asked === undefined || asked === null || asked.length === 0) return ok(undefined);
  const found = new Set<string>();
  for (const link of asked) {
    const role = findRole(tx, link);
    if (role === undefined) return err(unfitAccess(`cannot find role ${(link.id || link.name || '').slice(0, 160)}`));
    found.add(role.ID);
  }
  return ok([...found]);
}

/** Looks the role up by its ID, if given, otherwise by its name. */
function findRole(
  tx: Transaction,
  { id = '', name = '' }: NonNullable<SaveTokenInput['roles']>[number],
): StoredRole | undefined {
  return id !== ''
    ? tx.get(roles, [id])?.record
    : tx.list(roles, { index: 'by_name', prefix: [name], limit: 1 })[0]?.record;
}

/**
 * Revokes a token by its accessor. Only management callers may do this. Returns the index of the
 * write.
 */
export function removeToken(
  context: EngineContext,
  caller: Principal,
  { accessor }: { readonly accessor: string },
): ResultAsync<{ readonly index: number }, TokenNotFound | StorageError> {
  return commit(context, caller, (tx) =>
    tx.remove(tokens, [accessor]) ? ok(undefined) : err<void, TokenNotFound>({ type: 'token_not_found', accessor }),
  ).map(({ index }) => ({ index }));
}
