import { engineSettings as described, type EngineSetting } from '../../../src/index.js';
import { headerName } from '../../../src/options/option-kinds.js';
import { durationKind, flagKind, type Kind, listKind, numberKind, oneOf, orNone, textKind, textOf } from './kind.js';
import { atPath, type Setting } from './setting.js';

type KeyOf<T> = {
  [K in keyof T & string]: T[K] extends EngineSetting<unknown> ? K : `${K}.${KeyOf<T[K]>}`;
}[keyof T & string];

/** One line for each setting, without a full stop, in the order of the help; null if it is no setting of a server under this key. */
const summaries: Readonly<Record<KeyOf<typeof described>, string | null>> = {
  'queries.defaultWait': 'default wait of a blocking query',
  'queries.maximumWait': 'longest wait of a blocking query',
  'events.kept':
    'transactions whose events are kept for streams that begin at an earlier index; 0 disables the event stream',
  'functions.maximumUnfinished': 'runs of a function that have not ended: one more is refused',
  'functions.maximumValueBytes': 'maximum size of an input, a result and the value of a step of a function, in bytes',
  'jobs.region': 'name of the region of this server',
  'jobs.runUrl':
    'web page of a run, for links in notifications, with the placeholders {origin}, {namespace}, {job} and {run}; empty: no links',
  'jobs.trackedVersions': 'untagged versions and sources kept per job',
  'jobs.keptRuns': 'ended runs kept per batch job or parent of instances',
  'jobs.runsKeptFor': 'how long ended runs are kept',
  'jobs.maximumDispatchPayloadBytes': 'maximum size of a dispatch payload, in bytes',
  'jobs.maximumSourceLength': "maximum size of a job's source, in bytes",
  'jobs.maximumCount': "maximum sum of a job's counts",
  'scheduling.evaluationAttempts': 'attempts before an evaluation is marked failed',
  'scheduling.decidedAtOnce':
    'jobs with up to this many allocations are scheduled in one write; larger ones in several turns of the event loop',
  'scheduling.writtenAtOnce': 'allocations per write when a plan is stored in several writes',
  'scheduling.heartbeatTtl': 'a node without a heartbeat for this long is marked down',
  'collection.interval': 'minimum time between two garbage collections',
  'collection.evaluation': 'how long ended evaluations are kept',
  'collection.batchEvaluation': 'how long ended evaluations of batch jobs are kept',
  'collection.failedRun': 'how long failed allocations are kept at least, with their jobs and logs',
  'collection.job': 'how long ended jobs are kept',
  'collection.deployment': 'how long ended deployments are kept',
  'collection.node': 'how long down nodes are kept',
  'notifications.maximumPerWorkspace': 'maximum number of configurations per workspace',
  'notifications.defaultPageSize': 'default page size of lists',
  'notifications.maximumPageSize': 'maximum page size of lists',
  'notifications.verification.connectTimeout': 'connect timeout of a verification request',
  'notifications.verification.totalTimeout': 'total timeout of a verification request',
  'notifications.delivery.connectTimeout': 'connect timeout of a delivery attempt',
  'notifications.delivery.totalTimeout': 'total timeout of a delivery attempt',
  'notifications.delivery.lease':
    "a process's lease on a queue; after a crash another process takes over when it has expired",
  'notifications.delivery.window':
    'maximum deliveries of one configuration that one write cancels or ends by their age',
  'notifications.delivery.recordWithin': 'minimum time between two writes of outcomes',
  'notifications.delivery.recordBatch': 'outcomes are stored without further delay when this many are waiting',
  'notifications.delivery.maximumAge': 'maximum age of a delivery; then it ends',
  'notifications.delivery.linger': 'how long a process remembers that a configuration has nothing due',
  'notifications.delivery.concurrency': 'maximum concurrent attempts',
  'notifications.delivery.concurrencyPerDestination': 'maximum concurrent attempts of one configuration',
  'notifications.delivery.concurrencyPerOrigin': 'maximum concurrent attempts of all configurations at one origin',
  'notifications.delivery.retry.generic': 'waits before the second, third, ... attempt, for webhooks',
  'notifications.delivery.retry.chat': 'the same for chat services',
  'notifications.delivery.retry.email': 'the same for e-mail',
  'notifications.delivery.jitter': 'random variation of a wait, as a fraction; 0.2 is 20 % more or less',
  'notifications.delivery.maximumRetryAfter': 'longest wait that a destination can request with Retry-After',
  'notifications.delivery.rate.generic': 'attempts per second of one webhook configuration; 0: unlimited',
  'notifications.delivery.rate.chatA': 'the same for the first chat service (Slack)',
  'notifications.delivery.rate.chatB': 'the same for the second chat service (Microsoft Teams)',
  'notifications.delivery.rate.email': 'the same for e-mail',
  'notifications.delivery.ordering': 'whether the notifications of one run are delivered in order',
  'notifications.delivery.breaker.failures': 'consecutive failures that open the circuit breaker',
  'notifications.delivery.breaker.pause': 'first pause of an open circuit breaker',
  'notifications.delivery.breaker.maximumPause': 'longest pause of an open circuit breaker',
  'notifications.delivery.alertAfter': 'a destination failing for this long is reported to its owners',
  'notifications.delivery.autoDisableAfter': 'disable a configuration after this time without a success',
  'notifications.delivery.maximumResponseBytes': 'bytes kept of each response of a destination',
  'notifications.pressure.from': 'waiting deliveries of a queue above which acknowledgements of events are delayed',
  'notifications.pressure.span': 'further waiting deliveries at which the delay reaches maximumWait',
  'notifications.pressure.maximumWait': 'longest delay of an acknowledgement',
  'notifications.retention.delivered': 'how long successful deliveries are kept',
  'notifications.retention.dead': 'how long deliveries that ended otherwise are kept',
  'notifications.retention.idempotency': 'how long idempotency keys are kept',
  'notifications.maximumRecover': 'maximum deliveries of one bulk redelivery',
  'notifications.signature.headers': 'header names of the signature',
  'notifications.signature.idHeader': 'header name of the message ID',
  'notifications.signature.timestampHeader': 'header name of the time at which the event was accepted',
  'notifications.signature.standardWebhooks': 'also send webhook-id, webhook-timestamp and webhook-signature',
  'notifications.signature.rotationGrace': 'how long a replaced secret continues to sign in webhook-signature',
  'notifications.redactedHeaders': 'response headers that are stored as [redacted]',
  'notifications.traceparent': 'whether messages of events that belong to a trace have the header traceparent',
  'notifications.verifyOnUpdate': 'when an update verifies an enabled configuration',
  'notifications.omittedUsersOnUpdate': "whether an update without users keeps or clears a configuration's users",
  // In the seed file.
  'jobs.policies': null,
  'jobs.quotas': null,
  runNotifications: null,
  // At the top of the settings file.
  'notifications.names': null,
  'notifications.publicOrigin': null,
  'notifications.basePath': null,
  // Decided by the server.
  'notifications.hints.mailer': null,
};

