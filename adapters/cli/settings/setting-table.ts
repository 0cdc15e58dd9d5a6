import { isIP, isIPv6 } from 'node:net';
import { defaultSettings, settingChoices } from '../../../src/index.js';
import { nodeName, nodePoolName, recordId } from '../../../src/options/node-kinds.js';
import { hostVolumeFrom } from '../host-volumes.js';
import {
  durationKind,
  fileKind,
  flagKind,
  type Kind,
  listKind,
  numberKind,
  oneOf,
  orNone,
  textKind,
  textOf,
} from './kind.js';

/** One setting of `signalbox serve`. */
export interface Setting {
  /** Its path in the settings file, with dots: `notifications.delivery.rate.generic`. */
  readonly key: string;
  readonly kind: Kind;
  /** Absent: nothing is set. */
  readonly default?: unknown;
  /** One line, without a full stop. */
  readonly summary: string;
  /** Its flag, without dashes; other settings are given as `--set KEY=VALUE`. */
  readonly flag?: string;
  /** The value is never printed. */
  readonly secret?: true;
  /** Part of the engine's settings, under the same key. */
  readonly ofEngine?: true;
}

/** The variable of the environment that holds a setting: `SIGNALBOX_ALLOW_HOSTS`. */
export function variableOf(key: string): string {
  const words = key.replaceAll('.', '_').replace(/[A-Z]/g, (capital) => `_${capital}`);
  return `SIGNALBOX_${words.toUpperCase()}`;
}

const host = textKind('takes names or addresses without ports, such as jobs.internal', (text) =>
  text === '*' || isIPv6(text) || /^[A-Za-z0-9._-]{1,253}$/.test(text) ? text : undefined,
);
const hostPattern = textKind('takes host names, such as hooks.internal or *.corp.example', (text) =>
  isIPv6(text) || /^(?:\*\.)?[A-Za-z0-9._-]{1,253}$/.test(text) ? text : undefined,
);
const range = textKind('takes ranges such as 10.0.0.0/8 or fd00::/8', (text) => {
  const [address = '', bits = ''] = text.split('/');
  const most = isIP(address) === 6 ? 128 : 32;
  return isIP(address) !== 0 && /^[0-9]{1,3}$/.test(bits) && Number(bits) <= most ? text : undefined;
});
const volume = textKind(
  'takes NAME=PATH with an absolute path, such as media=/srv/media or media=/srv/media:ro',
  (text) => (hostVolumeFrom(text) === undefined ? undefined : text),
);
const origin = textKind('takes a URL such as https://example.org', (text) =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? new URL(text).origin : undefined,
);
const proxyUrl = textKind('takes an http: or https: URL such as http://proxy.corp.example:3128', (text) =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? text : undefined,
);
const smtpUrl = textKind('takes a URL such as smtp://user:password@mail.example.net:587', (text) =>
  URL.canParse(text) && /^smtps?:$/.test(new URL(text).protocol) ? text : undefined,
);
const listen = textKind('takes HOST:PORT, such as 127.0.0.1:4646 or [::1]:0', (text) =>
  listenParts(text) === undefined ? undefined : text,
);
const store: Kind = {
  ...textKind('takes memory or sqlite:PATH', (text) => (/^(?:memory|sqlite:[^\0]+)$/s.test(text) ? text : undefined)),
  path: 'store',
};
const base = textKind('takes a path, such as / or /api/v2', (text) => {
  if (text === '/' || text === '') return '';
  return /^(?:\/[A-Za-z0-9._~-]+)+\/?$/.test(text) ? text.replace(/\/$/, '') : undefined;
});
const address = textKind('takes a mail address', (text) => (/^[^\0-\x1f]{3,320}$/.test(text) ? text : undefined));
const header = textKind('takes names of headers', (text) =>
  /^[a-z0-9!#$%&'*+.^_`|~-]{1,128}$/i.test(text) ? text.toLowerCase() : undefined,
);
const region = textKind('takes a name', (text) => (/^[A-Za-z0-9_-]{1,128}$/.test(text) ? text : undefined));

/** Host and port of `127.0.0.1:4646` or `[::1]:0`. */
export function listenParts(text: string): { readonly host: string; readonly port: number } | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const name = match?.[1] ?? match?.[2];
  return name === undefined || port > 65_535 ? undefined : { host: name, port };
}

