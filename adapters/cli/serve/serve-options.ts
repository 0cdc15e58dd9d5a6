import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { Settings, SettingsOverrides } from '../../../src/index.js';
import type { Compatibility, ConnectionLimits } from '../../compat/index.js';
import { isLoopback, listenParts } from '../addresses.js';
import { choicesText } from '../command-line/command.js';
import { columns } from '../output/tables.js';
import type { Kind } from '../settings/kind.js';
import { type NodeOptions, nodeOptionsFrom } from '../settings/node-settings.js';
import { needPage, pageOptionsFrom } from '../settings/page-settings.js';
import { readFlags } from '../settings/read-flags.js';
import { type ResolvedSettings, resolveSettings, type SettingSources } from '../settings/resolve-settings.js';
import { atPath, variableOf } from '../settings/setting.js';
import { settingTable } from '../settings/setting-table.js';
import { type StorePlace, storePlace } from '../settings/store-kind.js';
import { Stopped } from '../stopped.js';

export interface ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly store: StoreOptions;
  /** The servers whose existing clients are served. */
  readonly compat: readonly Compatibility[];
  /** `upstream` if those of HCP Terraform are among them. */
  readonly names: Settings['notifications']['names'];
  readonly access: 'token' | 'open';
  readonly seedFile: string | null;
  /** Keys that encrypt stored tokens and URLs; null stores them unencrypted. */
  readonly encryptionKeyFile: string | null;
  readonly outbound: OutboundOptions;
  readonly mail: MailOptions | null;
  /** Without a slash at the end; empty for the root. */
  readonly notificationsBase: string;
  readonly runner: boolean;
  readonly page: ReturnType<typeof pageOptionsFrom>;
  /** The options of the runner's node. */
  readonly node: NodeOptions;
  /** Where the runner keeps files and processes of tasks; null: a temporary folder. */
  readonly directory: string | null;
  readonly publicOrigin: string | null;
  /** Further allowed host names and addresses, in addition to loopback, the listening address and the public origin. */
  readonly allowHosts: readonly string[];
  /** The most client connections; null: the default of the machine. */
  readonly maximumConnections: number | null;
  readonly maximumConnectionsPerAddress: number | null;
  readonly maximumWaitingReads: number;
  /** Milliseconds without progress after which a client that reads an answer is disconnected. */
  readonly stallTimeout: number;
  /** The engine's settings that differ from the defaults. */
  readonly engine: SettingsOverrides;
  /** Print requests to try once the server is ready. */
  readonly examples: boolean;
}

/** Where the store is, and how it is reached. */
export interface StoreOptions {
  readonly place: StorePlace;
  /** Milliseconds that reads and writes wait for it. */
  readonly busyMs: number;
  /** Contains a password; null: notifications come from the server of the store itself. */
  readonly listenUrl: string | null;
}

/** How notifications are sent. */
export interface OutboundOptions {
  /** Private ranges that notifications may be sent to, and hosts that may have any address. */
  readonly cidrs: readonly string[];
  readonly hosts: readonly string[];
  readonly httpsOnly: boolean;
  readonly forbiddenPorts: readonly number[];
  readonly caFile: string | null;
  readonly proxy: { readonly url: string; readonly except: readonly string[] } | null;
}

interface MailOptions {
  /** Contains the password of the mail server. */
  readonly url: string;
  readonly from: string;
}

function withChoices({ choices }: Kind, summary: string): string {
  return choices === undefined ? summary : `${summary}: ${choicesText(choices)}`;
}

export const serveUsage = `signalbox serve [options]

${columns([
  ...settingTable.flatMap(({ flag, kind, summary }) =>
    flag === undefined ? [] : [[`  --${flag} ${kind.path === 'file' ? 'FILE' : 'VALUE'}`, withChoices(kind, summary)]],
  ),
  ['  --no-runner', 'run no jobs on this host'],
  ['  --no-page', 'serve no web page'],
  ['  --config FILE', 'settings file (SIGNALBOX_CONFIG, else signalbox.json in the working folder)'],
  ['  --set KEY=VALUE', 'any setting, may be repeated; signalbox help settings lists them'],
  ['  --examples', 'print example requests after the first line'],
])}
Each setting can also be set in the settings file or the environment (--listen is SIGNALBOX_LISTEN). Options override the
environment, which overrides the file. signalbox config, with the same options, prints the effective values and their sources.
`;

/** The help of the settings: each with its default, summary and environment variable. */
export const settingsUsage = `The settings of signalbox serve: in signalbox.json as nested objects, as --set KEY=VALUE, or in the environment.
Outside the file, lists are separated by commas.

${settingTable
  .map(({ key, kind, summary, default: value, flag }) => {
    const printed = value === undefined ? '' : ` (${JSON.stringify(kind.toJson(value))})`;
    return `  ${key}${printed}\n      ${withChoices(kind, summary)}\n      ${variableOf(key)}${flag === undefined ? '' : `, --${flag}`}\n`;
  })
  .join('')}`;

