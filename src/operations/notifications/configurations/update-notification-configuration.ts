import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import {
  configurations,
  type NotificationConfiguration,
  type RetiredToken,
  type StoredResponse,
} from '../../../notifications/configurations/configuration.js';
import {
  type ConfigurationContents,
  type DecidedConfiguration,
  decideUpdate,
  transitionEnablement,
} from '../../../notifications/configurations/decide-configuration.js';
import { noDeliveryOptions, sameOptions, secretsOf } from '../../../notifications/delivery/delivery-options.js';
import type { Conflict, InvalidAttributes, NotFound, VerificationFailed } from '../../../notifications/errors.js';
import { users } from '../../../notifications/workspace.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import type { Instant } from '../../../shared/instant.js';
import { commitValue } from '../../commit.js';
import { type EngineContext, readResult } from '../../context/engine-context.js';
import { decryptOptions, decryptSecret, encryptOptions, encryptSecret } from '../../records/stored-secrets.js';
import type { Transaction } from '../../write-transaction.js';
import { findConfiguration } from '../find-resource.js';
import { cancelUnfinished, closeBreaker } from '../log/change-queue.js';
import { type ConfigurationView, viewConfiguration } from './configuration-view.js';
import type { CreateConfigurationRequest } from './create-notification-configuration.js';
import { fatesOf, lossOf, type SecretFates, verificationObstacle } from './unreadable-secrets.js';
import { mailObstacle, openRetiredTokens, refusedVerification, verifyDestination } from './verify-destination.js';

/** The changes of a configuration. */
interface UpdateConfigurationRequest extends Omit<CreateConfigurationRequest, 'workspaceId'> {
  /** Members that its attributes leave out keep their value. */
  readonly configurationId: string;
}

/** Errors of `updateNotificationConfiguration`. */
export type UpdateConfigurationError = NotFound | InvalidAttributes | VerificationFailed | Conflict | StorageError;

/**
 * Changes a configuration. If a required verification (see `decideUpdate`) fails, nothing is saved. A concurrent change
 * during the verification is not overwritten: the update then starts again from it,
 * once, and returns `conflict` after a second one.
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
  const decision = await readResult(context, (view) => decide(context, view, caller, request));
  if (decision.isErr()) return err(decision.error);
  const verified = await verifyIfNeeded(context, decision.value);
  if (verified.isErr()) return err(verified.error);
  const verifiedUpdate = { ...decision.value, response: verified.value };
  return commitValue<ConfigurationView, UpdateConfigurationError>(context, caller, (tx) =>
    writeUpdate(context, tx, caller, verifiedUpdate),
  );
}

/** An update decided from one state of the store. */
interface Update extends DecidedConfiguration {
  readonly configuration: NotificationConfiguration;
  readonly before: ConfigurationContents;
  readonly fates: SecretFates;
}

function decide(
  context: EngineContext,
  view: ReadView,
  caller: Principal,
  request: UpdateConfigurationRequest,
): Result<Update, UpdateConfigurationError> {
  return findConfiguration(view, caller, request.configurationId).andThen(({ configuration, workspace }) => {
    const before = contentsOf(context, configuration);
    const configurationContext = {
      organization: workspace.organization,
      findUser: (userId: string) => view.get(users, [userId])?.record,
      checkUrl: (url: string) => context.delivery.check(url),
      mailObstacle: mailObstacle(context),
    };
    const fates = fatesOf(context, configuration, request.attributes);
    const loss = lossOf(fates, request.attributes);
    return decideUpdate(before, request, configurationContext, context.settings.notifications).andThen((decided) =>
      loss === null ? ok({ configuration, before, fates, ...decided }) : err(loss),
    );
  });
}

/** Sends the verification request if one is required; returns the response, or null when none is required. */
async function verifyIfNeeded(
  context: EngineContext,
  { configuration, before, contents, fates, probes }: Update,
): Promise<Result<StoredResponse | null, UpdateConfigurationError>> {
  const step = transitionEnablement(
    { type: configuration.enabled ? 'enabled' : 'disabled' },
    { type: 'update', enabled: contents.enabled, probes },
  );
  if (step.isErr() || step.value.next.type !== 'verifying') return ok(null);
  const obstacle = verificationObstacle(fates);
  if (obstacle !== null) return err(obstacle);
  const change = { before, after: contents, fates };
  const about = {
    workspaceId: configuration.workspaceId,
    configurationId: configuration.id,
    retiredTokens: openRetiredTokens(
      context,
      nextTokens(context, configuration, change, context.clock.now()).retiredTokens,
    ),
  };
  const verified = await verifyDestination(context, about, contents);
  if (verified.isErr()) return err(verified.error);
  return verified.value.successful
    ? ok(verified.value)
    : err(refusedVerification(context, contents.url ?? '', verified.value));
}

