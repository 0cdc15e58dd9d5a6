import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';

/** One answer of a look-up. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** The addresses of a name in the hosts file of the system; null when it has none. */
export type HostsFile = (name: string) => Promise<readonly ResolvedAddress[] | null>;

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
export interface SearchList {
  readonly domains: readonly string[];
  /** A name with at least this many dots is tried as an absolute name first. */
  readonly dots: number;
}

const none: SearchList = { domains: [], dots: 1 };
const mostDomains = 6;

/** From the host's resolver configuration; nothing is searched when it cannot be read. */
export function hostSearchList(path = '/etc/resolv.conf'): SearchList {
  try {
    return searchListFrom(readFileSync(path, 'utf8'));
  } catch {
    return none;
  }
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
