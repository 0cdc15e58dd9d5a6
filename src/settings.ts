import { usualValueBytes } from './functions/value-limits.js';
import type { QuotaRule } from './jobs/admission/namespace-quota.js';
import { credentialHeaders } from './notifications/delivery/redact.js';
import type { RunNotificationRule } from './notifications/run-notification-rule.js';
import { checkOptions } from './options/check-options.js';
import type { PolicyRule } from './queries/policy-rule.js';
import { type CollectionThresholds, defaultThresholds } from './scheduler/collection/thresholds.js';
import { settingKinds } from './setting-kinds.js';
import { day, hour, type Milliseconds, minute, second } from './shared/duration.js';
import { isRecord } from './shared/values.js';

/** Every default and limit of the engine, in one record. All values can be overridden in `createEngine`. */
export interface Settings {
  /** Blocking queries: reads that wait for a change. */
  readonly queries: {
    /** The wait of a blocking query without `wait`. */
    readonly defaultWait: Milliseconds;
    /** The longest wait of a blocking query; a longer one is cut to it. */
    readonly maximumWait: Milliseconds;
  };
  /** The event stream of the job interface. */
  readonly events: {
    /** Transactions whose events are kept for streams that begin at an earlier index; 0 disables the event stream. */
    readonly kept: number;
  };
  /** Registrations and dispatches of jobs. */
  readonly jobs: {
    /** Decoded bytes of a dispatch payload (job interface, Limits). */
    readonly maximumDispatchPayloadBytes: number;
    /** Untagged versions, and sources of submissions, kept per job (job interface, Limits). */
    readonly trackedVersions: number;
    /** Bytes of a submission's source, variables and flags together. */
    readonly maximumSourceLength: number;
    /** The largest sum of a job's counts. */
    readonly maximumCount: number;
    /** The name of this installation's region. */
    readonly region: string;
    /**
     * The page of a run, for links in notifications, such as `https://ci.example.net/{job}/{run}`. `{origin}` is
     * `notifications.publicOrigin`; `{namespace}`, `{job}`, and `{run}` or `{id}`, the ID of the run, are percent-encoded. Empty: no link.
     */
    readonly runUrl: string;
    /** Requirements on jobs, as filter expressions, in addition to those that the host gives as functions. */
    readonly policies: readonly PolicyRule[];
    /** Resource limits for all jobs of a namespace together. They must be equal in all processes over one store. */
    readonly quotas: readonly QuotaRule[];
  };
  /** Functions of the service. */
  readonly functions: {
    /** Runs of a function that have not ended; more are refused as `queue_full`. */
    readonly maximumUnfinished: number;
    /** Bytes of the JSON of an input, of a result and of the value of a step, each; 16 MiB at most. */
    readonly maximumValueBytes: number;
  };
  /** Evaluations and nodes. */
  readonly scheduling: {
    /** Attempts at one evaluation before it is marked failed. Store failures do not count. */
    readonly evaluationAttempts: number;
    /**
     * Evaluations of jobs with up to this many allocations are decided within their write. Larger ones are decided before it,
     * in several turns of the event loop.
     */
    readonly decidedAtOnce: number;
    /** Allocations per write of a plan that was decided in several turns. */
    readonly writtenAtOnce: number;
    /** A node without a heartbeat for this long is marked down. */
    readonly heartbeatTtl: Milliseconds;
  };
  /** Garbage collection: how long ended records are kept, and how often they are removed. */
  readonly collection: CollectionThresholds & {
    /** The least time from one collection to the next. */
    readonly interval: Milliseconds;
  };
  /** Configurations, events and deliveries. */
  readonly notifications: {
    /** Configurations per workspace (notification interface, Limits). */
    readonly maximumPerWorkspace: number;
    /** The page size of lists when the request gives none. */
    readonly defaultPageSize: number;
    /** The largest page size of lists. */
    readonly maximumPageSize: number;
    /** Timeouts of the verification request that is sent before a configuration is enabled. */
    readonly verification: {
      /** Time until the connection, with TLS, is established. */
      readonly connectTimeout: Milliseconds;
      /** Time of the whole request, with its response. */
      readonly totalTimeout: Milliseconds;
    };
    /** How notifications are sent and retried. */
    readonly delivery: {
      /** Time until an attempt's connection, with TLS, is established. */
      readonly connectTimeout: Milliseconds;
      /** Time of one whole attempt, with its response. */
      readonly totalTimeout: Milliseconds;
      /**
       * An engine's lease on the deliveries that it attempts; it renews at half time. After a crash
       * another engine takes over when the lease has expired. Attempts may take longer.
       */
      readonly lease: Milliseconds;
      /** The most deliveries of one configuration that one write cancels or ends by their age. */
      readonly window: number;
      /**
       * Least time between two writes of outcomes, so that many are stored together. When a process is killed, deliveries that
       * ended since the last write are sent again.
       */
      readonly recordWithin: Milliseconds;
      /** This many waiting outcomes are stored without waiting longer. */
      readonly recordBatch: number;
      /** A delivery of this age ends, whatever delayed it. Longer waits of the schedule are cut. */
      readonly maximumAge: Milliseconds;
      /** How long an engine remembers that a configuration has nothing due, before its queue is written as idle. */
      readonly linger: Milliseconds;
      /** The most concurrent attempts. */
      readonly concurrency: number;
      /** The most concurrent attempts of one configuration: it begins with four and grows up to this while its destination answers. */
      readonly concurrencyPerDestination: number;
      /** The most concurrent attempts at one origin (scheme, host and port), beyond four for each configuration. */
      readonly concurrencyPerOrigin: number;
      /** Waits before the second, third, … attempt; the attempt after the last wait is the last one. */
      readonly retry: {
        /** Webhooks. */
        readonly generic: readonly Milliseconds[];
        /** Both chat services. */
        readonly chat: readonly Milliseconds[];
        /** E-mail. */
        readonly email: readonly Milliseconds[];
      };
      /** Random variation of a wait, from 0 to 1; `0.2` is ±20 %. */
      readonly jitter: number;
      /** The longest wait that a destination can request with `Retry-After`; a longer one is cut to it. */
      readonly maximumRetryAfter: Milliseconds;
      /**
       * Attempts per second of one configuration, or at one chat URL; waiting does not use up attempts. `0` means
       * unlimited.
       */
      readonly rate: {
        /** Webhooks. */
        readonly generic: number;
        /** The first chat service (Slack). */
        readonly chatA: number;
        /** The second chat service (Microsoft Teams). */
        readonly chatB: number;
        /** E-mail. */
        readonly email: number;
      };
      /** `configuration_and_run` delivers one run's notifications in order, per configuration. */
      readonly ordering: 'configuration_and_run' | 'none';
      /** The circuit breaker of each configuration; it pauses a failing destination. */
      readonly breaker: {
        /** Consecutive failures that open it. */
        readonly failures: number;
        /** How long it first stays open before one trial attempt; each failed trial doubles the pause. */
        readonly pause: Milliseconds;
        /** The longest pause. */
        readonly maximumPause: Milliseconds;
      };
      /** A destination failing for this long is reported as `signalbox.destination.failing`. */
      readonly alertAfter: Milliseconds;
      /** Disables a configuration after this long without a success; null (the default) never does. */
      readonly autoDisableAfter: Milliseconds | null;
      /** Bytes kept of each response of a destination. */
      readonly maximumResponseBytes: number;
    };
    /**
     * Slows down senders: an event's acknowledgement is delayed while more than `from` deliveries wait for their first attempt in a
     * queue that it enters. The delay grows linearly and reaches `maximumWait` at `from` + `span`.
     */
    readonly pressure: {
      /** Waiting deliveries of a queue from which acknowledgements are delayed. */
      readonly from: number;
      /** Waiting deliveries beyond `from` at which the delay reaches `maximumWait`. */
      readonly span: number;
      /** The longest delay of an acknowledgement. */
      readonly maximumWait: Milliseconds;
    };
    /**
     * How long records of the delivery log are kept. They are removed at most an hour later, or a quarter of the shortest of these times, and
     * not within ten seconds.
     */
    readonly retention: {
      /** Successful deliveries, counted from their end. */
      readonly delivered: Milliseconds;
      /** Deliveries that ended otherwise, counted from their end. */
      readonly dead: Milliseconds;
      /** Idempotency keys of events; after this time a key can be used for another event. */
      readonly idempotency: Milliseconds;
    };
    /** The most deliveries that one bulk recovery re-sends. */
    readonly maximumRecover: number;
    /** How requests to destinations are identified and signed. */
    readonly signature: {
      /** Header names of the HMAC-SHA512 signature. */
      readonly headers: readonly string[];
      /** The header with the ID of the message, the same in every repetition. */
      readonly idHeader: string;
      /** The header with the time at which the event was accepted, the same in every repetition. */
      readonly timestampHeader: string;
      /** Also send `webhook-id`, `webhook-timestamp` and `webhook-signature`. */
      readonly standardWebhooks: boolean;
      /** How long a replaced secret still signs in `webhook-signature`; 0 ends it at once. */
      readonly rotationGrace: Milliseconds;
    };
    /**
     * Headers of answers that are stored as `[redacted]`, lower case: credentials that a destination sets are its own affair.
     * An empty list stores everything as it came.
     */
    readonly redactedHeaders: readonly string[];
    /** Whether messages of events that belong to a trace carry the header `traceparent`. */
    readonly traceparent: boolean;
    /** When an update of an enabled configuration sends a verification request: only if url or token change, or always. */
    readonly verifyOnUpdate: 'relevant' | 'always';
    /** Whether an update without users keeps the configuration's users or removes them. */
    readonly omittedUsersOnUpdate: 'keep' | 'clear';
    /** Public origin of the service, for links in messages and payloads, without a trailing slash. */
    readonly publicOrigin: string;
    /** Path under which the notification interface is mounted, for `links.self` and payload URLs; `` or `/api/v2`. */
    readonly basePath: string;
    /** How messages name settings that the operator can change. */
    readonly hints: {
      /** Why e-mail cannot be sent when there is no mailer, and what to do. */
      readonly mailer: string;
    };
    /** `neutral` uses the interface's own forms; `upstream` those of the clients that exist for this interface. */
    readonly names: 'neutral' | 'upstream';
  };
  /** Which jobs report their runs to which workspace; the first matching rule decides. */
  readonly runNotifications: readonly RunNotificationRule[];
}

