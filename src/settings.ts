import { leastValueBytes, mostValueBytes, usualValueBytes } from './functions/value-limits.js';
import { policyLevels } from './jobs/admission/job-policy.js';
import type { QuotaRule } from './jobs/admission/namespace-quota.js';
import { credentialHeaders } from './notifications/delivery/redact.js';
import type { RunNotificationRule } from './notifications/workspace.js';
import { checkOptions } from './options/check-options.js';
import {
  amount,
  count,
  headerName,
  mapOf,
  oneOf,
  optional,
  passingTime,
  share,
  text,
  textLike,
  wholeFrom,
} from './options/option-kinds.js';
import {
  choice,
  durationOrNull,
  durations,
  fraction,
  headers,
  ms,
  onOff,
  optionsOf,
  rules,
  string,
  type ValuesOf,
  valuesOf,
  whole,
} from './options/setting-kinds.js';
import type { PolicyRule } from './queries/policy-rule.js';
import { day, hour, minute, second } from './shared/duration.js';

/** A template of the pages of runs; empty for none. */
const runUrl = textLike(
  /^(?:|(?:\{origin\}\/|https?:\/\/)(?:[^\s{}]|\{(?:origin|namespace|job|run|id)\}){0,2000})$/,
  "a URL such as 'https://ci.example.net/{job}/{run}', or '' for no links",
);
const firstWaits = [5 * second, 30 * second, 2 * minute, 10 * minute];

/*
 * A setting is one line: its kind, its default, and the range that a server accepts where it differs from that of the kind; `createEngine`
 * accepts all amounts, or what the last argument says. The type `Settings`, the defaults, the check of overrides and, with the summaries in
 * `adapters/cli/settings/engine-settings.ts`, the settings of a server are made from it.
 */

