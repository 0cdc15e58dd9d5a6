import { defaultSettings, settingChoices } from '../../../src/index.js';
import { runUrlForm } from '../../../src/options/option-texts.js';
import { durationKind, flagKind, type Kind, listKind, numberKind, oneOf, orNone, textKind } from './kind.js';
import { atPath, type Setting } from './setting.js';

const pageUrl = textKind('takes a URL such as https://ci.example.net/{job}/{run}, or nothing for no links', (text) =>
  runUrlForm.test(text) ? text : undefined,
);

const header = textKind('takes names of headers', (text) =>
  /^[a-z0-9!#$%&'*+.^_`|~-]{1,128}$/i.test(text) ? text.toLowerCase() : undefined,
);
const region = textKind('takes a name', (text) => (/^[A-Za-z0-9_-]{1,128}$/.test(text) ? text : undefined));

const wait = durationKind();
const span = durationKind(1);
const count = numberKind(1, 1_000_000);
const rate = numberKind(0, 100_000, 'fractions');

const engineKinds: readonly (readonly [key: string, kind: Kind, summary: string])[] = [
  ['queries.defaultWait', span, 'wait of a blocking query that names none'],
  ['queries.maximumWait', span, 'longest wait of a blocking query'],
  ['events.kept', numberKind(0, 1_000_000), 'transactions whose events a stream can begin with; 0 has no event stream'],
  ['jobs.region', region, 'the region that this server is'],
  [
    'jobs.runUrl',
    pageUrl,
    'page of a run, for links in notifications; {origin}, {namespace}, {job} and {run} are filled in; no links when empty',
  ],
  ['jobs.trackedVersions', count, 'untagged versions and sources kept of a job'],
  ['jobs.maximumDispatchPayloadBytes', numberKind(0, 16_777_216), 'bytes of a dispatch payload'],
  ['jobs.maximumSourceLength', numberKind(0, 16_777_216), 'bytes of the source of a job'],
  ['jobs.maximumCount', count, 'highest sum of counts of one job'],
  ['scheduling.evaluationAttempts', numberKind(1, 1000), 'attempts at an evaluation before it is marked failed'],
  ['scheduling.decidedAtOnce', numberKind(0, 1_000_000), 'allocations of a job up to which it is decided in one turn'],
  [
    'scheduling.writtenAtOnce',
    numberKind(1, 1_000_000),
    'allocations in one write of a plan that was decided in turns',
  ],
  ['scheduling.heartbeatTtl', durationKind(1000), 'a node that was not heard from for this long is down'],
  ['collection.interval', durationKind(1000), 'time between two collections of what has ended, at least'],
  ['collection.evaluation', span, 'how long ended evaluations are kept'],
  ['collection.batchEvaluation', span, 'how long ended evaluations of batch jobs are kept'],
  ['collection.failedRun', span, 'how long allocations that failed are kept at least, with their jobs and logs'],
  ['collection.job', span, 'how long ended jobs are kept'],
  ['collection.deployment', span, 'how long ended deployments are kept'],
  ['collection.node', span, 'how long nodes that are down are kept'],
  ['notifications.maximumPerWorkspace', count, 'configurations of one workspace'],
  ['notifications.defaultPageSize', numberKind(1, 1000), 'entries of a page that names no size'],
  ['notifications.maximumPageSize', numberKind(1, 1000), 'most entries of a page'],
  ['notifications.verification.connectTimeout', span, 'time to connect for a verification'],
  ['notifications.verification.totalTimeout', span, 'time of a whole verification'],
  ['notifications.delivery.connectTimeout', span, 'time to connect for an attempt'],
  ['notifications.delivery.totalTimeout', span, 'time of a whole attempt'],
  [
    'notifications.delivery.lease',
    durationKind(1000),
    'after a crash the next process takes a queue when this has passed',
  ],
  ['notifications.delivery.window', numberKind(1, 100_000), 'deliveries of one configuration in memory, of each sort'],
  ['notifications.delivery.recordWithin', wait, 'least time between two writes of outcomes'],
  ['notifications.delivery.recordBatch', numberKind(1, 10_000), 'this many outcomes are stored together'],
  ['notifications.delivery.maximumAge', span, 'a delivery is over when it is this old'],
  ['notifications.delivery.linger', wait, 'how long an idle queue stays with a process'],
  ['notifications.delivery.concurrency', numberKind(1, 10_000), 'attempts under way at once'],
  [
    'notifications.delivery.concurrencyPerDestination',
    numberKind(1, 1000),
    'attempts under way at once, of one configuration',
  ],
  [
    'notifications.delivery.concurrencyPerOrigin',
    numberKind(1, 10_000),
    'attempts under way at once, of all configurations at one origin',
  ],
  ['notifications.delivery.retry.generic', listKind(wait), 'waits before the second, third, ... attempt at a webhook'],
  ['notifications.delivery.retry.chat', listKind(wait), 'the same at a chat service'],
  ['notifications.delivery.retry.email', listKind(wait), 'the same at a mail server'],
  ['notifications.delivery.jitter', numberKind(0, 1, 'fractions'), 'share by which a wait may be shorter or longer'],
  ['notifications.delivery.maximumRetryAfter', wait, 'longest wait that an answer may ask for'],
  ['notifications.delivery.rate.generic', rate, 'attempts a second at one webhook; 0 is no limit'],
  ['notifications.delivery.rate.chatA', rate, 'the same for the first chat service'],
  ['notifications.delivery.rate.chatB', rate, 'the same for the second chat service'],
  ['notifications.delivery.rate.email', rate, 'the same for mail'],
  [
    'notifications.delivery.ordering',
    oneOf(...settingChoices['notifications.delivery.ordering']),
    'whether notifications of one run keep their order',
  ],
  ['notifications.delivery.breaker.failures', count, 'failures in a row that open the circuit breaker'],
  ['notifications.delivery.breaker.pause', span, 'first pause of an open breaker'],
  ['notifications.delivery.breaker.maximumPause', span, 'longest pause of an open breaker'],
  ['notifications.delivery.alertAfter', span, 'a destination that failed for this long is reported to its owners'],
  [
    'notifications.delivery.autoDisableAfter',
    orNone(span),
    'disable a configuration after this long without a success',
  ],
  ['notifications.delivery.maximumResponseBytes', numberKind(0, 1_048_576), 'bytes kept of an answer'],
  ['notifications.pressure.from', count, 'waiting deliveries from which events are acknowledged later'],
  ['notifications.pressure.span', count, 'this many more reach the longest wait'],
  ['notifications.pressure.maximumWait', wait, 'longest wait of an acknowledgement'],
  ['notifications.retention.delivered', span, 'how long delivered notifications are kept'],
  ['notifications.retention.dead', span, 'how long notifications that were given up are kept'],
  ['notifications.retention.idempotency', span, 'how long idempotency keys are remembered'],
  ['notifications.maximumRecover', count, 'deliveries that one bulk redelivery sends again'],
  ['notifications.signature.headers', listKind(header), 'headers of the signature'],
  ['notifications.signature.idHeader', header, 'header with the ID of the message'],
  ['notifications.signature.timestampHeader', header, 'header with the time at which its event was accepted'],
  [
    'notifications.signature.standardWebhooks',
    flagKind,
    'also send webhook-id, webhook-timestamp and webhook-signature',
  ],
  ['notifications.signature.rotationGrace', wait, 'how long a replaced secret still signs in webhook-signature'],
  ['notifications.redactedHeaders', listKind(header), 'headers of answers that are stored as [redacted]'],
  ['notifications.traceparent', flagKind, 'messages of events within a trace have the header traceparent'],
  [
    'notifications.verifyOnUpdate',
    oneOf(...settingChoices['notifications.verifyOnUpdate']),
    'when an update of an enabled configuration verifies it',
  ],
  [
    'notifications.omittedUsersOnUpdate',
    oneOf(...settingChoices['notifications.omittedUsersOnUpdate']),
    'what becomes of the users that an update leaves out',
  ],
];

/** The settings of the engine, under the paths that `createEngine` takes them; the defaults are the engine's. */
export const engineSettings: readonly Setting[] = engineKinds.map(
  ([key, kind, summary]): Setting => ({ key, kind, summary, default: atPath(defaultSettings, key), ofEngine: true }),
);