/** The settings of an engine without overrides; `Settings` describes each. */
export const defaultSettings: Settings = {
  queries: { defaultWait: 5 * minute, maximumWait: 5 * minute },
  events: { kept: 1_000 },
  jobs: {
    maximumDispatchPayloadBytes: 16_384,
    trackedVersions: 6,
    maximumSourceLength: 1_000_000,
    maximumCount: 50_000,
    region: 'global',
    runUrl: '',
    policies: [],
    quotas: [],
  },
  functions: { maximumUnfinished: 1_000_000, maximumValueBytes: usualValueBytes },
  scheduling: { evaluationAttempts: 3, decidedAtOnce: 50, writtenAtOnce: 16, heartbeatTtl: 30 * second },
  collection: { ...defaultThresholds, interval: 5 * minute },
  notifications: {
    maximumPerWorkspace: 20,
    defaultPageSize: 20,
    maximumPageSize: 100,
    verification: { connectTimeout: 5 * second, totalTimeout: 10 * second },
    delivery: {
      connectTimeout: 5 * second,
      totalTimeout: 15 * second,
      lease: 6 * second,
      window: 256,
      recordWithin: 200,
      recordBatch: 128,
      maximumAge: day,
      linger: 10 * second,
      concurrency: 256,
      concurrencyPerDestination: 32,
      concurrencyPerOrigin: 128,
      retry: {
        // Dense enough that after an outage of some hours the next attempt is at most two hours away.
        generic: [
          5 * second,
          30 * second,
          2 * minute,
          10 * minute,
          30 * minute,
          hour,
          2 * hour,
          2 * hour,
          5 * hour,
          10 * hour,
        ],
        chat: [5 * second, 30 * second, 2 * minute, 10 * minute, hour],
        email: [5 * second, 30 * second, 2 * minute, 10 * minute, hour],
      },
      jitter: 0.2,
      maximumRetryAfter: hour,
      rate: { generic: 0, chatA: 1, chatB: 2, email: 0 },
      ordering: 'configuration_and_run',
      breaker: { failures: 5, pause: 30 * second, maximumPause: 10 * minute },
      alertAfter: 15 * minute,
      autoDisableAfter: null,
      maximumResponseBytes: 16_384,
    },
    pressure: { from: 256, span: 2560, maximumWait: 500 },
    retention: { delivered: 30 * day, dead: 30 * day, idempotency: day },
    maximumRecover: 10_000,
    signature: {
      headers: ['x-svc-notification-signature'],
      idHeader: 'x-svc-notification-id',
      timestampHeader: 'x-svc-notification-timestamp',
      standardWebhooks: false,
      rotationGrace: 0,
    },
    redactedHeaders: credentialHeaders,
    traceparent: true,
    verifyOnUpdate: 'relevant',
    omittedUsersOnUpdate: 'keep',
    publicOrigin: 'http://localhost',
    basePath: '',
    hints: { mailer: 'the engine has no mailer; give createEngine one, for example smtpMailer' },
    names: 'neutral',
  },
  runNotifications: [],
};

