import { isIP, isIPv6 } from 'node:net';
import { engineSettings } from '../../../src/index.js';
import { listenParts } from '../addresses.js';
import { hostVolumeFrom } from '../host-volumes.js';
import { durationKind, fileKind, flagKind, listKind, numberKind, oneOf, textKind } from './kind.js';
import { pageSettings } from './page-settings.js';
import type { Setting } from './setting.js';
import { postgresUrlKind, storeKind } from './store-kind.js';

const host = textKind('takes host names or addresses without ports, such as jobs.internal', (text) =>
  text === '*' || isIPv6(text) || /^[A-Za-z0-9._-]{1,253}$/.test(text) ? text : undefined,
);
const hostPattern = textKind('takes host names, such as hooks.internal or *.corp.example', (text) =>
  isIPv6(text) || /^(?:\*\.)?[A-Za-z0-9._-]{1,253}$/.test(text) ? text : undefined,
);
const range = textKind('takes address ranges such as 10.0.0.0/8 or fd00::/8', (text) => {
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
const base = textKind('takes a path, such as / or /api/v2', (text) => {
  if (text === '/' || text === '') return '';
  return /^(?:\/[A-Za-z0-9._~-]+)+\/?$/.test(text) ? text.replace(/\/$/, '') : undefined;
});
const address = textKind('takes an e-mail address', (text) => (/^[^\0-\x1f]{3,320}$/.test(text) ? text : undefined));

/** Settings of the server process: address, store, access, and allowed destinations of notifications. */
export const processSettings: readonly Setting[] = [
  {
    key: 'listen',
    flag: 'listen',
    kind: listen,
    default: '127.0.0.1:4646',
    summary: 'address to listen on; port 0: a free port',
  },
  {
    key: 'store',
    flag: 'store',
    kind: storeKind,
    default: 'memory',
    secret: 'password',
    summary:
      'the store: memory (lost when the server ends), sqlite:PATH, or postgres://USER@HOST/DATABASE, with ?schema=NAME for another schema than signalbox',
  },
  {
    key: 'storeTimeout',
    kind: durationKind(1),
    default: 10_000,
    summary:
      'how long reads and writes wait while another process holds the file of the store, or its database server is away; then 503',
  },
  {
    key: 'storeListenUrl',
    kind: postgresUrlKind,
    secret: true,
    summary:
      "URL of the store's database server past a pooler in transaction mode, which lets no notifications through; without it, changes of other servers are noticed within 25 ms",
  },
  {
    key: 'compat',
    flag: 'compat',
    kind: listKind(oneOf('nomad', 'terraform')),
    default: [],
    summary:
      'servers whose existing clients are served: nomad for the job interface, terraform (HCP Terraform) for the notification interface',
  },
  {
    key: 'names',
    flag: 'names',
    kind: oneOf(...engineSettings.notifications.names.words),
    default: 'neutral',
    summary: 'upstream is short for compat nomad,terraform',
  },
  {
    key: 'access',
    flag: 'access',
    kind: oneOf('token', 'open'),
    default: 'token',
    summary: 'who may call: token: callers with a token; open: everyone, allowed on loopback addresses only',
  },
  {
    key: 'seed',
    flag: 'seed',
    kind: fileKind,
    summary:
      'JSON file with workspaces, users, namespaces, policies, tokens and configurations, applied at every start',
  },
  {
    key: 'encryptionKeyFile',
    flag: 'encryption-key-file',
    kind: fileKind,
    summary: 'file with lines ID KEY: the first key encrypts tokens, URLs and variables; all keys decrypt',
  },
  { key: 'runner', kind: flagKind, default: true, summary: 'run jobs on this host' },
  ...pageSettings,
  {
    key: 'volumes',
    flag: 'volume',
    kind: listKind(volume),
    default: [],
    summary: 'folders of this host that jobs may mount: NAME=PATH, or NAME=PATH:ro for read-only',
  },
  {
    key: 'publicOrigin',
    flag: 'public-origin',
    kind: origin,
    summary: 'public origin of this server, for links; http://HOST:PORT when absent',
  },
  {
    key: 'allowHosts',
    flag: 'allow-host',
    kind: listKind(host),
    default: [],
    summary:
      'host names accepted in requests in addition to loopback, the listening address and the public origin; * accepts every name',
  },
  {
    key: 'maximumConnections',
    kind: numberKind(16, 1_000_000),
    summary:
      'maximum client connections; default: half of the files that the process may open, at most 10000. At least 256 files must remain',
  },
  {
    key: 'maximumConnectionsPerAddress',
    kind: numberKind(1, 1_000_000),
    summary:
      'maximum client connections per address; default: half of maximumConnections, or all when listening on loopback. All clients of a reverse proxy share its address',
  },
  {
    key: 'maximumWaitingReads',
    kind: numberKind(16, 1_000_000),
    default: 16_384,
    summary:
      'reads that wait for a change at once (parameter index); further ones get a 429. Each token can have a quarter, all callers without a token an eighth together, and one address half of that; an eighth is reserved for management and agents',
  },
  {
    key: 'stallTimeout',
    kind: durationKind(100),
    default: 30_000,
    summary: 'a client that reads nothing of its response for this long is disconnected',
  },
  {
    key: 'notificationsBase',
    flag: 'notifications-base',
    kind: base,
    summary: 'path of the notification interface; default: /, and /api/v2 with compat terraform',
  },
  {
    key: 'allowOutbound',
    flag: 'allow-outbound',
    kind: listKind(range),
    default: [],
    summary: 'private address ranges that notifications may be sent to',
  },
  {
    key: 'allowOutboundHosts',
    kind: listKind(hostPattern),
    default: [],
    summary: 'hosts that notifications may be sent to even at private addresses',
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
    summary: 'PEM file with additional trusted certificate authorities for sending notifications',
  },
  { key: 'proxy', kind: proxyUrl, secret: true, summary: 'proxy for sending notifications' },
  {
    key: 'proxyExcept',
    kind: listKind(hostPattern),
    default: [],
    summary: 'hosts that are reached without the proxy',
  },
  { key: 'smtpUrl', kind: smtpUrl, secret: true, summary: 'mail server; required for e-mail' },
  { key: 'mailFrom', kind: address, summary: 'sender of e-mail, such as Alerts <alerts@example.net>' },
];