/** The options of `signalbox serve`; each line of an error names a flag, a variable or a place in the file. */
export function parseServeOptions(
  args: readonly string[],
  others: Omit<SettingSources, 'flags'> = { environment: {}, file: null },
): Result<ServeOptions, string> {
  return readFlags(args).andThen(({ flags, examples }) =>
    resolveSettings({ ...others, flags })
      .mapErr((faults) => faults.join('\n'))
      .andThen(checkedTogether)
      .map((settings) => ({ ...optionsFrom(settings), examples })),
  );
}

/** Faults in the combination of settings. */
export function checkedTogether(settings: ResolvedSettings): Result<ResolvedSettings, string> {
  const inForce = (key: string): unknown => settings.get(key)?.value;
  const nameOf = (key: string): string => {
    const source = settings.get(key)?.source;
    return source === undefined || source === 'default' ? key : source.startsWith('-') ? source : `${key} (${source})`;
  };
  const { host } = listenParts(String(inForce('listen'))) ?? { host: '' };
  const faults: string[] = [];
  if (inForce('access') === 'open' && !isLoopback(host)) {
    const access = nameOf('access') === '--access' ? '--access open' : `open ${nameOf('access')}`;
    faults.push(`${access} is allowed only when ${nameOf('listen')} is a loopback address, such as 127.0.0.1:4646`);
  }
  for (const [one, other] of together) {
    const isThere = other === inPostgres ? isInPostgres(settings) : isSet(inForce(other));
    if (isSet(inForce(one)) && !isThere) faults.push(`${nameOf(one)} has no effect without ${other}`);
  }
  if (isSet(inForce('compat')) && settings.get('names')?.source !== 'default') {
    faults.push(`${nameOf('names')} has no effect beside ${nameOf('compat')}`);
  }
  for (const [smaller, larger] of ordered) {
    if (Number(inForce(smaller)) > Number(inForce(larger))) {
      faults.push(`${nameOf(smaller)} must not be more than ${nameOf(larger)}`);
    }
  }
  return faults.length > 0 ? err(faults.join('\n')) : ok(settings);
}

const inPostgres = 'a store in PostgreSQL';
const together = [
  ['proxyExcept', 'proxy'],
  ['mailFrom', 'smtpUrl'],
  ['smtpUrl', 'mailFrom'],
  ['storeListenUrl', inPostgres],
  ...needPage.map((key) => [key, 'page'] as const),
] as const;

const notifications = 'notifications.';
const ordered = [
  ['queries.defaultWait', 'queries.maximumWait'],
  [`${notifications}defaultPageSize`, `${notifications}maximumPageSize`],
  [`${notifications}verification.connectTimeout`, `${notifications}verification.totalTimeout`],
  [`${notifications}delivery.connectTimeout`, `${notifications}delivery.totalTimeout`],
  [`${notifications}delivery.breaker.pause`, `${notifications}delivery.breaker.maximumPause`],
  ['maximumConnectionsPerAddress', 'maximumConnections'],
] as const;

function isInPostgres(settings: ResolvedSettings): boolean {
  return storePlace(String(settings.get('store')?.value)).type === 'postgres';
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);
}

/** The notification headers of HCP Terraform, and two more in the same style. */
const terraformHeaders: SettingsOverrides = {
  notifications: {
    signature: {
      headers: ['x-tfe-notification-signature'],
      idHeader: 'x-tfe-notification-id',
      timestampHeader: 'x-tfe-notification-timestamp',
    },
  },
};

/** The effective value. Defaults for clients of HCP Terraform rank between the file and the table's defaults. */
export function valueInForce<T>(settings: ResolvedSettings, key: string): T {
  const { value, source } = settings.get(key) ?? { value: undefined, source: 'default' };
  const isForTerraform = source === 'default' && servedBy(settings).includes('terraform');
  const terraform = key === 'notificationsBase' ? '/api/v2' : atPath(terraformHeaders, key);
  return ((isForTerraform ? terraform : undefined) ?? value) as T;
}

/** The servers whose clients are served. */
function servedBy(settings: ResolvedSettings): readonly Compatibility[] {
  const all = ['nomad', 'terraform'] as const;
  const chosen = settings.get('compat')?.value;
  if (settings.get('names')?.value === 'upstream') return all;
  return Array.isArray(chosen) ? all.filter((each) => chosen.includes(each)) : [];
}