/** The allowed values of enumerated settings, by setting path. */
export const settingChoices = {
  'notifications.delivery.ordering': ['configuration_and_run', 'none'],
  'notifications.verifyOnUpdate': ['relevant', 'always'],
  'notifications.omittedUsersOnUpdate': ['keep', 'clear'],
  'notifications.names': ['neutral', 'upstream'],
} as const satisfies {
  readonly 'notifications.delivery.ordering': readonly Settings['notifications']['delivery']['ordering'][];
  readonly 'notifications.verifyOnUpdate': readonly Settings['notifications']['verifyOnUpdate'][];
  readonly 'notifications.omittedUsersOnUpdate': readonly Settings['notifications']['omittedUsersOnUpdate'][];
  readonly 'notifications.names': readonly Settings['notifications']['names'][];
};

const settingsTable = settingKinds<Settings>(defaultSettings, settingChoices);

/** The settings, or one of their parts (`T`), partial at every depth; lists are replaced whole. */
export type SettingsOverrides<T = Settings> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: SettingsOverrides<T[K]> }
    : T;

/** The defaults with the overrides applied. Throws a TypeError for unknown names and mistyped values. */
export function settingsFrom(overrides: SettingsOverrides): Settings {
  checkOptions<SettingsOverrides>('settings', overrides, settingsTable);
  return overlay(defaultSettings, overrides) as Settings;
}

function overlay(base: object, overrides: object): object {
  const merged: Record<string, unknown> = { ...base };
  for (const [name, value] of Object.entries(overrides)) {
    if (value === undefined) continue;
    const present = merged[name];
    merged[name] = isRecord(present) && isRecord(value) ? overlay(present, value) : value;
  }
  return merged;
}
