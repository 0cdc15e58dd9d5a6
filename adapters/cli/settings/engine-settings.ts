import { defaultSettings, settingChoices } from '../../../src/index.js';
import { runUrlForm } from '../../../src/options/option-texts.js';
import { durationKind, flagKind, type Kind, listKind, numberKind, oneOf, orNone, textKind } from './kind.js';
import { atPath, type Setting } from './setting.js';

const pageUrl = textKind(
  'takes a URL such as https://ci.example.net/{job}/{run}, or an empty value for no links',
  (text) => (runUrlForm.test(text) ? text : undefined),
);

const header = textKind('takes header names', (text) =>
  /^[a-z0-9!#$%&'*+.^_`|~-]{1,128}$/i.test(text) ? text.toLowerCase() : undefined,
);
const region = textKind('takes a name', (text) => (/^[A-Za-z0-9_-]{1,128}$/.test(text) ? text : undefined));

const wait = durationKind();
const span = durationKind(1);
const count = numberKind(1, 1_000_000);
const rate = numberKind(0, 100_000, 'fractions');

const engineKinds: readonly (readonly [key: string, kind: Kind, summary: string])[] = [
  ['queries.defaultWait', span, 'default wait of a blocking query'],
  ['queries.maximumWait', span, 'longest wait of a blocking query'],
  [
    'events.kept',
    numberKind(0, 1_000_000),
    'transactions whose events are kept for streams that begin at an earlier index; 0 disables the event stream',
  ],
  [
    'functions.maximumUnfinished',
    numberKind(1, 100_000_000),
    'runs of a function that have not ended: one more is refused',
  ],
  [
    'functions.maximumValueBytes',
    numberKind(1024, 16_777_216),
    'maximum size of an input, a result and the value of a step of a function, in bytes',
  ],
  ['jobs.region', region, 'name of the region of this server'],
  [
    'jobs.runUrl',
    pageUrl,
    'web page of a run, for links in notifications, with the placeholders {origin}, {namespace}, {job} and {run}; empty: no links',
  ],
  ['jobs.trackedVersions', count, 'untagged versions and sources kept per job'],
  ['jobs.maximumDispatchPayloadBytes', numberKind(0, 16_777_216), 'maximum size of a dispatch payload, in bytes'],
  ['jobs.maximumSourceLength', numberKind(0, 16_777_216), "maximum size of a job's source, in bytes"],
  ['jobs.maximumCount', count, "maximum sum of a job's counts"],
  ['scheduling.evaluationAttempts', numberKind(1, 1000), 'attempts before an evaluation is marked failed'],
  [
    'scheduling.decidedAtOnce',
    numberKind(0, 1_000_000),
    'jobs with up to this many allocations are scheduled in one write; larger ones in several turns of the event loop',
  ],
  [
    'scheduling.writtenAtOnce',
    numberKind(1, 1_000_000),
    'allocations per write when a plan is stored in several writes',
  ],
  ['scheduling.heartbeatTtl', durationKind(1000), 'a node without a heartbeat for this long is marked down'],
  ['collection.interval', durationKind(1000), 'minimum time between two garbage collections'],
  ['collection.evaluation', span, 'how long ended evaluations are kept'],
  ['collection.batchEvaluation', span, 'how long ended evaluations of batch jobs are kept'],
  ['collection.failedRun', span, 'how long failed allocations are kept at least, with their jobs and logs'],
  ['collection.job', span, 'how long ended jobs are kept'],
  ['collection.deployment', span, 'how long ended deployments are kept'],
  ['collection.node', span, 'how long down nodes are kept'],
  ['notifications.maximumPerWorkspace', count, 'maximum number of configurations per workspace'],
  ['notifications.defaultPageSize', numberKind(1, 1000), 'default page size of lists'],
  ['notifications.maximumPageSize', numberKind(1, 1000), 'maximum page size of lists'],
  ['notifications.verification.connectTimeout', span, 'connect timeout of a verification request'],
  ['notifications.verification.totalTimeout', span, 'total timeout of a verification request'],
  ['notifications.delivery.connectTimeout', span, 'connect timeout of a delivery attempt'],
  ['notifications.delivery.totalTimeout', span, 'total timeout of a delivery attempt'],
  [
    'notifications.delivery.lease',
    durationKind(1000),
    "a process's lease on a queue; after a crash another process takes over when it has expired",
  ],
  [
    'notifications.delivery.window',
    numberKind(1, 100_000),
    'maximum deliveries of one configuration that one write cancels or ends by their age',
  ],
  ['notifications.delivery.recordWithin', wait, 'minimum time between two writes of outcomes'],
  [
    'notifications.delivery.recordBatch',
    numberKind(1, 10_000),
    'outcomes are stored without further delay when this many are waiting',
  ],
  ['notifications.delivery.maximumAge', span, 'maximum age of a delivery; then it ends'],
  ['notifications.delivery.linger', wait, 'how long a process remembers that a configuration has nothing due'],
  ['notifications.delivery.concurrency', numberKind(1, 10_000), 'maximum concurrent attempts'],
  [
    'notifications.delivery.concurrencyPerDestination',
    numberKind(1, 1000),
    'maximum concurrent attempts of one configuration',
  ],
  [
    'notifications.delivery.concurrencyPerOrigin',
    numberKind(1, 10_000),
    'maximum concurrent attempts of all configurations at one origin',
  ],
  ['notifications.delivery.retry.generic', listKind(wait), 'waits before the second, third, ... attempt, for webhooks'],
  ['notifications.delivery.retry.chat', listKind(wait), 'the same for chat services'],
  ['notifications.delivery.retry.email', listKind(wait), 'the same for e-mail'],
  [
    'notifications.delivery.jitter',
    numberKind(0, 1, 'fractions'),
    'random variation of a wait, as a fraction; 0.2 is 20 % more or less',
  ],
  ['notifications.delivery.maximumRetryAfter', wait, 'longest wait that a destination can request with Retry-After'],
  ['notifications.delivery.rate.generic', rate, 'attempts per second of one webhook configuration; 0: unlimited'],
  ['notifications.delivery.rate.chatA', rate, 'the same for the first chat service (Slack)'],
  ['notifications.delivery.rate.chatB', rate, 'the same for the second chat service (Microsoft Teams)'],
  ['notifications.delivery.rate.email', rate, 'the same for e-mail'],
  [
    'notifications.delivery.ordering',
    oneOf(...settingChoices['notifications.delivery.ordering']),
    'whether the notifications of one run are delivered in order',
  ],
  ['notifications.delivery.breaker.failures', count, 'consecutive failures that open the circuit breaker'],
  ['notifications.delivery.breaker.pause', span, 'first pause of an open circuit breaker'],
  ['notifications.delivery.breaker.maximumPause', span, 'longest pause of an open circuit breaker'],
  ['notifications.delivery.alertAfter', span, 'a destination failing for this long is reported to its owners'],
  [
    'notifications.delivery.autoDisableAfter',
    orNone(span),
    'disable a configuration after this time without a success',
  ],
  [
    'notifications.delivery.maximumResponseBytes',
    numberKind(0, 1_048_576),
    'bytes kept of each response of a destination',
  ],
  [
    'notifications.pressure.from',
    count,
    'waiting deliveries of a queue above which acknowledgements of events are delayed',
  ],
  ['notifications.pressure.span', count, 'further waiting deliveries at which the delay reaches maximumWait'],
  ['notifications.pressure.maximumWait', wait, 'longest delay of an acknowledgement'],
  ['notifications.retention.delivered', span, 'how long successful deliveries are kept'],
  ['notifications.retention.dead', span, 'how long deliveries that ended otherwise are kept'],
  ['notifications.retention.idempotency', span, 'how long idempotency keys are kept'],
  ['notifications.maximumRecover', count, 'maximum deliveries of one bulk redelivery'],
  ['notifications.signature.headers', listKind(header), 'header names of the signature'],
  ['notifications.signature.idHeader', header, 'header name of the message ID'],
  ['notifications.signature.timestampHeader', header, 'header name of the time at which the event was accepted'],
  [
    'notifications.signature.standardWebhooks',
    flagKind,
    'also send webhook-id, webhook-timestamp and webhook-signature',
  ],
  ['notifications.signature.rotationGrace', wait, 'how long a replaced secret continues to sign in webhook-signature'],
  ['notifications.redactedHeaders', listKind(header), 'response headers that are stored as [redacted]'],
  [
    'notifications.traceparent',
    flagKind,
    'whether messages of events that belong to a trace have the header traceparent',
  ],
  [
    'notifications.verifyOnUpdate',
    oneOf(...settingChoices['notifications.verifyOnUpdate']),
    'when an update verifies an enabled configuration',
  ],
  [
    'notifications.omittedUsersOnUpdate',
    oneOf(...settingChoices['notifications.omittedUsersOnUpdate']),
    "whether an update without users keeps or clears a configuration's users",
  ],
];

/** The engine's settings, by their paths in the options of `createEngine`. Defaults are the engine's. */
export const engineSettings: readonly Setting[] = engineKinds.map(
  ([key, kind, summary]): Setting => ({ key, kind, summary, default: atPath(defaultSettings, key), ofEngine: true }),
);
