import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import type { StoredDeliveryOptions } from '../delivery/delivery-options.js';
import type { DestinationKind } from './destination.js';
import type { StoredSecret } from './secret.js';

/** The answer to the latest verification request, as it is kept. The URL is a secret like the configuration's own. */
export interface StoredResponse {
  readonly url: StoredSecret;
  /** Decoded text, capped. */
  readonly body: string;
  readonly code: string;
  /** Lower-case names; credentials that a destination sets are blanked out. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly sentAt: Instant;
  readonly successful: boolean;
}

/** A signing secret that has been replaced and still signs for a while. */
export interface RetiredToken {
  readonly token: StoredSecret;
  readonly until: Instant;
}

/** One destination of a workspace's notifications (notification interface, Resources). */
export interface NotificationConfiguration {
  readonly id: string;
  readonly workspaceId: string;
  readonly kind: DestinationKind;
  /** The destination type as the caller wrote it, which is how it is shown. */
  readonly destinationType: string;
  readonly enabled: boolean;
  readonly name: string;
  readonly token: StoredSecret | null;
  readonly retiredTokens: readonly RetiredToken[];
  /** Trigger forms as written, each trigger once. */
  readonly triggers: readonly string[];
  readonly url: StoredSecret | null;
  /** Ids of the recipients; empty for kinds other than e-mail. */
  readonly users: readonly string[];
  /** Options beyond the notification interface; absent when there are none. */
  readonly options?: StoredDeliveryOptions;
  /** The latest verification response, when there was one. */
  readonly response: StoredResponse | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  /** Incremented by each change of a caller. The outcome of a probe is saved only over the version at which the probe began. */
  readonly version: number;
}

export const configurations = table<NotificationConfiguration>(
  'notification_configurations',
  (configuration) => [configuration.id],
  {
    by_workspace: { version: 1, key: ({ workspaceId, createdAt }) => [workspaceId, createdAt] },
  },
);