/** Every setting of the engine with its default, and the allowed values of those that are enumerated. `Settings` are their values. */
export const engineSettings = {
  /** Blocking queries: reads that wait for a change. */
  queries: {
    /** The wait of a blocking query without `wait`. */
    defaultWait: ms(5 * minute),
    /** The longest wait of a blocking query; a longer one is cut to it. */
    maximumWait: ms(5 * minute),
  },
  /** The event stream of the job interface. */
  events: {
    /** Transactions whose events are kept for streams that begin at an earlier index; 0 disables the event stream. */
    kept: whole(1_000, 1_000_000, 0),
  },
  /** Registrations and dispatches of jobs. */
  jobs: {
    /** Decoded bytes of a dispatch payload (job interface, Limits). */
    maximumDispatchPayloadBytes: whole(16_384, 16_777_216, 0),
    /** Untagged versions, and sources of submissions, kept per job (job interface, Limits). */
    trackedVersions: whole(6),
    /** Ended runs kept for each batch job, or for each parent of instances, after the runs themselves are collected. */
    keptRuns: whole(200, 1000, 0),
    /** How long ended runs are kept. */
    runsKeptFor: ms(30 * day),
    /** Bytes of a submission's source, variables and flags together. */
    maximumSourceLength: whole(1_000_000, 16_777_216, 0),
    /** The largest sum of a job's counts. */
    maximumCount: whole(50_000),
    /** The name of this installation's region. */
    region: string('global', text, 'name'),
    /**
     * The page of a run, for links in notifications, such as `https://ci.example.net/{job}/{run}`. `{origin}` is
     * `notifications.publicOrigin`; `{namespace}`, `{job}`, and `{run}` or `{id}`, the ID of the run, are percent-encoded. Empty: no link.
     */
    runUrl: string('', runUrl),
    /** Requirements on jobs, as filter expressions, in addition to those that the host gives as functions. */
    policies: rules<PolicyRule>({ name: text, level: oneOf(...policyLevels), refuse: text, message: optional(text) }),
    /** Resource limits for all jobs of a namespace together. They must be equal in all processes over one store. */
    quotas: rules<QuotaRule>({
      namespace: text,
      jobs: optional(amount),
      cpu: optional(amount),
      cores: optional(amount),
      memoryMB: optional(amount),
      dispatchesPerMinute: optional(amount),
    }),
  },
  /** Functions of the service. */
  functions: {
    /** Runs of a function that have not ended; more are refused as `queue_full`. */
    maximumUnfinished: whole(1_000_000, 100_000_000, 1, count),
    /** Bytes of the JSON of an input, of a result and of the value of a step, each; 16 MiB at most. */
    maximumValueBytes: whole(
      usualValueBytes,
      mostValueBytes,
      leastValueBytes,
      wholeFrom(leastValueBytes, mostValueBytes),
    ),
  },
  /** Evaluations and nodes. */
  scheduling: {
    /** Attempts at one evaluation before it is marked failed. Store failures do not count. */
    evaluationAttempts: whole(3, 1000),
    /**
     * Evaluations of jobs with up to this many allocations are decided within their write. Larger ones are decided before it,
     * in several turns of the event loop.
     */
    decidedAtOnce: whole(50, 1_000_000, 0),
    /** Allocations per write of a plan that was decided in several turns. */
    writtenAtOnce: whole(16),
    /** A node without a heartbeat for this long is marked down. */
    heartbeatTtl: ms(30 * second, 1000),
  },
  /** Garbage collection: how long ended records are kept, and how often they are removed. */
  collection: {
    /** Evaluations that have ended, with their allocations. */
    evaluation: ms(hour),
    /** Evaluations of batch jobs, whose allocations record completed work. */
    batchEvaluation: ms(day),
    /** Allocations that failed, timed out or were lost, with their job and evaluation, if this is longer: users need their logs. */
    failedRun: ms(day),
    /** Jobs that are dead. */
    job: ms(4 * hour),
    /** Deployments that are over. */
    deployment: ms(hour),
    /** Nodes that are down and whose allocations have ended. */
    node: ms(day),
    /** The least time from one collection to the next. */
    interval: ms(5 * minute, 1000),
  },
  /** Configurations, events and deliveries. */
  notifications: {
    /** Configurations per workspace (notification interface, Limits). */
    maximumPerWorkspace: whole(20),
    /** The page size of lists when the request gives none. */
    defaultPageSize: whole(20, 1000, 1, count),
    /** The largest page size of lists. */
    maximumPageSize: whole(100, 1000, 1, count),
    /** Timeouts of the verification request that is sent before a configuration is enabled. */
    verification: {
      /** Time until the connection, with TLS, is established. */
      connectTimeout: ms(5 * second),
      /** Time of the whole request, with its response. */
      totalTimeout: ms(10 * second),
    },
    /** How notifications are sent and retried. */
    delivery: {
      /** Time until an attempt's connection, with TLS, is established. */
      connectTimeout: ms(5 * second),
      /** Time of one whole attempt, with its response. */
      totalTimeout: ms(15 * second),
      /**
       * An engine's lease on the deliveries that it attempts; it renews at half time. After a crash
       * another engine takes over when the lease has expired. Attempts may take longer.
       */
      lease: ms(6 * second, 1000, passingTime(1)),
      /** The most deliveries of one configuration that one write cancels or ends by their age. */
      window: whole(256, 100_000, 1, count),
      /**
       * Least time between two writes of outcomes, so that many are stored together. When a process is killed, deliveries that
       * ended since the last write are sent again.
       */
      recordWithin: ms(200, 0, passingTime(0)),
      /** This many waiting outcomes are stored without waiting longer. */
      recordBatch: whole(128, 10_000),
      /** A delivery of this age ends, whatever delayed it. Longer waits of the schedule are cut. */
      maximumAge: ms(day),
      /** How long an engine remembers that a configuration has nothing due, before its queue is written as idle. */
      linger: ms(10 * second, 0),
      // With zero nothing would be sent, and the delivery loop would spin.
      /** The most concurrent attempts. */
      concurrency: whole(256, 10_000, 1, count),
      /** The most concurrent attempts of one configuration: it begins with four and grows up to this while its destination answers. */
      concurrencyPerDestination: whole(32, 1000),
      /** The most concurrent attempts at one origin (scheme, host and port), beyond four for each configuration. */
      concurrencyPerOrigin: whole(128, 10_000),
      /** Waits before the second, third, … attempt, in milliseconds; the attempt after the last wait is the last one. */
      retry: {
        // Dense enough that after an outage of some hours the next attempt is at most two hours away.
        /** Webhooks. */
        generic: durations([...firstWaits, 30 * minute, hour, 2 * hour, 2 * hour, 5 * hour, 10 * hour]),
        /** Both chat services. */
        chat: durations([...firstWaits, hour]),
        /** E-mail. */
        email: durations([...firstWaits, hour]),
      },
      /** Random variation of a wait, from 0 to 1; `0.2` is ±20 %. */
      jitter: fraction(0.2, 1, share),
      /** The longest wait that a destination can request with `Retry-After`; a longer one is cut to it. */
      maximumRetryAfter: ms(hour, 0),
      /**
       * Attempts per second of one configuration, or at one chat URL; waiting does not use up attempts. `0` means
       * unlimited.
       */
      rate: {
        /** Webhooks. */
        generic: fraction(0),
        /** The first chat service (Slack). */
        chatA: fraction(1),
        /** The second chat service (Microsoft Teams). */
        chatB: fraction(2),
        /** E-mail. */
        email: fraction(0),
      },
      /** `configuration_and_run` delivers one run's notifications in order, per configuration. */
      ordering: choice('configuration_and_run', 'none'),
      /** The circuit breaker of each configuration; it pauses a failing destination. */
      breaker: {
        /** Consecutive failures that open it. */
        failures: whole(5),
        /** How long it first stays open before one trial attempt; each failed trial doubles the pause. */
        pause: ms(30 * second),
        /** The longest pause. */
        maximumPause: ms(10 * minute),
      },
      /** A destination failing for this long is reported as `signalbox.destination.failing`. */
      alertAfter: ms(15 * minute),
      /** Disables a configuration after this long without a success; null (the default) never does. */
      autoDisableAfter: durationOrNull(null),
      /** Bytes kept of each response of a destination. */
      maximumResponseBytes: whole(16_384, 1_048_576, 0),
    },
    /**
     * Slows down senders: an event's acknowledgement is delayed while more than `from` deliveries wait for their first attempt in a
     * queue that it enters. The delay grows linearly and reaches `maximumWait` at `from` + `span`.
     */
    pressure: {
      /** Waiting deliveries of a queue from which acknowledgements are delayed. */
      from: whole(256),
      /** Waiting deliveries beyond `from` at which the delay reaches `maximumWait`. */
      span: whole(2560),
      /** The longest delay of an acknowledgement. */
      maximumWait: ms(500, 0),
    },
    /**
     * How long records of the delivery log are kept. They are removed at most an hour later, or a quarter of the shortest of these times, and
     * not within ten seconds.
     */
    retention: {
      /** Successful deliveries, counted from their end. */
      delivered: ms(30 * day),
      /** Deliveries that ended otherwise, counted from their end. */
      dead: ms(30 * day),
      /** Idempotency keys of events; after this time a key can be used for another event. */
      idempotency: ms(day),
    },
    /** The most deliveries that one bulk recovery re-sends. */
    maximumRecover: whole(10_000),
    /** How requests to destinations are identified and signed. */
    signature: {
      /** Header names of the HMAC-SHA512 signature. */
      headers: headers(['x-svc-notification-signature']),
      /** The header with the ID of the message, the same in every repetition. */
      idHeader: string('x-svc-notification-id', headerName, 'header'),
      /** The header with the time at which the event was accepted, the same in every repetition. */
      timestampHeader: string('x-svc-notification-timestamp', headerName, 'header'),
      /** Also send `webhook-id`, `webhook-timestamp` and `webhook-signature`. */
      standardWebhooks: onOff(false),
      /** How long a replaced secret still signs in `webhook-signature`; 0 ends it at once. */
      rotationGrace: ms(0, 0),
    },
    /**
     * Headers of answers that are stored as `[redacted]`, lower case: credentials that a destination sets are its own affair.
     * An empty list stores everything as it came.
     */
    redactedHeaders: headers(credentialHeaders, text),
    /** Whether messages of events that belong to a trace carry the header `traceparent`. */
    traceparent: onOff(true),
    /** When an update of an enabled configuration sends a verification request: only if url or token change, or always. */
    verifyOnUpdate: choice('relevant', 'always'),
    /** Whether an update without users keeps the configuration's users or removes them. */
    omittedUsersOnUpdate: choice('keep', 'clear'),
    /** Public origin of the service, for links in messages and payloads, without a trailing slash. */
    publicOrigin: string(
      'http://localhost',
      textLike(/^https?:\/\/[^\s/]/, "an origin such as 'https://jobs.example.net'"),
    ),
    /** Path under which the notification interface is mounted, for `links.self` and payload URLs; `` or `/api/v2`. */
    basePath: string('', textLike(/^(?:\/.*)?$/, "'' or a path that begins with a slash")),
    /** How messages name settings that the operator can change. */
    hints: {
      /** Why e-mail cannot be sent when there is no mailer, and what to do. */
      mailer: string('the engine has no mailer; give createEngine one, for example smtpMailer', text),
    },
    /** `neutral` uses the interface's own forms; `upstream` those of the clients that exist for this interface. */
    names: choice('neutral', 'upstream'),
  },
  /** Which jobs report their runs to which workspace; the first matching rule decides. */
  runNotifications: rules<RunNotificationRule>({
    workspace: text,
    namespace: optional(text),
    job: optional(text),
    meta: optional(mapOf(text)),
  }),
} as const;

/** Every default and limit of the engine, in one record; durations are in milliseconds. All values can be overridden in `createEngine`. */
export interface Settings extends ValuesOf<typeof engineSettings> {}

/** The settings of an engine without overrides; `Settings` describes each. */
export const defaultSettings: Settings = valuesOf(engineSettings);

const options = optionsOf(engineSettings);

/** The settings, or one of their parts (`T`), partial at every depth; lists are replaced whole. */
export type SettingsOverrides<T = Settings> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: SettingsOverrides<T[K]> }
    : T;

/** The defaults with the overrides applied. Throws a TypeError for unknown names and mistyped values. */
export function settingsFrom(overrides: SettingsOverrides): Settings {
  checkOptions<SettingsOverrides>('settings', overrides, options);
  return valuesOf(engineSettings, overrides);
}
