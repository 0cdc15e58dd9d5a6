import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { type StoredToken, tokens } from '../../../access/tokens.js';
import {
  type DestinationKind,
  destinationKindFromSpelling,
} from '../../../notifications/configurations/destination.js';
import type { FieldFault, InvalidAttributes, NotFound } from '../../../notifications/errors.js';
import type { StorageError } from '../../../ports/storage.js';
import { isoFromInstant } from '../../../shared/instant.js';
import { commitValue } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { secretHash } from '../../records/presented-secret.js';
import { findWorkspace } from '../find-resource.js';

/** What the page of a workspace may do. */
export interface PortalInput {
  /** Destination types that exist for it. */
  readonly kinds: readonly string[];
  /** It creates no more once the workspace has so many configurations; default: as many as a workspace may have. */
  readonly configurations?: number;
  /** In seconds, from 1 to 900; default: 900. */
  readonly lifetime?: number;
  /** For people; default: `portal`. */
  readonly name?: string;
}

/** A token for the page of a workspace, with its secret, which cannot be read later. */
export interface PortalToken {
  /** The accessor of the token, by which it can be removed. */
  readonly id: string;
  readonly secret: string;
  readonly workspaceId: string;
  readonly kinds: readonly DestinationKind[];
  readonly configurations: number;
  /** RFC 3339 in UTC with milliseconds. */
  readonly expiresAt: string;
}

/** Seconds. */
const longestLifetime = 900;

/** Creates a token with the right `portal` on the workspace. Needs the right `admin` there, so that no portal creates another one. */
export function createPortalToken(
  context: EngineContext,
  caller: Principal,
  {
    workspaceId,
    portal,
    faults = [],
  }: { readonly workspaceId: string; readonly portal: PortalInput; readonly faults?: readonly FieldFault[] },
): ResultAsync<PortalToken, NotFound | InvalidAttributes | StorageError> {
  return commitValue<PortalToken, NotFound | InvalidAttributes>(context, caller, (tx) => {
    const workspace = findWorkspace(tx, caller, workspaceId, 'admin');
    if (workspace.isErr()) return err(workspace.error);
    const most = context.settings.notifications.maximumPerWorkspace;
    const read = readPortal(workspaceId, portal, { most, faults });
    if (read.isErr()) return err(read.error);
    const { kinds, configurations, lifetime, name } = read.value;
    const secret = tx.ids.next('token_secret');
    const expiresAt = tx.now + lifetime * 1000;
    const token: StoredToken = {
      accessor: tx.ids.next('token_accessor'),
      secretHash: secretHash(secret),
      name,
      management: false,
      namespaces: {},
      workspaces: { [workspaceId]: 'portal' },
      portal: { kinds, configurations },
      createdAt: tx.now,
      madeAt: tx.index,
      expiresAt,
    };
    tx.put(tokens, token);
    return ok({ id: token.accessor, secret, workspaceId, kinds, configurations, expiresAt: isoFromInstant(expiresAt) });
  });
}

interface ReadPortal extends Required<Omit<PortalInput, 'kinds'>> {
  readonly kinds: readonly DestinationKind[];
}

/** The members are unchecked input. */
function readPortal(
  workspaceId: string,
  { kinds: asked, configurations, lifetime, name }: { readonly [N in keyof PortalInput]?: unknown },
  { most, faults: earlier }: { readonly most: number; readonly faults: readonly FieldFault[] },
): Result<ReadPortal, InvalidAttributes> {
  const faults = [...earlier];
  const refuse = (member: string, problem: string): void =>
    void faults.push({ pointer: `/data/attributes/${member}`, message: `${member} must be ${problem}` });
  const whole = (member: string, value: unknown, from: number, to: number): number => {
    if (value === undefined || value === null) return to;
    if (typeof value === 'number' && Number.isInteger(value) && value >= from && value <= to) return value;
    refuse(member, `a whole number from ${from} to ${to}`);
    return from;
  };
  const kinds = Array.isArray(asked)
    ? asked.map((kind) => destinationKindFromSpelling(typeof kind === 'string' ? kind : ''))
    : [];
  const known = kinds.filter((kind) => kind !== undefined);
  if (known.length === 0 || known.length < kinds.length) {
    refuse('kinds', 'a list of destination types, such as ["generic"]');
  }
  const read = {
    kinds: [...new Set(known)],
    configurations: whole('configurations', configurations, 0, most),
    lifetime: whole('lifetime', lifetime, 1, longestLifetime),
    name: name ?? 'portal',
  };
  const { name: named } = read;
  if (typeof named !== 'string' || named === '' || named.length > 256) {
    refuse('name', 'a string of 1 to 256 characters');
  } else if (workspaceId.includes('*')) {
    // In a token it would stand for other workspaces, too.
    faults.push({ pointer: '', message: 'A workspace with a * in its ID has no portal' });
  } else if (faults.length === 0) return ok({ ...read, name: named });
  return err({ type: 'invalid_attributes', faults });
}
