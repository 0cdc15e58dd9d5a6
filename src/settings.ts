import { leastValueBytes, mostValueBytes, usualValueBytes } from './functions/value-limits.js';
import { policyLevels } from './jobs/admission/job-policy.js';
import type { QuotaRule } from './jobs/admission/namespace-quota.js';
import { credentialHeaders } from './notifications/delivery/redact.js';
import type { RunNotificationRule } from './notifications/run-notification-rule.js';
import { checkOptions } from './options/check-options.js';
import {
  amount,
  group,
  headerName,
  listOf,
  mapOf,
  oneOf,
  optional,
  passingTime,
  text,
  textLike,
  wholeFrom,
} from './options/option-kinds.js';
import {
  bytes,
  choice,
  defaultsOf,
  duration,
  header,
  headers,
  notOfServer,
  onOff,
  optionsOf,
  portion,
  positive,
  quantity,
  rate,
  span,
  spanOrNone,
  string,
  type ValuesOf,
  wait,
  waits,
  whole,
} from './options/setting-kinds.js';
import type { PolicyRule } from './queries/policy-rule.js';
import { day, hour, minute, second } from './shared/duration.js';
import { isRecord } from './shared/values.js';

/** A template of the pages of runs; empty for none. */
const runUrlForm = /^(?:|(?:\{origin\}\/|https?:\/\/)(?:[^\s{}]|\{(?:origin|namespace|job|run|id)\}){0,2000})$/;
const runUrl = string(
  textLike(runUrlForm, "a URL such as 'https://ci.example.net/{job}/{run}', or '' for no links"),
  'takes a URL such as https://ci.example.net/{job}/{run}, or an empty value for no links',
  runUrlForm,
);
const region = string(text, 'takes a name', /^[A-Za-z0-9_-]{1,128}$/);
const valueBytes = whole(leastValueBytes, mostValueBytes, wholeFrom(leastValueBytes, mostValueBytes));

const policyRule = group<PolicyRule>({
  name: text,
  level: oneOf(...policyLevels),
  refuse: text,
  message: optional(text),
});
const quotaRule = group<QuotaRule>({
  namespace: text,
  jobs: optional(amount),
  cpu: optional(amount),
  cores: optional(amount),
  memoryMB: optional(amount),
  dispatchesPerMinute: optional(amount),
});
const runNotificationRule = group<RunNotificationRule>({
  workspace: text,
  namespace: optional(text),
  job: optional(text),
  meta: optional(mapOf(text)),
});

const firstWaits = [5 * second, 30 * second, 2 * minute, 10 * minute];

/**
 * The description of every setting of the engine: its default, what `createEngine` accepts, and how `signalbox serve` is given it.
 * The type `Settings`, the defaults, the check of overrides, and the server's options, help and schema are made from it, in this order.
 */
