import { Resolver as DnsResolver } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { Milliseconds } from '../../src/shared/duration.js';
import { resultOr } from '../../src/shared/values.js';

/** The owner and the cancellation of a look-up. */
export interface ResolveOptions {
  /** Cancels the look-up. */
  readonly signal: AbortSignal;
  /** The owner of the look-up; each has separate limits. */
  readonly partition: string;
}

/** All addresses of a name. A failure is a rejection. */
export type Resolver = (hostname: string, options: ResolveOptions) => Promise<readonly ResolvedAddress[]>;

/** The name servers and timeouts. */
export interface NameResolverSettings {
  /** Name servers, `address` or `address:port`; the host's when absent. */
  readonly servers?: readonly string[];
  /** How long one query to one server may take. 2.5 s when absent. */
  readonly timeout?: Milliseconds;
  readonly hosts?: HostsFile;
  readonly search?: SearchList;
  readonly limits?: LookupLimits;
}

/** How much later than the first the second address family may answer. */
const secondFamilyWait: Milliseconds = 100;
const longestTtl: Milliseconds = 30_000;
const mostRemembered = 1000;

interface Remembered {
  readonly addresses: readonly ResolvedAddress[];
  readonly until: number;
}

/**
 * Looks names up by DNS queries of this process (the host's name servers and search list, after the host's hosts file), and not
 * by the operating system's function, which cannot be cancelled and of which a process runs two at once: names that no server
 * answers for would delay all other look-ups. A look-up ends with its signal, look-ups of one partition are limited, and answers
 * are cached for their time to live, half a minute at most.
 */
export function nameResolver(settings: NameResolverSettings = {}): Resolver {
  const hosts = settings.hosts ?? hostsFile();
  const turns = lookupTurns(settings.limits);
  const remembered = new Map<string, Remembered>();
  let search = settings.search;

  const ask = async (name: string, signal: AbortSignal): Promise<Remembered> => {
    const resolver = newResolver(settings);
    const cancel = (): void => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await bothFamilies(resolver, name);
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };

  const query = async (hostname: string, signal: AbortSignal): Promise<Remembered> => {
    search ??= hostSearchList();
    let failure: unknown;
    for (const name of candidatesFor(hostname, search)) {
      if (signal.aborted) break;
      try {
        return await ask(name, signal);
      } catch (error) {
        failure = error;
        if (!isMissing(error)) break;
      }
    }
    throw failure ?? signal.reason;
  };

  return async (hostname, { signal, partition }) => {
    const name = hostname.toLowerCase();
    if (name === 'localhost' || name.endsWith('.localhost')) return loopback;
    const local = await hosts(name);
    if (local !== null) return local;
    const known = remembered.get(name);
    if (known !== undefined && known.until > performance.now()) return known.addresses;
    const leave = await turns.enter(partition, signal);
    try {
      const found = await query(name, signal);
      if (remembered.size >= mostRemembered) remembered.clear();
      remembered.set(name, found);
      return found.addresses;
    } finally {
      leave();
    }
  };
}

const loopback: readonly ResolvedAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * A resolver for one name. After a few quick answers, the underlying library shortens the configured timeout of a resolver to
 * as little as 250 ms: names that the server must resolve recursively would fail, as would all names while the process is busy.
 */
function newResolver({ servers, timeout = 2500 }: NameResolverSettings): DnsResolver {
  const resolver = new DnsResolver({ timeout, tries: 2 });
  if (servers !== undefined) resolver.setServers(servers);
  return resolver;
}

/** IPv4 first, as most receivers have it. Does not wait long for the slower family once the other has answered. */
async function bothFamilies(resolver: DnsResolver, name: string): Promise<Remembered> {
  const v4 = resolver.resolve4(name, { ttl: true });
  const v6 = resolver.resolve6(name, { ttl: true });
  const settled = Promise.allSettled([v4, v6]);
  const first = await Promise.any([v4, v6]).catch(() => null);
  if (first !== null) {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, secondFamilyWait);
    });
    await Promise.race([settled, late]);
    clearTimeout(timer);
    resolver.cancel();
  }
  const [a, aaaa] = await settled;
  const records = [
    ...(a.status === 'fulfilled' ? a.value.map(({ address, ttl }) => ({ address, ttl, family: 4 as const })) : []),
    ...(aaaa.status === 'fulfilled'
      ? aaaa.value.map(({ address, ttl }) => ({ address, ttl, family: 6 as const }))
      : []),
  ];
  if (records.length === 0) throw a.status === 'rejected' ? a.reason : new Error('no address');
  const lifetime = Math.min(longestTtl, ...records.map(({ ttl }) => ttl * 1000));
  const addresses = records.map(({ address, family }) => ({ address, family }));
  return { addresses, until: performance.now() + lifetime };
}

