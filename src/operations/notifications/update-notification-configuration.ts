import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { Principal } from '../../access/principal.js';
import {
  configurations,
  type NotificationConfiguration,
  type RetiredToken,
  type StoredResponse,
} from '../../notifications/configuration.js';
import type { UncheckedConfigurationInput } from '../../notifications/configuration-input.js';
import { type ConfigurationContents, decideUpdate } from '../../notifications/decide-configuration.js';
import { transitionEnablement } from '../../notifications/enablement.js';
import type {
  Conflict,
  FieldFault,
  InvalidAttributes,
  NotFound,
  VerificationFailed,
} from '../../notifications/errors.js';
import { users } from '../../notifications/user.js';
import type { StorageError } from '../../ports/storage.js';
import type { Instant } from '../../shared/instant.js';
import { type EngineContext, emit } from '../shared/context.js';
import { type ConfigurationView, viewConfiguration } from './configuration-view.js';
import { findConfiguration } from './find-resource.js';
import { refusedVerification } from './refused-verification.js';
import { openSecret, sealSecret } from './stored-secrets.js';
import { verifyDestination } from './verify-destination.js';

export interface UpdateConfigurationRequest {
  readonly configurationId: string;
  /** A `ConfigurationInput`; absent members keep their value. */
  readonly attributes: UncheckedConfigurationInput;
  readonly faults?: readonly FieldFault[];
}

export type UpdateConfigurationError = NotFound | InvalidAttributes | VerificationFailed | Conflict | StorageError;

/**
 * Changes a configuration. When a verification is needed (see `decideUpdate`) and fails, nothing is saved. A change that
 * somebody else makes while the verification is under way is not overwritten: this update then starts again from it,
 * once, and gives `conflict` when that happens again.
 */
export function updateNotificationConfiguration(
  context: EngineContext,
  caller: Principal,
  request: UpdateConfigurationRequest,
): ResultAsync<ConfigurationView, UpdateConfigurationError> {
  return new ResultAsync(
    update(context, caller, request).then((first) =>
      first.isErr() && first.error.type === 'conflict' ? update(context, caller, request) : first,
    ),
  );
}

/** Enables after a successful verification: an update with `enabled: true` and nothing else. */
export function enableNotificationConfiguration(
  context: EngineContext,
  caller: Principal,
  request: { readonly configurationId: string },
): ResultAsync<ConfigurationView, UpdateConfigurationError> {
  const { configurationId } = request;
  return updateNotificationConfiguration(context, caller, { configurationId, attributes: { enabled: true } });
}

async function update(
  context: EngineContext,
  caller: Principal,
  request: UpdateConfigurationRequest,
): Promise<Result<ConfigurationView, UpdateConfigurationError>> {
  const { notifications } = context.settings;
  const id = request.configurationId;
  const read = await context.storage.read((view) =>
    findConfiguration(view, caller, id).andThen(({ configuration, workspace }) => {
      const before = contentsOf(context, configuration);
      const surroundings = {
        organization: workspace.organization,
        findUser: (userId: string) => view.get(users, [userId])?.record,
        checkUrl: (url: string) => context.delivery.check(url),
      };
      return decideUpdate(before, request.attributes, surroundings, notifications, request.faults).map((decided) => ({
        configuration,
        before,
        ...decided,
      }));
    }),
  );
  const decision = read.andThen((it) => it);
  if (decision.isErr()) return err(decision.error);
  const { configuration, before, contents, probes } = decision.value;

  let response: StoredResponse | null = null;
  const step = transitionEnablement(
    { type: configuration.enabled ? 'enabled' : 'disabled' },
    { type: 'update', enabled: contents.enabled, probes },
  );
  if (step.isOk() && step.value.next.type === 'verifying') {
    const verified = await verifyDestination(context, id, contents);
    if (verified.isErr()) return err(verified.error);
    if (!verified.value.successful) return err(refusedVerification(context, contents.url ?? '', verified.value));
    response = verified.value;
  }

  const now = context.clock.now();
  const written = await context.storage.write<ConfigurationView, UpdateConfigurationError>((view) => {
    const found = findConfiguration(view, caller, id);
    if (found.isErr()) return err(found.error);
    const present = found.value.configuration;
    if (present.version !== configuration.version) return err(changedMeanwhile);
    const next: NotificationConfiguration = {
      ...present,
      enabled: contents.enabled,
      name: contents.name,
      triggers: contents.triggers,
      users: contents.users,
      url: contents.url === before.url ? present.url : contents.url === null ? null : sealSecret(context, contents.url),
      ...nextTokens(context, present, before, contents, now),
      response: response ?? present.response,
      updatedAt: Math.max(now, present.updatedAt),
      version: present.version + 1,
    };
    view.put(configurations, next);
    return ok(viewConfiguration(context, view, next, found.value.workspace));
  });
  if (written.isErr()) return err(written.error);
  const { workspaceId } = configuration;
  emit(context, 'notification.configuration', { configurationId: id, workspaceId, change: 'updated' });
  return ok(written.value.value);
}

const changedMeanwhile: Conflict = {
  type: 'conflict',
  message: 'The configuration was changed by another request at the same time; read it again and repeat the update',
};

/** A configuration with its secrets in the clear; one that cannot be read counts as empty and needs to be set again. */
export function contentsOf(context: EngineContext, configuration: NotificationConfiguration): ConfigurationContents {
  const { kind, destinationType, enabled, name, triggers, users: recipients } = configuration;
  return {
    kind,
    destinationType,
    enabled,
    name,
    triggers,
    users: recipients,
    token: openSecret(context, configuration.token).unwrapOr(null),
    url: openSecret(context, configuration.url).unwrapOr(null),
  };
}

/** Secrets kept besides the new one, at most. */
const maximumRetiredTokens = 10;

/** A replaced token goes on signing in the list header for the grace time; a cleared one does not. */
function nextTokens(
  context: EngineContext,
  present: NotificationConfiguration,
  before: ConfigurationContents,
  contents: ConfigurationContents,
  now: Instant,
): Pick<NotificationConfiguration, 'token' | 'retiredTokens'> {
  const stillValid = present.retiredTokens.filter((retired) => retired.until > now);
  if (contents.token === before.token) return { token: present.token, retiredTokens: stillValid };
  if (contents.token === null) return { token: null, retiredTokens: [] };
  const token = sealSecret(context, contents.token);
  const grace = context.settings.notifications.signature.rotationGrace;
  if (grace <= 0 || present.token === null) return { token, retiredTokens: stillValid };
  const retired: RetiredToken = { token: present.token, until: now + grace };
  return { token, retiredTokens: [retired, ...stillValid].slice(0, maximumRetiredTokens) };
}