export const engineSettings = {
  /** Blocking queries: reads that wait for a change. */
  queries: {
    /** The wait of a blocking query without `wait`. */
    defaultWait: span(5 * minute, 'default wait of a blocking query'),
    /** The longest wait of a blocking query; a longer one is cut to it. */
    maximumWait: span(5 * minute, 'longest wait of a blocking query'),
  },
  /** The event stream of the job interface. */
  events: {
    /** Transactions whose events are kept for streams that begin at an earlier index; 0 disables the event stream. */
    kept: whole(0, 1_000_000)(
      1_000,
      'transactions whose events are kept for streams that begin at an earlier index; 0 disables the event stream',
    ),
  },
  /** Functions of the service. */
  functions: {
    /** Runs of a function that have not ended; more are refused as `queue_full`. */
    maximumUnfinished: positive(100_000_000)(1_000_000, 'runs of a function that have not ended: one more is refused'),
    /** Bytes of the JSON of an input, of a result and of the value of a step, each; 16 MiB at most. */
    maximumValueBytes: valueBytes(
      usualValueBytes,
      'maximum size of an input, a result and the value of a step of a function, in bytes',
    ),
  },
  /** Registrations and dispatches of jobs. */
  jobs: {
    /** The name of this installation's region. */
    region: region('global', 'name of the region of this server'),
    /**
     * The page of a run, for links in notifications, such as `https://ci.example.net/{job}/{run}`. `{origin}` is
     * `notifications.publicOrigin`; `{namespace}`, `{job}`, and `{run}` or `{id}`, the ID of the run, are percent-encoded. Empty: no link.
     */
    runUrl: runUrl(
      '',
      'web page of a run, for links in notifications, with the placeholders {origin}, {namespace}, {job} and {run}; empty: no links',
    ),
    /** Untagged versions, and sources of submissions, kept per job (job interface, Limits). */
    trackedVersions: quantity(6, 'untagged versions and sources kept per job'),
    /** Decoded bytes of a dispatch payload (job interface, Limits). */
    maximumDispatchPayloadBytes: bytes(16_384, 'maximum size of a dispatch payload, in bytes'),
    /** Bytes of a submission's source, variables and flags together. */
    maximumSourceLength: bytes(1_000_000, "maximum size of a job's source, in bytes"),
    /** The largest sum of a job's counts. */
    maximumCount: quantity(50_000, "maximum sum of a job's counts"),
    /** Requirements on jobs, as filter expressions, in addition to those that the host gives as functions. */
    policies: notOfServer<readonly PolicyRule[]>(listOf(policyRule), []),
    /** Resource limits for all jobs of a namespace together. They must be equal in all processes over one store. */
    quotas: notOfServer<readonly QuotaRule[]>(listOf(quotaRule), []),
  },
  /** Evaluations and nodes. */
  scheduling: {
    /** Attempts at one evaluation before it is marked failed. Store failures do not count. */
    evaluationAttempts: whole(1, 1000)(3, 'attempts before an evaluation is marked failed'),
    /**
     * Evaluations of jobs with up to this many allocations are decided within their write. Larger ones are decided before it,
     * in several turns of the event loop.
     */
    decidedAtOnce: whole(0, 1_000_000)(
      50,
      'jobs with up to this many allocations are scheduled in one write; larger ones in several turns of the event loop',
    ),
    /** Allocations per write of a plan that was decided in several turns. */
    writtenAtOnce: quantity(16, 'allocations per write when a plan is stored in several writes'),
    /** A node without a heartbeat for this long is marked down. */
    heartbeatTtl: duration(1000)(30 * second, 'a node without a heartbeat for this long is marked down'),
  },
  /** Garbage collection: how long ended records are kept, and how often they are removed. */
  collection: {
    /** The least time from one collection to the next. */
    interval: duration(1000)(5 * minute, 'minimum time between two garbage collections'),
    /** Evaluations that have ended, with their allocations. */
    evaluation: span(hour, 'how long ended evaluations are kept'),
    /** Evaluations of batch jobs, whose allocations record completed work. */
    batchEvaluation: span(day, 'how long ended evaluations of batch jobs are kept'),
    /** Allocations that failed, timed out or were lost, with their job and evaluation, if this is longer: users need their logs. */
    failedRun: span(day, 'how long failed allocations are kept at least, with their jobs and logs'),
    /** Jobs that are dead. */
    job: span(4 * hour, 'how long ended jobs are kept'),
    /** Deployments that are over. */
    deployment: span(hour, 'how long ended deployments are kept'),
    /** Nodes that are down and whose allocations have ended. */
    node: span(day, 'how long down nodes are kept'),
  },
  /** Configurations, events and deliveries. */
  notifications: {
    /** Configurations per workspace (notification interface, Limits). */
    maximumPerWorkspace: quantity(20, 'maximum number of configurations per workspace'),
    /** The page size of lists when the request gives none. */
    defaultPageSize: positive(1000)(20, 'default page size of lists'),
    /** The largest page size of lists. */
    maximumPageSize: positive(1000)(100, 'maximum page size of lists'),
    /** Timeouts of the verification request that is sent before a configuration is enabled. */
    verification: {
      /** Time until the connection, with TLS, is established. */
      connectTimeout: span(5 * second, 'connect timeout of a verification request'),
      /** Time of the whole request, with its response. */
      totalTimeout: span(10 * second, 'total timeout of a verification request'),
    },
    /** How notifications are sent and retried. */
    delivery: {
      /** Time until an attempt's connection, with TLS, is established. */
      connectTimeout: span(5 * second, 'connect timeout of a delivery attempt'),
      /** Time of one whole attempt, with its response. */
      totalTimeout: span(15 * second, 'total timeout of a delivery attempt'),
      /**
       * An engine's lease on the deliveries that it attempts; it renews at half time. After a crash
       * another engine takes over when the lease has expired. Attempts may take longer.
       */
      lease: duration(1000, passingTime(1))(
        6 * second,
        "a process's lease on a queue; after a crash another process takes over when it has expired",
      ),
      /** The most deliveries of one configuration that one write cancels or ends by their age. */
      window: positive(100_000)(
        256,
        'maximum deliveries of one configuration that one write cancels or ends by their age',
      ),
      /**
       * Least time between two writes of outcomes, so that many are stored together. When a process is killed, deliveries that
       * ended since the last write are sent again.
       */
      recordWithin: duration(0, passingTime(0))(200, 'minimum time between two writes of outcomes'),
      /** This many waiting outcomes are stored without waiting longer. */
      recordBatch: whole(1, 10_000)(128, 'outcomes are stored without further delay when this many are waiting'),
      /** A delivery of this age ends, whatever delayed it. Longer waits of the schedule are cut. */
      maximumAge: span(day, 'maximum age of a delivery; then it ends'),
      /** How long an engine remembers that a configuration has nothing due, before its queue is written as idle. */
      linger: wait(10 * second, 'how long a process remembers that a configuration has nothing due'),
      /** The most concurrent attempts. */
      // With zero nothing would be sent, and the delivery loop would spin.
      concurrency: positive(10_000)(256, 'maximum concurrent attempts'),
      /** The most concurrent attempts of one configuration: it begins with four and grows up to this while its destination answers. */
      concurrencyPerDestination: whole(1, 1000)(32, 'maximum concurrent attempts of one configuration'),
      /** The most concurrent attempts at one origin (scheme, host and port), beyond four for each configuration. */
      concurrencyPerOrigin: whole(1, 10_000)(128, 'maximum concurrent attempts of all configurations at one origin'),
      /** Waits before the second, third, … attempt, in milliseconds; the attempt after the last wait is the last one. */
      retry: {
        /** Webhooks: dense enough that after an outage of some hours the next attempt is at most two hours away. */
        generic: waits(
          [...firstWaits, 30 * minute, hour, 2 * hour, 2 * hour, 5 * hour, 10 * hour],
          'waits before the second, third, ... attempt, for webhooks',
        ),
        /** Both chat services. */
        chat: waits([...firstWaits, hour], 'the same for chat services'),
        /** E-mail. */
        email: waits([...firstWaits, hour], 'the same for e-mail'),
      },
      /** Random variation of a wait, from 0 to 1; `0.2` is ±20 %. */
      jitter: portion(0.2, 'random variation of a wait, as a fraction; 0.2 is 20 % more or less'),
      /** The longest wait that a destination can request with `Retry-After`; a longer one is cut to it. */
      maximumRetryAfter: wait(hour, 'longest wait that a destination can request with Retry-After'),
      /**
       * Attempts per second of one configuration, or at one chat URL; waiting does not use up attempts. `0` means
       * unlimited.
       */
      rate: {
        /** Webhooks. */
        generic: rate(0, 'attempts per second of one webhook configuration; 0: unlimited'),
        /** The first chat service (Slack). */
        chatA: rate(1, 'the same for the first chat service (Slack)'),
        /** The second chat service (Microsoft Teams). */
        chatB: rate(2, 'the same for the second chat service (Microsoft Teams)'),
        /** E-mail. */
        email: rate(0, 'the same for e-mail'),
      },
      /** `configuration_and_run` delivers one run's notifications in order, per configuration. */
      ordering: choice(
        ['configuration_and_run', 'none'],
        'configuration_and_run',
        'whether the notifications of one run are delivered in order',
      ),
      /** The circuit breaker of each configuration; it pauses a failing destination. */
      breaker: {
        /** Consecutive failures that open it. */
        failures: quantity(5, 'consecutive failures that open the circuit breaker'),
        /** How long it first stays open before one trial attempt; each failed trial doubles the pause. */
        pause: span(30 * second, 'first pause of an open circuit breaker'),
        /** The longest pause. */
        maximumPause: span(10 * minute, 'longest pause of an open circuit breaker'),
      },
      /** A destination failing for this long is reported as `signalbox.destination.failing`. */
      alertAfter: span(15 * minute, 'a destination failing for this long is reported to its owners'),
      /** Disables a configuration after this long without a success; null (the default) never does. */
      autoDisableAfter: spanOrNone(null, 'disable a configuration after this time without a success'),
      /** Bytes kept of each response of a destination. */
      maximumResponseBytes: whole(0, 1_048_576)(16_384, 'bytes kept of each response of a destination'),
    },
    /**
     * Slows down senders: an event's acknowledgement is delayed while more than `from` deliveries wait for their first attempt in a
     * queue that it enters. The delay grows linearly and reaches `maximumWait` at `from` + `span`.
     */
    pressure: {
      /** Waiting deliveries of a queue from which acknowledgements are delayed. */
      from: quantity(256, 'waiting deliveries of a queue above which acknowledgements of events are delayed'),
      /** Waiting deliveries beyond `from` at which the delay reaches `maximumWait`. */
      span: quantity(2560, 'further waiting deliveries at which the delay reaches maximumWait'),
      /** The longest delay of an acknowledgement. */
      maximumWait: wait(500, 'longest delay of an acknowledgement'),
    },
    /**
     * How long records of the delivery log are kept. They are removed at most an hour later, or a quarter of the shortest of these times, and
     * not within ten seconds.
     */
    retention: {
      /** Successful deliveries, counted from their end. */
      delivered: span(30 * day, 'how long successful deliveries are kept'),
      /** Deliveries that ended otherwise, counted from their end. */
      dead: span(30 * day, 'how long deliveries that ended otherwise are kept'),
      /** Idempotency keys of events; after this time a key can be used for another event. */
      idempotency: span(day, 'how long idempotency keys are kept'),
    },
    /** The most deliveries that one bulk recovery re-sends. */
    maximumRecover: quantity(10_000, 'maximum deliveries of one bulk redelivery'),
    /** How requests to destinations are identified and signed. */
    signature: {
      /** Header names of the HMAC-SHA512 signature. */
      headers: headers(headerName)(['x-svc-notification-signature'], 'header names of the signature'),
      /** The header with the ID of the message, the same in every repetition. */
      idHeader: header('x-svc-notification-id', 'header name of the message ID'),
      /** The header with the time at which the event was accepted, the same in every repetition. */
      timestampHeader: header(
        'x-svc-notification-timestamp',
        'header name of the time at which the event was accepted',
      ),
      /** Also send `webhook-id`, `webhook-timestamp` and `webhook-signature`. */
      standardWebhooks: onOff(false, 'also send webhook-id, webhook-timestamp and webhook-signature'),
      /** How long a replaced secret still signs in `webhook-signature`; 0 ends it at once. */
      rotationGrace: wait(0, 'how long a replaced secret continues to sign in webhook-signature'),
    },
    /**
     * Headers of answers that are stored as `[redacted]`, lower case: credentials that a destination sets are its own affair.
     * An empty list stores everything as it came.
     */
    redactedHeaders: headers(text)(credentialHeaders, 'response headers that are stored as [redacted]'),
    /** Whether messages of events that belong to a trace carry the header `traceparent`. */
    traceparent: onOff(true, 'whether messages of events that belong to a trace have the header traceparent'),
    /** When an update of an enabled configuration sends a verification request: only if url or token change, or always. */
    verifyOnUpdate: choice(['relevant', 'always'], 'relevant', 'when an update verifies an enabled configuration'),
    /** Whether an update without users keeps the configuration's users or removes them. */
    omittedUsersOnUpdate: choice(
      ['keep', 'clear'],
      'keep',
      "whether an update without users keeps or clears a configuration's users",
    ),
    /** Public origin of the service, for links in messages and payloads, without a trailing slash. */
    publicOrigin: notOfServer<string>(
      textLike(/^https?:\/\/[^\s/]/, "an origin such as 'https://jobs.example.net'"),
      'http://localhost',
    ),
    /** Path under which the notification interface is mounted, for `links.self` and payload URLs; `` or `/api/v2`. */
    basePath: notOfServer<string>(textLike(/^(?:\/.*)?$/, "'' or a path that begins with a slash"), ''),
    /** How messages name settings that the operator can change. */
    hints: {
      /** Why e-mail cannot be sent when there is no mailer, and what to do. */
      mailer: notOfServer<string>(text, 'the engine has no mailer; give createEngine one, for example smtpMailer'),
    },
    /** `neutral` uses the interface's own forms; `upstream` those of the clients that exist for this interface. */
    names: choice(['neutral', 'upstream'], 'neutral'),
  },
  /** Which jobs report their runs to which workspace; the first matching rule decides. */
  runNotifications: notOfServer<readonly RunNotificationRule[]>(listOf(runNotificationRule), []),
} as const;

/** Every default and limit of the engine, in one record; durations are in milliseconds. All values can be overridden in `createEngine`. */
export interface Settings extends ValuesOf<typeof engineSettings> {}

/** The settings of an engine without overrides; `Settings` describes each. */
export const defaultSettings: Settings = defaultsOf(engineSettings);

/** The allowed values of enumerated settings, by setting path. */
export const settingChoices = {
  'notifications.delivery.ordering': engineSettings.notifications.delivery.ordering.words,
  'notifications.verifyOnUpdate': engineSettings.notifications.verifyOnUpdate.words,
  'notifications.omittedUsersOnUpdate': engineSettings.notifications.omittedUsersOnUpdate.words,
  'notifications.names': engineSettings.notifications.names.words,
} as const;

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
