import { quoted } from '../../shared/values.js';
import type { NetworkResource, Port } from '../document/network.js';
import type { TaskGroup } from '../document/task-group.js';
import { type Report, within } from './problems.js';

/** Checks the networks of a group and those of its tasks, which share its ports. */
export function validateNetworks(group: TaskGroup, report: Report): void {
  const use: PortUse = { labels: new Set(), statics: new Map(), arguments: new Set() };
  const networks = group.Networks ?? [];
  for (const [index, network] of networks.entries()) {
    validateNetwork(network, use, within(report, networks.length === 1 ? 'network' : `network ${index + 1}`));
  }
  for (const task of group.Tasks) {
    for (const network of task.Resources.Networks ?? []) {
      validatePortsOfTask(network, use, within(report, 'task', task.Name));
    }
  }
}

/** Names in use in the group: labels, static ports by host network, arguments of network plugins. */
interface PortUse {
  readonly labels: Set<string>;
  readonly statics: Map<string, string>;
  readonly arguments: Set<string>;
}

function validateNetwork(network: NetworkResource, use: PortUse, report: Report): void {
  for (const port of network.ReservedPorts ?? []) validateReservedPort(port, network, use, report);
  for (const port of network.DynamicPorts ?? []) validatePort(port, network, use, report);
  const hostname = network.Hostname ?? '';
  if (hostname !== '' && !hostname.includes('${') && !isDomainName(hostname)) {
    report(`the hostname ${quoted(hostname)} is not a DNS name`);
  }
  validatePluginArguments(network, use, report);
}

function validateReservedPort(port: Port, network: NetworkResource, use: PortUse, report: Report): void {
  const at = within(report, 'port', port.Label ?? '');
  const value = port.Value ?? 0;
  if (value > 65_535 || value < 1) at(`the static port must be from 1 to 65535, not ${value}`);
  else reserve(port, use, at);
  validatePort(port, network, use, report);
}

function reserve(port: Port, use: PortUse, report: Report): void {
  const key = `${port.HostNetwork ?? 'default'} ${port.Value ?? 0}`;
  const other = use.statics.get(key);
  if (other === undefined) use.statics.set(key, port.Label ?? '');
  else if (port.IgnoreCollision !== true) {
    report(`the static port ${port.Value ?? 0} is already reserved by ${quoted(other)}`);
  }
}

function validatePort(port: Port, network: NetworkResource, use: PortUse, report: Report): void {
  const label = port.Label ?? '';
  const at = within(report, 'port', label);
  if (use.labels.has(label)) at('the label is used twice');
  use.labels.add(label);
  const to = port.To ?? 0;
  if (to < -1) at(`the mapped port must not be below -1, but is ${to}`);
  if (to > 65_535) at(`the mapped port must not be above 65535, but is ${to}`);
  if (port.IgnoreCollision === true && network.Mode !== undefined && network.Mode !== 'host') {
    at('ignore_collision is for the network mode host');
  }
}

/** Networks of a task are deprecated; their ports must not conflict with those of the group. */
function validatePortsOfTask(network: NetworkResource, use: PortUse, report: Report): void {
  for (const port of [...(network.ReservedPorts ?? []), ...(network.DynamicPorts ?? [])]) {
    const at = within(report, 'port', port.Label ?? '');
    if (use.labels.has(port.Label ?? '')) at('the label is used by a network of the group');
    const value = port.Value ?? 0;
    if (value > 65_535 || value < 0) at(`the static port must be from 1 to 65535, not ${value}`);
    else if (value !== 0) reserve(port, use, at);
  }
}

function validatePluginArguments(network: NetworkResource, use: PortUse, report: Report): void {
  for (const [key, value] of Object.entries(network.CNI?.Args ?? {})) {
    if (key.includes(';')) report(`the key of the CNI argument ${quoted(key)} must not contain a semicolon`);
    if (value.includes(';')) report(`the value of the CNI argument ${quoted(key)} must not contain a semicolon`);
    if (use.arguments.has(key)) report(`the CNI argument ${quoted(key)} is given twice`);
    use.arguments.add(key);
  }
}

/** Labels of 1 to 63 bytes, 255 in all. The network plugin decides which characters are allowed. */
function isDomainName(name: string): boolean {
  const labels = (name.endsWith('.') ? name.slice(0, -1) : name).split('.');
  const sizes = labels.map((label) => new TextEncoder().encode(label).length);
  return sizes.every((size) => size >= 1 && size <= 63) && sizes.reduce((sum, size) => sum + size + 1, 0) <= 255;
}
