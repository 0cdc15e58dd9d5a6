import { readFileSync } from 'node:fs';
import type { ConnectionLimits } from '../../http-server/index.js';
import { isLoopback } from '../server-address.js';
import { Stopped } from '../stopped.js';
import type { ServeOptions } from './serve-options.js';

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
