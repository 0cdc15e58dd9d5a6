import type { NotificationConfiguration, StoredResponse } from '../../notifications/configuration.js';
import type { DestinationKind } from '../../notifications/destination.js';
import type { VerificationResponse } from '../../notifications/errors.js';
import { withoutUserinfo } from '../../notifications/redact.js';
import { users } from '../../notifications/user.js';
import type { Workspace } from '../../notifications/workspace.js';
import type { ReadView } from '../../ports/storage.js';
import { isoFromInstant } from '../../shared/instant.js';
import type { EngineContext } from '../shared/context.js';
import { openSecret } from './stored-secrets.js';

/** A configuration as a caller with admin rights sees it. The token is write-only and not part of it. */
export interface ConfigurationView {
  readonly id: string;
  readonly workspaceId: string;
  readonly kind: DestinationKind;
  /** As the caller wrote it. */
  readonly destinationType: string;
  readonly enabled: boolean;
  readonly name: string;
  /** Null for e-mail, and when it was encrypted with a key that is no longer there. */
  readonly url: string | null;
  readonly triggers: readonly string[];
  /** Recipients that still belong to the organization. */
  readonly users: readonly string[];
  /** The latest verification response, if any. */
  readonly response: VerificationResponse | null;
  /** RFC 3339 in UTC with milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

export function viewConfiguration(
  context: EngineContext,
  view: ReadView,
  configuration: NotificationConfiguration,
  workspace: Workspace,
): ConfigurationView {
  const url = openSecret(context, configuration.url);
  if (url.isErr()) {
    context.logger.warn({ configuration: configuration.id, error: url.error.message }, 'A destination cannot be read');
  }
  return {
    id: configuration.id,
    workspaceId: configuration.workspaceId,
    kind: configuration.kind,
    destinationType: configuration.destinationType,
    enabled: configuration.enabled,
    name: configuration.name,
    url: url.unwrapOr(null),
    triggers: configuration.triggers,
    users: configuration.users.filter((id) => view.get(users, [id])?.record.organization === workspace.organization),
    response: configuration.response === null ? null : viewResponse(context, configuration.response),
    createdAt: isoFromInstant(configuration.createdAt),
    updatedAt: isoFromInstant(configuration.updatedAt),
  };
}

export function viewResponse(context: EngineContext, response: StoredResponse): VerificationResponse {
  const { body, code, headers, successful } = response;
  const url = withoutUserinfo(openSecret(context, response.url).unwrapOr(''));
  return { url, body, code, headers, sentAt: isoFromInstant(response.sentAt), successful };
}
