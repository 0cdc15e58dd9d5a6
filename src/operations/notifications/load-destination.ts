import { configurations, type NotificationConfiguration } from '../../notifications/configuration.js';
import { usesUrl } from '../../notifications/destination.js';
import type { Recipient } from '../../notifications/message-context.js';
import { originOf } from '../../notifications/redact.js';
import { type Workspace, workspaces } from '../../notifications/workspace.js';
import type { ReadView } from '../../ports/storage.js';
import type { Instant } from '../../shared/instant.js';
import type { EngineContext } from '../shared/context.js';
import { openSecret } from './stored-secrets.js';
import { recipientsOf } from './verify-notification-configuration.js';

/** Where a configuration's deliveries go, as it is configured now, with the secrets in the clear. */
export type Destination =
  /** Nothing may be sent any more; what waits is cancelled. */
  | { readonly type: 'closed'; readonly reason: 'configuration_disabled' | 'configuration_deleted' }
  | {
      readonly type: 'http';
      readonly url: string;
      /** Scheme, host and port: shared limits of concurrency and rate hang on it, and it is what logs may show. */
      readonly origin: string;
      readonly token: string | null;
      readonly retiredTokens: readonly string[];
    }
  | {
      readonly type: 'email';
      readonly configuration: NotificationConfiguration;
      readonly workspace: Workspace;
      readonly recipients: readonly Recipient[];
    }
  /** Sealed with a key that the host no longer gives. */
  | { readonly type: 'unreadable'; readonly message: string };

export function loadDestination(
  context: EngineContext,
  view: ReadView,
  configurationId: string,
  now: Instant,
): Destination {
  const configuration = view.get(configurations, [configurationId])?.record;
  const workspace = configuration && view.get(workspaces, [configuration.workspaceId])?.record;
  if (configuration === undefined || workspace === undefined) {
    return { type: 'closed', reason: 'configuration_deleted' };
  }
  if (!configuration.enabled) return { type: 'closed', reason: 'configuration_disabled' };
  if (!usesUrl(configuration.kind)) {
    return { type: 'email', configuration, workspace, recipients: recipientsOf(view, configuration, workspace) };
  }
  const url = openSecret(context, configuration.url);
  const token = openSecret(context, configuration.token);
  if (url.isErr() || token.isErr() || url.value === null) {
    return { type: 'unreadable', message: 'The URL or the token of the configuration cannot be decrypted' };
  }
  const retiredTokens = configuration.retiredTokens
    .filter((retired) => retired.until > now)
    .flatMap((retired) => openSecret(context, retired.token).unwrapOr([]));
  return { type: 'http', url: url.value, origin: originOf(url.value), token: token.value, retiredTokens };
}

/** What shares the limits of concurrency and rate. */
export function originKey(destination: Destination): string {
  switch (destination.type) {
    case 'http':
      return destination.origin;
    case 'email':
      return 'mailto:';
    case 'closed':
    case 'unreadable':
      return '';
  }
}