const name = textKind('takes a name', (text) => (/^[A-Za-z0-9_-]{1,128}$/.test(text) ? text : undefined));
const header = textKind('takes header names', (text) => (headerName.fits(text) ? text.toLowerCase() : undefined));

/** The engine's settings that a server has, by their paths in the options of `createEngine`. */
export const engineSettings: readonly Setting[] = Object.entries(summaries).flatMap(([key, summary]): Setting[] => {
  const setting = atPath(described, key) as EngineSetting<unknown>;
  const kind = kindOf(setting);
  if (summary === null || kind === undefined) return [];
  return [{ key, kind, summary, default: setting.default, ofEngine: true }];
});

function kindOf({ accepts, form }: EngineSetting<unknown>): Kind | undefined {
  switch (form?.type) {
    case 'duration':
      return durationKind(form.least);
    case 'durations':
      return listKind(durationKind());
    case 'durationOrNull':
      return orNone(durationKind(1));
    case 'whole':
      return numberKind(form.least, form.most);
    case 'fraction':
      return numberKind(0, form.most, 'fractions');
    case 'choice':
      return oneOf(...form.words);
    case 'string':
      return textOf(accepts);
    case 'name':
      return name;
    case 'header':
      return header;
    case 'headers':
      return listKind(header);
    case 'flag':
      return flagKind;
    case undefined:
      return undefined;
  }
}
