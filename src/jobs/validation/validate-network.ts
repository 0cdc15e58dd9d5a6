import type { NetworkResource, Port } from '../document/network.js';
import { quoted, type Report, within } from './problem-texts.js';

/** Port labels and static ports must be unique over all networks of the group and its tasks that share a host network. */
export interface PortUse {
  readonly labels: Set<string>;
  readonly statics: Map<string, string>;
}

export function noPorts(): PortUse {
  return { labels: new Set(), statics: new Map() };
}

export function validateNetworks(networks: readonly NetworkResource[] | null, use: PortUse, report: Report): void {
  networks?.forEach((network, index) => {
    const at = within(report, networks.length === 1 ? 'network' : `network ${index + 1}`);
    for (const port of network.ReservedPorts ?? []) validatePort(port, network, use, at, true);
    for (const port of network.DynamicPorts ?? []) validatePort(port, network, use, at, false);
    validateCni(network, at);
    const hostname = network.Hostname ?? '';
    if (hostname !== '' && !hostname.includes('${') && !isDomainName(hostname)) {
      at(`the hostname ${quoted(hostname)} is no DNS name`);
    }
  });
}

function validatePort(port: Port, network: NetworkResource, use: PortUse, report: Report, isStatic: boolean): void {
  const label = port.Label ?? '';
  const at = within(report, 'port', label);
  if (label === '') at('a label is needed');
  else if (use.labels.has(label)) at('the label is used twice');
  use.labels.add(label);
  const value = port.Value ?? 0;
  if (isStatic) {
    if (value > 65_535 || value < 1) at(`the static port must be from 1 to 65535, not ${value}`);
    else if (port.IgnoreCollision !== true) {
      const key = `${port.HostNetwork ?? 'default'} ${value}`;
      const other = use.statics.get(key);
      if (other !== undefined) at(`the static port ${value} is already reserved by ${quoted(other)}`);
      use.statics.set(key, label);
    }
  }
  const to = port.To ?? 0;
  if (to < -1) at(`the mapped port must not be below -1, but is ${to}`);
  if (to > 65_535) at(`the mapped port must not be above 65535, but is ${to}`);
  if (port.IgnoreCollision === true && network.Mode !== undefined && network.Mode !== 'host') {
    at('ignore_collision is for the network mode host');
  }
}

function validateCni(network: NetworkResource, report: Report): void {
  for (const [key, value] of Object.entries(network.CNI?.Args ?? {})) {
    if (key.includes(';') || value.includes(';'))
      report(`the CNI argument ${quoted(key)} must not contain a semicolon`);
  }
}

/** Labels of 1 to 63 characters, 255 in all; underscores are common in practice. */
function isDomainName(name: string): boolean {
  return (
    name.length <= 255 &&
    /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)(?:\.[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*\.?$/.test(
      name,
    )
  );
}