/** The name does not exist, or not in this domain; the next candidate is tried. */
function isMissing(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
  return code === 'ENOTFOUND' || code === 'ENODATA';
}

/** Limits simultaneous look-ups. */
interface LookupLimits {
  readonly perPartition: number;
  /** The limit for all partitions together; each partition may always have one more. */
  readonly all: number;
}

interface LookupTurns {
  /**
   * Resolves when a look-up of the partition may begin, with the function that ends it. Rejects when the signal aborts first.
   */
  enter(partition: string, signal: AbortSignal): Promise<() => void>;
}

interface Waiting {
  readonly partition: string;
  begin(): void;
}

/** So a partition with unresolvable names delays only its own look-ups. */
export function lookupTurns({ perPartition, all }: LookupLimits = { perPartition: 8, all: 128 }): LookupTurns {
  const running = new Map<string, number>();
  let total = 0;
  const waiting = new Set<Waiting>();

  const mayBegin = (partition: string): boolean => {
    const own = running.get(partition) ?? 0;
    return own === 0 || (own < perPartition && total < all);
  };
  const begin = (partition: string): (() => void) => {
    running.set(partition, (running.get(partition) ?? 0) + 1);
    total += 1;
    let ended = false;
    return () => {
      if (!ended) end(partition);
      ended = true;
    };
  };
  const end = (partition: string): void => {
    const left = (running.get(partition) ?? 1) - 1;
    if (left > 0) running.set(partition, left);
    else running.delete(partition);
    total -= 1;
    for (const next of waiting) if (mayBegin(next.partition)) next.begin();
  };

  return {
    enter: (partition, signal) => {
      if (signal.aborted) return Promise.reject(signal.reason);
      if (mayBegin(partition)) return Promise.resolve(begin(partition));
      return new Promise((resolve, reject) => {
        const leave = (): void => {
          waiting.delete(entry);
          signal.removeEventListener('abort', giveUp);
        };
        const entry: Waiting = {
          partition,
          begin: () => {
            leave();
            resolve(begin(partition));
          },
        };
        const giveUp = (): void => {
          leave();
          reject(signal.reason);
        };
        signal.addEventListener('abort', giveUp, { once: true });
        waiting.add(entry);
      });
    },
  };
}

/** One answer of a look-up. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** The addresses of a name in the hosts file of the system; null when it has none. */
type HostsFile = (name: string) => Promise<readonly ResolvedAddress[] | null>;

/** How long the contents are used before the file is read again. */
const freshFor = 5000;

/** Reads the file again when it was read more than five seconds ago. A file that cannot be read counts as empty. */
export function hostsFile(path: string = defaultPath()): HostsFile {
  let entries: ReadonlyMap<string, readonly ResolvedAddress[]> = new Map();
  let readAt = Number.NEGATIVE_INFINITY;
  return async (name) => {
    if (performance.now() - readAt > freshFor) {
      readAt = performance.now();
      entries = entriesFrom(await readFile(path, 'utf8').catch(() => ''));
    }
    return entries.get(name.toLowerCase()) ?? null;
  };
}

/** Lines of an address and its names; `#` begins a comment. */
export function entriesFrom(text: string): ReadonlyMap<string, readonly ResolvedAddress[]> {
  const entries = new Map<string, ResolvedAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      const known = entries.get(key) ?? [];
      known.push({ address, family: family === 6 ? 6 : 4 });
      entries.set(key, known);
    }
  }
  return entries;
}

function defaultPath(): string {
  if (process.platform !== 'win32') return '/etc/hosts';
  return join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts');
}

/** How a name that may be relative is looked up. */
interface SearchList {
  readonly domains: readonly string[];
  /** A name with at least this many dots is tried as an absolute name first. */
  readonly dots: number;
}

const none: SearchList = { domains: [], dots: 1 };
const mostDomains = 6;

/** From the host's resolver configuration; nothing is searched when it cannot be read. */
function hostSearchList(path = '/etc/resolv.conf'): SearchList {
  return resultOr(none, () => searchListFrom(readFileSync(path, 'utf8')));
}

/** The last `search` or `domain` line counts, and `options ndots:N`. */
export function searchListFrom(text: string): SearchList {
  let { domains, dots } = none;
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'search' || keyword === 'domain') domains = values.slice(0, mostDomains);
    if (keyword !== 'options') continue;
    for (const option of values) {
      const given = /^ndots:(\d{1,2})$/.exec(option);
      if (given !== null) dots = Math.min(Number(given[1]), 15);
    }
  }
  return { domains, dots };
}

/** The absolute names to query, in order. */
export function candidatesFor(name: string, { domains, dots }: SearchList): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const searched = domains.map((domain) => `${name}.${domain}`.replace(/(?<!\.)\.+$/, ''));
  const given = name.split('.').length - 1;
  return given >= dots ? [name, ...searched] : [...searched, name];
}
