import { err, errAsync, ok, type ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { configurations } from '../../../notifications/configurations/configuration.js';
import type { FieldFault, InvalidAttributes, NotFound } from '../../../notifications/errors.js';
import {
  type ExecutionMode,
  executionModes,
  isMailAddress,
  type User,
  users,
  type Workspace,
  workspaces,
} from '../../../notifications/workspace.js';
import type { StorageError } from '../../../ports/storage.js';
import { hasLoneSurrogate } from '../../../shared/values.js';
import { commitValue } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { removeConfiguration } from '../configurations/pause-and-delete-configuration.js';

/** A complete workspace of the host: omitted members get their defaults, even if the workspace exists. */
export interface WorkspaceInput {
  /** A new ID creates a workspace. */
  readonly id: string;
  readonly name: string;
  /** The organization that it belongs to, which needs no record. */
  readonly organization: string;
  /** `remote` when absent. */
  readonly executionMode?: ExecutionMode;
  /** False when absent. */
  readonly driftDetection?: boolean;
  /** False when absent. */
  readonly healthAssessments?: boolean;
  /** Page of the workspace, for links in messages; derived from the public origin when absent. */
  readonly url?: string | null;
}

/** Stores a workspace of the host, new or changed. Management only. */
export function putWorkspace(
  context: EngineContext,
  caller: Principal,
  input: WorkspaceInput,
): ResultAsync<Workspace, InvalidAttributes | StorageError> {
  const faults = faultsOf(input);
  if (faults.length > 0) return errAsync({ type: 'invalid_attributes', faults });
  return commitValue<Workspace, never>(context, caller, (tx) => {
    const workspace: Workspace = {
      id: input.id,
      name: input.name,
      organization: input.organization,
      executionMode: input.executionMode ?? 'remote',
      driftDetection: input.driftDetection ?? false,
      healthAssessments: input.healthAssessments ?? false,
      url: input.url ?? null,
      createdAt: tx.get(workspaces, [input.id])?.record.createdAt ?? tx.now,
    };
    const present = tx.get(workspaces, [input.id])?.record;
    // An unchanged upsert at every start must not wake all watchers of workspaces.
    if (JSON.stringify(present) !== JSON.stringify(workspace)) tx.put(workspaces, workspace);
    return ok(workspace);
  });
}

/** Removes a workspace with its configurations; unfinished deliveries are cancelled. Management only. */
export function removeWorkspace(
  context: EngineContext,
  caller: Principal,
  request: { readonly workspaceId: string },
): ResultAsync<void, NotFound | StorageError> {
  const id = request.workspaceId;
  return commitValue<void, NotFound>(context, caller, (tx) => {
    if (!tx.remove(workspaces, [id])) return err({ type: 'not_found', resource: 'workspace', id });
    for (const row of tx.list(configurations, { index: 'by_workspace', prefix: [id] })) {
      removeConfiguration(tx, row.record);
    }
    return ok(undefined);
  });
}

function faultsOf(input: WorkspaceInput): FieldFault[] {
  const faults: FieldFault[] = [];
  const refuse = (name: string, problem: string): void => {
    faults.push({ pointer: `/data/attributes/${name}`, message: `${name} ${problem}` });
  };
  checkIdentifier(input.id, faults);
  checkName(input.name, 'name', faults);
  checkName(input.organization, 'organization', faults);
  if (input.executionMode !== undefined && !executionModes.includes(input.executionMode)) {
    refuse('execution-mode', `must be one of ${executionModes.join(', ')}`);
  }
  if (!isFlag(input.driftDetection)) refuse('drift-detection', 'must be true or false');
  if (!isFlag(input.healthAssessments)) refuse('health-assessments', 'must be true or false');
  if (!isPage(input.url)) refuse('url', `must be an http or https address of at most ${longestUrl} characters`);
  return faults;
}

function isFlag(value: unknown): boolean {
  return value === undefined || typeof value === 'boolean';
}

const longestUrl = 2048;

/** Whether it is null or an address that messages can link to. */
function isPage(url: unknown): boolean {
  if (url === undefined || url === null) return true;
  if (typeof url !== 'string' || url.length > longestUrl || !URL.canParse(url)) return false;
  return ['http:', 'https:'].includes(new URL(url).protocol);
}

/** An ID chosen by the host must be valid in a URL path: not empty, without slashes, white space and lone surrogates. */
function checkIdentifier(id: unknown, faults: FieldFault[]): void {
  if (typeof id === 'string' && /^[^\s/]{1,128}$/.test(id) && !hasLoneSurrogate(id)) return;
  faults.push({
    pointer: '/data/id',
    message: 'id must be 1 to 128 characters of valid Unicode, without slashes and white space',
  });
}

/** A name chosen by the host: 1 to 255 characters, not only white space. Paths contain the names of organizations and workspaces. */
function checkName(value: unknown, name: string, faults: FieldFault[]): void {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= 255 && !hasLoneSurrogate(value)) return;
  faults.push({
    pointer: `/data/attributes/${name}`,
    message: `${name} must be a string of 1 to 255 characters of valid Unicode, not only white space`,
  });
}

/** Stores a user of the host, new or changed. Management only. */
export function putUser(
  context: EngineContext,
  caller: Principal,
  input: User,
): ResultAsync<User, InvalidAttributes | StorageError> {
  const faults = faultsOfUser(input);
  if (faults.length > 0) return errAsync({ type: 'invalid_attributes', faults });
  const { id, username, email, organization } = input;
  const user: User = { id, username, email, organization };
  return commitValue<User, never>(context, caller, (tx) => {
    if (JSON.stringify(tx.get(users, [id])?.record) !== JSON.stringify(user)) tx.put(users, user);
    return ok(user);
  });
}

/** Removes a user. Configurations that name the user keep working for their other users. Management only. */
export function removeUser(
  context: EngineContext,
  caller: Principal,
  request: { readonly userId: string },
): ResultAsync<void, NotFound | StorageError> {
  const id = request.userId;
  return commitValue<void, NotFound>(context, caller, (tx) =>
    tx.remove(users, [id]) ? ok(undefined) : err({ type: 'not_found', resource: 'user', id }),
  );
}

function faultsOfUser(input: User): FieldFault[] {
  const faults: FieldFault[] = [];
  checkIdentifier(input.id, faults);
  checkName(input.username, 'username', faults);
  checkName(input.organization, 'organization', faults);
  if (!isMailAddress(input.email)) {
    faults.push({
      pointer: '/data/attributes/email',
      message: 'email must be a single address such as dana@example.org',
    });
  }
  return faults;
}
