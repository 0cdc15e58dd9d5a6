import { quoted } from '../../shared/values.js';
import type { Job } from '../document/job.js';
import type { NetworkResource, Port } from '../document/network.js';
import type { TaskGroup } from '../document/task-group.js';
import { type Report, within } from './problems.js';
import { validateGroupServices } from './validate-services.js';
import {
  validateAffinities,
  validateConstraints,
  validateDisconnect,
  validateGroupScaling,
  validateMigrate,
  validateReschedule,
  validateRestart,
  validateSpreads,
  validateUpdate,
} from './validate-shared-blocks.js';
import { validateMeta } from './validate-strings.js';
import { hasNoDisk, validateLifecycles, validateTask, validateVolume } from './validate-task.js';

export function validateGroup(group: TaskGroup, job: Job, report: Report): void {
  const jobType = job.Type;
  if (group.Count < 0) report('the count must not be negative');
  if (group.Tasks.length === 0) report('at least one task is required');
  validateRunDuration(group, jobType, report);
  validatePlacement(group, jobType, report);
  validatePolicies(group, jobType, report);
  if (group.EphemeralDisk.SizeMB < 10 && !hasNoDisk(group)) report('the ephemeral disk must have at least 10 MB');
  validateTaskNames(group, report);
  for (const [name, volume] of Object.entries(group.Volumes ?? {})) {
    validateVolume(volume, group, jobType, within(report, 'volume', name));
  }
  validateNetworks(group, report);
  validateGroupServices(group, report);
  validateMeta(group, report);
  validateTasks(group, job, report);
}

function validateRunDuration(group: TaskGroup, jobType: string, report: Report): void {
  if (group.MaxRunDuration === null) return;
  if (group.MaxRunDuration <= 0) report('max_run_duration must be longer than 0');
  if (jobType === 'service' || jobType === 'system') report(`a ${jobType} job cannot have max_run_duration`);
}

function validatePlacement(group: TaskGroup, jobType: string, report: Report): void {
  const at = (location: string): Report => within(report, location);
  validateConstraints(group.Constraints, 'group', at);
  if (jobType === 'system') {
    if (group.Affinities !== null) report('a system job cannot have affinities');
    if (group.Spreads !== null) report('a system job cannot have spreads');
    return;
  }
  validateAffinities(group.Affinities, at);
  validateSpreads(group.Spreads, at);
}

function validatePolicies(group: TaskGroup, jobType: string, report: Report): void {
  validateRestart(group.RestartPolicy, within(report, 'restart'));
  const { ReschedulePolicy, Update, Migrate, Disconnect, Scaling } = group;
  if (ReschedulePolicy !== null) validateReschedule(ReschedulePolicy, jobType, within(report, 'reschedule'));
  if (Update !== null) validateUpdate(Update, jobType, within(report, 'update'));
  if (Migrate !== null) validateMigrate(Migrate, jobType, within(report, 'migrate'));
  if (Disconnect !== null) validateDisconnect(Disconnect, jobType, within(report, 'disconnect'));
  if (Scaling !== null) validateGroupScaling(Scaling, group.Count, within(report, 'scaling'));
}

function validateTaskNames(group: TaskGroup, report: Report): void {
  const names = new Set<string>();
  for (const [index, { Name }] of group.Tasks.entries()) {
    if (Name === '') report(`task ${index + 1} has no name`);
    else if (names.has(Name)) report(`task ${quoted(Name)}: the name is used twice`);
    names.add(Name);
  }
  if (group.Tasks.filter((task) => task.Leader).length > 1) report('only one task may be the leader');
}

function validateTasks(group: TaskGroup, job: Job, report: Report): void {
  for (const [index, task] of group.Tasks.entries()) {
    const at = task.Name === '' ? within(report, `task ${index + 1}`) : within(report, 'task', task.Name);
    validateTask(task, group, job, at);
  }
  validateLifecycles(group, job, report);
}

/** Checks the networks of a group and those of its tasks, which share its ports. */
function validateNetworks(group: TaskGroup, report: Report): void {
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
