import { err, ok, ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import { configurations } from '../../notifications/configuration.js';
import type { FieldFault, InvalidAttributes, NotFound } from '../../notifications/errors.js';
import { type ExecutionMode, executionModes, type Workspace, workspaces } from '../../notifications/workspace.js';
import type { StorageError } from '../../ports/storage.js';
import { authoriseManagement, type PermissionDenied } from '../authorise.js';
import { commit } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';
import { removeConfiguration } from './delete-notification-configuration.js';
import { checkIdentifier } from './identifier.js';

export interface WorkspaceInput {
  readonly id: string;
  readonly name: string;
  readonly organization: string;
  /** `remote` when absent. */
  readonly executionMode?: ExecutionMode;
  /** False when absent. */
  readonly driftDetection?: boolean;
  readonly healthAssessments?: boolean;
  /** Page of the workspace, for links in messages; made from the public origin when absent. */
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
    // An upsert at every start must not wake everybody who watches workspaces.
    if (JSON.stringify(present) !== JSON.stringify(workspace)) tx.put(workspaces, workspace);
    return ok(workspace);
  }).map(({ value }) => value);
}

/** Removes a workspace with its configurations; what was still to be delivered is cancelled. Management only. */
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
      removeConfiguration(tx, row.record.id);
    }
    return ok(undefined);
  }).map(() => undefined);
}

function faultsOf(input: WorkspaceInput): FieldFault[] {
  const faults: FieldFault[] = [];
  checkIdentifier(input.id, 'id', faults);
  for (const name of ['name', 'organization'] as const) {
    if (typeof input[name] !== 'string' || input[name].trim() === '' || input[name].length > 255) {
      faults.push({ pointer: `/${name}`, message: `${name} must be a string of 1 to 255 characters` });
    }
  }
  if (input.executionMode !== undefined && !executionModes.includes(input.executionMode)) {
    faults.push({ pointer: '/executionMode', message: `executionMode must be one of ${executionModes.join(', ')}` });
  }
  return faults;
}