const ofProcess: readonly Setting[] = [
  {
    key: 'listen',
    flag: 'listen',
    kind: listen,
    default: '127.0.0.1:4646',
    summary: 'address to listen on; port 0 takes a free one',
  },
  {
    key: 'store',
    flag: 'store',
    kind: store,
    default: 'memory',
    summary: 'where everything is kept: memory or sqlite:PATH',
  },
  {
    key: 'names',
    flag: 'names',
    kind: oneOf(...settingChoices['notifications.names']),
    default: 'neutral',
    summary: 'spelling of headers and of notification words',
  },
  {
    key: 'access',
    flag: 'access',
    kind: oneOf('token', 'open'),
    default: 'token',
    summary: 'token: callers need tokens; open: everybody may do everything, only on a loopback address',
  },
  {
    key: 'seed',
    flag: 'seed',
    kind: fileKind,
    summary: 'JSON with workspaces, users, namespaces, policies, tokens and configurations, applied at every start',
  },
  {
    key: 'encryptionKeyFile',
    flag: 'encryption-key-file',
    kind: fileKind,
    summary: 'lines ID KEY: tokens, URLs and variables are encrypted with the first key, all of them decrypt',
  },
  { key: 'runner', kind: flagKind, default: true, summary: 'run jobs on this host' },
  {
    key: 'volumes',
    flag: 'volume',
    kind: listKind(volume),
    default: [],
    summary: 'folders of this host that jobs may mount, NAME=PATH with :ro behind it where it is read-only',
  },
  {
    key: 'publicOrigin',
    flag: 'public-origin',
    kind: origin,
    summary: 'origin of this server as others see it, for links; http://HOST:PORT when absent',
  },
  {
    key: 'allowHosts',
    flag: 'allow-host',
    kind: listKind(host),
    default: [],
    summary:
      'names that requests may be sent to besides loopback, the address listened on and the public origin; * is every name',
  },
  {
    key: 'notificationsBase',
    flag: 'notifications-base',
    kind: base,
    summary: 'path of the notification interface; / with neutral names, /api/v2 with upstream names when absent',
  },
  {
    key: 'allowOutbound',
    flag: 'allow-outbound',
    kind: listKind(range),
    default: [],
    summary: 'private ranges that notifications may be sent to',
  },
  {
    key: 'allowOutboundHosts',
    kind: listKind(hostPattern),
    default: [],
    summary: 'hosts that notifications may be sent to although their addresses are private',
  },
  { key: 'httpsOnly', kind: flagKind, default: false, summary: 'send notifications to https: URLs only' },
  {
    key: 'forbiddenPorts',
    kind: listKind(numberKind(1, 65_535)),
    default: [],
    summary: 'ports that notifications are never sent to',
  },
  {
    key: 'caFile',
    kind: fileKind,
    summary: 'certificate authorities (PEM) trusted beside the usual ones when notifications are sent',
  },
  { key: 'proxy', kind: proxyUrl, secret: true, summary: 'proxy that notifications are sent through' },
  {
    key: 'proxyExcept',
    kind: listKind(hostPattern),
    default: [],
    summary: 'hosts that are connected to without the proxy',
  },
  { key: 'smtpUrl', kind: smtpUrl, secret: true, summary: 'mail server; without one there is no e-mail' },
  { key: 'mailFrom', kind: address, summary: 'sender of mail, such as Alerts <alerts@example.net>' },
];

const pageUrl = textKind('takes a URL such as https://ci.example.net/{job}/{run}', (text) =>
  /^(?:\{origin\}\/|https?:\/\/)[^\s]{0,2000}$/.test(text) ? text : undefined,
);

const nodeText = textOf(nodeName);
const pair = textKind('takes KEY=VALUE', (text) => (/^[^=\0]{1,255}=[^\0]{0,4096}$/.test(text) ? text : undefined));
const amount = numberKind(0, 1_000_000_000);

