import { err, ok, type Result, ResultAsync } from 'neverthrow';
import { allowsKind, allowsWorkspace } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import {
  configurations,
  type NotificationConfiguration,
  type StoredResponse,
} from '../../../notifications/configurations/configuration.js';
import type { UncheckedConfigurationInput } from '../../../notifications/configurations/configuration-input.js';
import {
  type DecidedConfiguration,
  decideCreate,
  type Enablement,
  transitionEnablement,
} from '../../../notifications/configurations/decide-configuration.js';
import type {
  FieldFault,
  InvalidAttributes,
  LimitReached,
  NotFound,
  VerificationFailed,
} from '../../../notifications/errors.js';
import { users } from '../../../notifications/workspace.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import { commitValue } from '../../commit.js';
import { type EngineContext, readResult } from '../../context/engine-context.js';
import { encryptOptions, encryptSecret } from '../../records/stored-secrets.js';
import { findWorkspace, visibleConfigurations } from '../find-resource.js';
import { addQueue } from '../log/change-queue.js';
import { type ConfigurationView, viewConfiguration } from './configuration-view.js';
import { mailObstacle, refusedVerification, verifyDestination } from './verify-destination.js';

/** A configuration to create in a workspace. */
export interface CreateConfigurationRequest {
  readonly workspaceId: string;
  /** A `ConfigurationInput`; members of wrong types are answered with `invalid_attributes`. */
  readonly attributes: UncheckedConfigurationInput;
  /** Faults that the transport found in the document around the attributes; reported with the others. */
  readonly faults?: readonly FieldFault[];
}

/** Errors of `createNotificationConfiguration`. */
export type CreateConfigurationError = NotFound | InvalidAttributes | LimitReached | VerificationFailed | StorageError;

/**
 * Creates a notification configuration. With `enabled: true` the destination must first answer a verification request
 * with 2xx; otherwise nothing is saved. The request runs outside the transaction; the limit of configurations per
 * workspace is checked before it and again when saving.
 */
export function createNotificationConfiguration(
  context: EngineContext,
  caller: Principal,
  request: CreateConfigurationRequest,
): ResultAsync<ConfigurationView, CreateConfigurationError> {
  return new ResultAsync(create<CreateConfigurationError>(context, caller, request, () => ok(undefined)));
}

/** Another request has created a configuration with this name in the meantime. */
export interface NameTaken {
  readonly type: 'name_taken';
}

/** The same, unless the workspace has a configuration with this name when it is saved. */
export function createUnderNewName(
  context: EngineContext,
  caller: Principal,
  request: CreateConfigurationRequest,
): Promise<Result<ConfigurationView, CreateConfigurationError | NameTaken>> {
  return create<CreateConfigurationError | NameTaken>(context, caller, request, (view) => {
    const present = visibleConfigurations(view, caller, request.workspaceId);
    const taken = present.some(({ name }) => name === request.attributes.name);
    return taken ? err({ type: 'name_taken' }) : ok(undefined);
  });
}

/** `admit` is called in the transaction that saves. */
async function create<E extends { readonly type: string }>(
  context: EngineContext,
  caller: Principal,
  request: CreateConfigurationRequest,
  admit: (view: ReadView) => Result<void, E>,
): Promise<Result<ConfigurationView, CreateConfigurationError | E>> {
  const decided = await readResult(context, (view) => decide(context, view, caller, request));
  if (decided.isErr()) return err(decided.error);
  const { contents, probes } = decided.value;
  const id = context.ids.next('notification_configuration');

  let response: StoredResponse | null = null;
  let enablement: Enablement = { type: 'none' };
  const step = transitionEnablement(enablement, { type: 'create', enabled: contents.enabled, probes });
  if (step.isOk()) enablement = step.value.next;
  if (enablement.type === 'verifying') {
    const verified = await verifyDestination(
      context,
      { workspaceId: request.workspaceId, configurationId: id, retiredTokens: [] },
      contents,
    );
    if (verified.isErr()) return err(verified.error);
    if (!verified.value.successful) return err(refusedVerification(context, contents.url ?? '', verified.value));
    response = verified.value;
  }

  const { workspaceId } = request;
  return commitValue<ConfigurationView, CreateConfigurationError | E>(context, caller, (tx) => {
    const workspace = findWorkspace(tx, caller, workspaceId);
    if (workspace.isErr()) return err(workspace.error);
    const admitted = admit(tx);
    if (admitted.isErr()) return err(admitted.error);
    const full = limitReached(context, tx, caller, workspaceId);
    if (full !== null) return err(full);
    const { options: asked, ...stated } = contents;
    const options = encryptOptions(context, asked);
    const configuration: NotificationConfiguration = {
      ...stated,
      ...(options === undefined ? {} : { options }),
      id,
      workspaceId,
      token: contents.token === null ? null : encryptSecret(context, contents.token),
      retiredTokens: [],
      url: contents.url === null ? null : encryptSecret(context, contents.url),
      response,
      createdAt: tx.now,
      updatedAt: tx.now,
      version: 1,
    };
    tx.put(configurations, configuration);
    addQueue(tx, id, workspaceId);
    tx.emit('notification.configuration', { configurationId: id, workspaceId, change: 'created' });
    return ok(viewConfiguration(context, tx, configuration, workspace.value));
  });
}

function decide(
  context: EngineContext,
  view: ReadView,
  caller: Principal,
  request: CreateConfigurationRequest,
): Result<DecidedConfiguration, CreateConfigurationError> {
  const workspace = findWorkspace(view, caller, request.workspaceId);
  if (workspace.isErr()) return err(workspace.error);
  const decided = decideCreate(
    request.attributes,
    {
      organization: workspace.value.organization,
      findUser: (id) => view.get(users, [id])?.record,
      checkUrl: (url) => context.delivery.check(url),
      mailObstacle: mailObstacle(context),
    },
    request.faults,
  );
  if (decided.isErr()) return err(decided.error);
  if (!allowsKind(caller, request.workspaceId, decided.value.contents.kind)) {
    const message = `destination-type must be one of ${caller.portal?.kinds.join(', ') || 'none'} here`;
    return err({ type: 'invalid_attributes', faults: [{ pointer: '/data/attributes/destination-type', message }] });
  }
  const full = limitReached(context, view, caller, request.workspaceId);
  return full === null ? ok(decided.value) : err(full);
}

function limitReached(
  { settings }: EngineContext,
  view: ReadView,
  caller: Principal,
  workspaceId: string,
): LimitReached | null {
  const most = settings.notifications.maximumPerWorkspace;
  const isAdmin = allowsWorkspace(caller, workspaceId, 'admin');
  const limit = isAdmin ? most : Math.min(most, caller.portal?.configurations ?? 0);
  const present = view.list(configurations, { index: 'by_workspace', prefix: [workspaceId], limit: most });
  if (present.length < limit) return null;
  const message = `Workspace has reached its limit of ${limit} Notification Configurations`;
  return { type: 'limit_reached', limit, message };
}