function optionsFrom(settings: ResolvedSettings): Omit<ServeOptions, 'examples'> {
  const read = <T>(key: string): T => valueInForce(settings, key);
  const orNull = (key: string): string | null => read<string | undefined>(key) ?? null;
  const store = storeOptionsFrom(read);
  const url = orNull('smtpUrl');
  const served = servedBy(settings);
  return {
    ...(listenParts(read('listen')) ?? { host: '127.0.0.1', port: 0 }),
    store,
    compat: served,
    names: served.includes('terraform') ? 'upstream' : 'neutral',
    access: read('access'),
    seedFile: orNull('seed'),
    encryptionKeyFile: orNull('encryptionKeyFile'),
    outbound: outboundOptionsFrom(read),
    mail: url === null ? null : { url, from: read('mailFrom') },
    notificationsBase: orNull('notificationsBase') ?? '',
    runner: read('runner'),
    page: pageOptionsFrom(read),
    node: nodeOptionsFrom(read),
    directory: directoryOf(store.place, orNull('node.directory')),
    publicOrigin: orNull('publicOrigin'),
    allowHosts: read('allowHosts'),
    maximumConnections: read<number | undefined>('maximumConnections') ?? null,
    maximumConnectionsPerAddress: read<number | undefined>('maximumConnectionsPerAddress') ?? null,
    maximumWaitingReads: read<number>('maximumWaitingReads'),
    stallTimeout: read('stallTimeout'),
    engine: engineSettings(settings),
  };
}

/** `read` returns the effective value. */
export function storeOptionsFrom(read: <T>(key: string) => T): StoreOptions {
  return {
    place: storePlace(read('store')),
    busyMs: read('storeTimeout'),
    listenUrl: read<string | undefined>('storeListenUrl') ?? null,
  };
}

/** Tasks survive a server whose store is kept: the next one finds them in the same folder. */
function directoryOf(place: StorePlace, directory: string | null): string | null {
  if (directory !== null) return resolve(directory);
  if (place.type === 'memory') return null;
  return resolve(place.type === 'sqlite' ? `${place.path}-allocations` : 'signalbox-allocations');
}

/** Only the values that differ from the engine's defaults. */
function engineSettings(settings: ResolvedSettings): SettingsOverrides {
  const overrides: Record<string, unknown> = {};
  for (const { setting } of settings.values()) {
    const value = valueInForce<unknown>(settings, setting.key);
    if (setting.ofEngine !== true || value === setting.default) continue;
    const names = setting.key.split('.');
    const last = names.pop() ?? '';
    let within = overrides;
    for (const name of names) {
      within[name] ??= {};
      within = within[name] as Record<string, unknown>;
    }
    within[last] = value;
  }
  return overrides as SettingsOverrides;
}

/** `read` returns the effective value. */
export function outboundOptionsFrom(read: <T>(key: string) => T): OutboundOptions {
  const proxy = read<string | undefined>('proxy') ?? null;
  return {
    cidrs: read('allowOutbound'),
    hosts: read('allowOutboundHosts'),
    httpsOnly: read('httpsOnly'),
    forbiddenPorts: read('forbiddenPorts'),
    caFile: read<string | undefined>('caFile') ?? null,
    proxy: proxy === null ? null : { url: proxy, except: read('proxyExcept') },
  };
}

/** Descriptors reserved for the store, tasks and notifications. */
const reserve = 256;
const mostByDefault = 10_000;

type ConnectionOptions = Pick<ServeOptions, 'host' | 'maximumConnections' | 'maximumConnectionsPerAddress'>;

/** The connection limits: from the settings, else half of the descriptors. Throws `Stopped` if too few are left for the rest. */
export function connectionLimitsFrom(
  { host, maximumConnections, maximumConnectionsPerAddress }: ConnectionOptions,
  descriptors = descriptorLimit(),
): ConnectionLimits {
  const most = Math.max(1, descriptors - reserve);
  if (maximumConnections !== null && maximumConnections > most) {
    throw new Stopped(
      `maximumConnections is ${maximumConnections}, but this process may open only ${descriptors} files and needs ${reserve} of them ` +
        `for tasks and the store: set it to at most ${most}, or raise the limit (ulimit -n, LimitNOFILE=)`,
    );
  }
  const maximum = maximumConnections ?? Math.min(mostByDefault, Math.floor(descriptors / 2));
  const perAddress = maximumConnectionsPerAddress ?? (isLoopback(host) ? maximum : Math.ceil(maximum / 2));
  return { maximumConnections: maximum, maximumConnectionsPerAddress: Math.min(perAddress, maximum) };
}

/** The limit of open files of the process; outside Linux a number that all systems allow. */
function descriptorLimit(): number {
  try {
    const line = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    if (line === 'unlimited') return Number.MAX_SAFE_INTEGER;
    return Number(line) > 0 ? Number(line) : 1024;
  } catch {
    return 1024;
  }
}
