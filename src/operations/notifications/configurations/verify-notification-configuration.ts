import { err, ok, type Result, ResultAsync } from 'neverthrow';
import type { Principal } from '../../../access/principal.js';
import {
  configurations,
  type NotificationConfiguration,
  type StoredResponse,
} from '../../../notifications/configurations/configuration.js';
import { usesUrl } from '../../../notifications/configurations/destination.js';
import type { NotFound, VerificationFailed } from '../../../notifications/errors.js';
import type { Recipient } from '../../../notifications/payloads/message-outline.js';
import { users, type Workspace } from '../../../notifications/workspace.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import { commit } from '../../commit.js';
import { type EngineContext, readResult } from '../../context/engine-context.js';
import { findConfiguration } from '../find-resource.js';
import { closeBreaker } from '../log/change-queue.js';
import { type ConfigurationView, viewConfiguration } from './configuration-view.js';
import { fatesOf, verificationObstacle } from './unreadable-secrets.js';
import { contentsOf } from './update-notification-configuration.js';
import { openRetiredTokens, refusedVerification, verifyDestination, verifyRecipients } from './verify-destination.js';

/** Why a destination is not verified. */
type VerifyConfigurationError = NotFound | VerificationFailed | StorageError;

/**
 * Sends a verification request (e-mail: a test mail) and stores the response. A response other than 2xx is stored, too, and
 * returned as `verification_failed`. Without a response nothing changes. Enablement never changes. The response of a URL
 * that was replaced in the meantime is not stored.
 */
export function verifyNotificationConfiguration(
  context: EngineContext,
  caller: Principal,
  request: { readonly configurationId: string },
): ResultAsync<ConfigurationView, VerifyConfigurationError> {
  return new ResultAsync(verify(context, caller, request.configurationId));
}

async function verify(
  context: EngineContext,
  caller: Principal,
  id: string,
): Promise<Result<ConfigurationView, VerifyConfigurationError>> {
  const found = await readResult(context, (view) =>
    findConfiguration(view, caller, id).map((found) => ({
      configuration: found.configuration,
      recipients: recipientsOf(view, found.configuration, found.workspace),
      shown: viewConfiguration(context, view, found.configuration, found.workspace),
    })),
  );
  if (found.isErr()) return err(found.error);
  const { configuration, recipients, shown } = found.value;
  const contents = contentsOf(context, configuration);
  if (!usesUrl(configuration.kind)) {
    return (await verifyRecipients(context, id, contents, recipients)).map(() => shown);
  }

  const obstacle = verificationObstacle(fatesOf(context, configuration, {}));
  if (obstacle !== null) return err(obstacle);
  const verified = await verifyDestination(
    context,
    {
      workspaceId: configuration.workspaceId,
      configurationId: id,
      retiredTokens: openRetiredTokens(context, configuration.retiredTokens),
    },
    contents,
  );
  if (verified.isErr()) return err(verified.error);
  const response = verified.value;
  const stored = await commit<ConfigurationView, VerifyConfigurationError>(context, caller, (tx) =>
    findConfiguration(tx, caller, id).map((present) => {
      const next = withResponse(present.configuration, configuration, response);
      if (next !== present.configuration) {
        tx.put(configurations, next);
        if (response.successful) closeBreaker(tx, id);
      }
      const { workspaceId } = present.configuration;
      tx.emit('notification.configuration', { configurationId: id, workspaceId, change: 'verified' });
      return viewConfiguration(context, tx, next, present.workspace);
    }),
  );
  if (stored.isErr()) return err(stored.error);
  return response.successful ? ok(stored.value.value) : err(refusedVerification(context, contents.url ?? '', response));
}

function withResponse(
  present: NotificationConfiguration,
  asked: NotificationConfiguration,
  response: StoredResponse,
): NotificationConfiguration {
  return JSON.stringify(present.url) === JSON.stringify(asked.url) ? { ...present, response } : present;
}

/** The configuration's users that are (still) members of the workspace's organization. */
export function recipientsOf(
  view: ReadView,
  configuration: NotificationConfiguration,
  workspace: Workspace,
): Recipient[] {
  return configuration.users.flatMap((id) => {
    const user = view.get(users, [id])?.record;
    if (user === undefined || user.organization !== workspace.organization) return [];
    return [{ userId: user.id, username: user.username, email: user.email }];
  });
}
