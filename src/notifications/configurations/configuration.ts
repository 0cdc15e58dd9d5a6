import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import type { StoredDeliveryOptions } from '../delivery/delivery-options.js';
import type { DestinationKind, StoredSecret } from './destination.js';

/** The stored response to the latest verification request. The URL is a secret, as in the configuration. */
export interface StoredResponse {
  readonly url: StoredSecret;
  /** Decoded and truncated. */
  readonly body: string;
  readonly code: string;
  /** By lower-case name; credentials set by a destination are redacted. */
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
  /** The destination type as written by the caller; shown in this form. */
  readonly destinationType: string;
  readonly enabled: boolean;
  readonly name: string;
  readonly token: StoredSecret | null;
  readonly retiredTokens: readonly RetiredToken[];
  /** Trigger forms as written, each trigger once. */
  readonly triggers: readonly string[];
  readonly url: StoredSecret | null;
  /** IDs of the recipients; empty for kinds other than e-mail. */
  readonly users: readonly string[];
  /** Options beyond the notification interface; absent when there are none. */
  readonly options?: StoredDeliveryOptions;
  /** The latest verification response; null before the first. */
  readonly response: StoredResponse | null;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  /** Incremented by each change of a caller. The outcome of a probe is saved only if this version is unchanged since it began. */
  readonly version: number;
}

export const configurations = table<NotificationConfiguration>(
  'notification_configurations',
  (configuration) => [configuration.id],
  {
    by_workspace: { version: 1, key: ({ workspaceId, createdAt }) => [workspaceId, createdAt] },
  },
);

/** As exports have it: without its URL, signing secrets, headers, certificates and last response. The host never resolves. */
export function configurationWithoutSecrets({
  options,
  ...record
}: NotificationConfiguration): NotificationConfiguration {
  return {
    ...record,
    url: record.url && { plain: `https://left-out.invalid/${record.id}` },
    token: null,
    retiredTokens: [],
    response: null,
    ...(options === undefined ? {} : { options: { ...options, secrets: null } }),
  };
}
