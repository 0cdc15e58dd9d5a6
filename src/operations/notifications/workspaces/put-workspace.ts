import { err, ok, ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import { configurations } from '../../../notifications/configurations/configuration.js';
import type { FieldFault, InvalidAttributes, NotFound } from '../../../notifications/errors.js';
import { type ExecutionMode, executionModes, type Workspace, workspaces } from '../../../notifications/workspace.js';
import type { StorageError } from '../../../ports/storage.js';
import { authoriseManagement, type PermissionDenied } from '../../authorise.js';
import { commit } from '../../commit.js';
import type { EngineContext } from '../../context/engine-context.js';
import { removeConfiguration } from '../configurations/delete-notification-configuration.js';
import { checkIdentifier, checkName } from '../identifier.js';

/** A workspace of the host. Omitted members get their defaults, even if the workspace already exists. */
export interface WorkspaceInput {
  /** A new ID creates a workspace. */
  readonly id: string;
  readonly name: string;
  /** Its organization, which needs no record. */
  readonly organization: string;
  /** Default: `remote`. */
  readonly executionMode?: ExecutionMode;
  /** Default: false. */
  readonly driftDetection?: boolean;
  /** Default: false. */
  readonly healthAssessments?: boolean;
  /** Web page of the workspace, for links in messages; default: a page of the public origin. */
  readonly url?: string | null;
}

/** Stores a workspace of the host, new or changed. Management only. */
export function putWorkspace(
  context: EngineContext,
  caller: Principal,
  input: WorkspaceInput,
): ResultAsync<Workspace, PermissionDenied | InvalidAttributes | StorageError> {
  const allowed = authoriseManagement(caller).andThen(() => {
    const faults = faultsOf(input);
    return faults.length === 0 ? ok(undefined) : err<void, InvalidAttributes>({ type: 'invalid_attributes', faults });
  });
  if (allowed.isErr()) return new ResultAsync(Promise.resolve(err(allowed.error)));
  return commit<Workspace, never>(context, caller, (tx) => {
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
    // An unchanged upsert at every start must not wake readers that watch workspaces.
    if (JSON.stringify(present) !== JSON.stringify(workspace)) tx.put(workspaces, workspace);
    return ok(workspace);
  }).map(({ value }) => value);
}

/** Removes a workspace with its configurations; unfinished deliveries are cancelled. Management only. */
export function removeWorkspace(
  context: EngineContext,
  caller: Principal,
  request: { readonly workspaceId: string },
): ResultAsync<void, PermissionDenied | NotFound | StorageError> {
  const allowed = authoriseManagement(caller);
  if (allowed.isErr()) return new ResultAsync(Promise.resolve(err(allowed.error)));
  const id = request.workspaceId;
  return commit<void, NotFound>(context, caller, (tx) => {
    if (!tx.remove(workspaces, [id])) return err({ type: 'not_found', resource: 'workspace', id });
    for (const row of tx.list(configurations, { index: 'by_workspace', prefix: [id] })) {
      removeConfiguration(tx, row.record);
    }
    return ok(undefined);
  }).map(() => undefined);
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
  if (!isPage(input.url)) refuse('url', `must be an http: or https: URL of at most ${longestUrl} characters`);
  return faults;
}

function isFlag(value: unknown): boolean {
  return value === undefined || typeof value === 'boolean';
}

const longestUrl = 2048;

/** Whether messages can link to the URL; absent is valid. */
function isPage(url: unknown): boolean {
  if (url === undefined || url === null) return true;
  if (typeof url !== 'string' || url.length > longestUrl || !URL.canParse(url)) return false;
  return ['http:', 'https:'].includes(new URL(url).protocol);
}
