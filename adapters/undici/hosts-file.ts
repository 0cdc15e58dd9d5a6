import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import type { ResolvedAddress } from './resolved-address.js';

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