/** The node of this host: for the runner of a server, and for an agent. */
const ofNode: readonly Setting[] = [
  { key: 'node.id', kind: textOf(recordId), summary: 'ID of the node; made at the first start, and kept, when absent' },
  { key: 'node.name', kind: nodeText, summary: 'name of the node; that of the host when absent' },
  { key: 'node.pool', kind: textOf(nodePoolName), default: 'default', summary: 'node pool' },
  { key: 'node.datacenter', kind: nodeText, default: 'dc1', summary: 'datacenter of the node' },
  { key: 'node.class', kind: nodeText, summary: 'class of the node, which jobs may ask for' },
  { key: 'node.meta', kind: listKind(pair), default: [], summary: 'words about the node, which jobs may ask for' },
  { key: 'node.cpu', kind: amount, summary: 'MHz of the node; all cores when absent' },
  { key: 'node.memory', kind: amount, summary: 'MiB of memory of the node; that of the host when absent' },
  { key: 'node.disk', kind: amount, summary: 'MiB of disk of the node; what is free when absent' },
  { key: 'node.reserved.cpu', kind: amount, default: 0, summary: 'MHz of them that jobs do not get' },
  { key: 'node.reserved.memory', kind: amount, default: 0, summary: 'MiB of memory that jobs do not get' },
  { key: 'node.reserved.disk', kind: amount, default: 0, summary: 'MiB of disk that jobs do not get' },
];

const wait = durationKind();
const span = durationKind(1);
const count = numberKind(1, 1_000_000);
const rate = numberKind(0, 100_000, 'fractions');

/** What the engine has as settings, under the keys that `createEngine` takes; the defaults are the engine's. */
const engineKinds: readonly (readonly [key: string, kind: Kind, summary: string])[] = [
  ['queries.defaultWait', span, 'wait of a blocking query that names none'],
  ['queries.maximumWait', span, 'longest wait of a blocking query'],
  ['events.kept', numberKind(0, 1_000_000), 'transactions whose events a stream can begin with; 0 has no event stream'],
  ['jobs.region', region, 'the region that this server is'],
  ['jobs.runUrl', pageUrl, 'where a run is looked at, for links; {origin}, {namespace}, {job} and {run} are filled in'],
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
  ['scheduling.heartbeatTtl', durationKind(1000), 'a node that was not heard of for this long is down'],
  ['collection.interval', durationKind(1000), 'time between two collections of what has ended, at least'],
  ['collection.evaluation', span, 'how long ended evaluations are kept'],
  ['collection.batchEvaluation', span, 'how long ended evaluations of batch jobs are kept'],
  ['collection.job', span, 'how long ended jobs are kept'],
  ['collection.deployment', span, 'how long ended deployments are kept'],
  ['collection.node', span, 'how long nodes are kept that are down'],
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
  ['notifications.delivery.recordBatch', numberKind(1, 10_000), 'so many outcomes are stored at once'],
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
  ['notifications.pressure.span', count, 'with so many more the longest wait is reached'],
  ['notifications.pressure.maximumWait', wait, 'longest wait of an acknowledgement'],
  ['notifications.retention.delivered', span, 'how long delivered notifications are kept'],
  ['notifications.retention.dead', span, 'how long notifications are kept that were given up'],
  ['notifications.retention.idempotency', span, 'how long idempotency keys are remembered'],
  ['notifications.maximumRecover', count, 'deliveries that one bulk redelivery sends again'],
  ['notifications.signature.headers', listKind(header), 'headers of the signature'],
  ['notifications.signature.idHeader', header, 'header that tells which message it is'],
  ['notifications.signature.timestampHeader', header, 'header that tells when its event was accepted'],
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

/** Every setting, in the order of the help. */
export const settingTable: readonly Setting[] = [
  ...ofProcess,
  ...ofNode,
  ...engineKinds.map(
    ([key, kind, summary]): Setting => ({ key, kind, summary, default: atPath(defaultSettings, key), ofEngine: true }),
  ),
];

/** The value at a key with dots; undefined when there is none. */
export function atPath(record: unknown, key: string): unknown {
  return key.split('.').reduce<unknown>((within, name) => {
    return typeof within === 'object' && within !== null && Object.hasOwn(within, name)
      ? (within as Record<string, unknown>)[name]
      : undefined;
  }, record);
}