function writeUpdate(
  context: EngineContext,
  tx: Transaction,
  caller: Principal,
  update: Update & { readonly response: StoredResponse | null },
): Result<ConfigurationView, UpdateConfigurationError> {
  const { configuration, before, contents, fates, response } = update;
  const found = findConfiguration(tx, caller, configuration.id);
  if (found.isErr()) return err(found.error);
  const present = found.value.configuration;
  if (present.version !== configuration.version) return err(changedMeanwhile);
  const { options: presentOptions, ...kept } = present;
  const options = nextOptions(context, presentOptions, { before, after: contents, fates });
  const next: NotificationConfiguration = {
    ...kept,
    ...(options === undefined ? {} : { options }),
    enabled: contents.enabled,
    name: contents.name,
    triggers: contents.triggers,
    users: contents.users,
    url: contents.url === before.url ? present.url : sealUrl(context, contents.url),
    ...nextTokens(context, present, { before, after: contents, fates }, tx.now),
    response: response ?? present.response,
    updatedAt: Math.max(tx.now, present.updatedAt),
    version: present.version + 1,
  };
  tx.put(configurations, next);
  if (present.enabled && !next.enabled) cancelUnfinished(tx, present.id, 'configuration_disabled');
  else if (next.enabled && (response !== null || !present.enabled)) closeBreaker(tx, present.id);
  const { id: configurationId, workspaceId } = present;
  tx.emit('notification.configuration', { configurationId, workspaceId, change: 'updated' });
  return ok(viewConfiguration(context, tx, next, found.value.workspace));
}

/** Secrets before a change and after it. */
interface SecretChange {
  readonly before: ConfigurationContents;
  readonly after: ConfigurationContents;
  readonly fates: SecretFates;
}

/**
 * Unchanged secret options keep their stored form, even if this process cannot decrypt them: another one may have their
 * key.
 */
function nextOptions(
  context: EngineContext,
  present: NotificationConfiguration['options'],
  { before, after, fates }: SecretChange,
): NotificationConfiguration['options'] {
  if (fates.options === 'replaced') return encryptOptions(context, after.options);
  if (sameOptions(after.options, before.options)) return present;
  const sealed = encryptOptions(context, after.options);
  if (sealed === undefined || present === undefined) return sealed;
  return sameOptions(secretsOf(after.options), secretsOf(before.options))
    ? { ...sealed, secrets: present.secrets }
    : sealed;
}

function sealUrl(context: EngineContext, url: string | null): NotificationConfiguration['url'] {
  return url === null ? null : encryptSecret(context, url);
}

const changedMeanwhile: Conflict = {
  type: 'conflict',
  message: 'The configuration was changed by another request at the same time; read it again and repeat the update',
};

/** A configuration with decrypted secrets; an undecipherable one counts as empty and must be set again. */
export function contentsOf(context: EngineContext, configuration: NotificationConfiguration): ConfigurationContents {
  const { kind, destinationType, enabled, name, triggers, users: recipients } = configuration;
  return {
    kind,
    destinationType,
    enabled,
    name,
    triggers,
    users: recipients,
    token: decryptSecret(context, configuration.token).unwrapOr(null),
    url: decryptSecret(context, configuration.url).unwrapOr(null),
    options: decryptOptions(context, configuration.options).unwrapOr({
      ...noDeliveryOptions,
      ...configuration.options,
    }),
  };
}

/** The maximum number of replaced secrets that are kept. */
const maximumRetiredTokens = 10;

/** A replaced token still signs in the list header for the grace period; a cleared one does not. */
function nextTokens(
  context: EngineContext,
  present: NotificationConfiguration,
  { before, after, fates }: SecretChange,
  now: Instant,
): Pick<NotificationConfiguration, 'token' | 'retiredTokens'> {
  const stillValid = present.retiredTokens.filter((retired) => retired.until > now);
  if (after.token === before.token && fates.token !== 'replaced')
    return { token: present.token, retiredTokens: stillValid };
  if (after.token === null) return { token: null, retiredTokens: [] };
  const token = encryptSecret(context, after.token);
  const grace = after.options.rotationGrace ?? context.settings.notifications.signature.rotationGrace;
  if (grace <= 0 || present.token === null) return { token, retiredTokens: stillValid };
  const retired: RetiredToken = { token: present.token, until: now + grace };
  return { token, retiredTokens: [retired, ...stillValid].slice(0, maximumRetiredTokens) };
}
