import { quoted } from '../../../shared/values.js';
import { type Service, serviceBlock } from '../../document/service.js';
import type { Task } from '../../document/task.js';
import { servicesOf, type TaskGroup } from '../../document/task-group.js';
import { choiceProblem, listed, type Report, reportIf, within } from '../problems.js';
import { checkProblem, needsPort } from './validate-check.js';

/** The services of a group, and the rules that hold for them together with those of its tasks. */
export function validateGroupServices(group: TaskGroup, report: Report): void {
  if (servicesOf(group).length === 0) return;
  validateTaskNames(group, report);
  for (const service of group.Services ?? []) {
    const at = within(report, 'service', service.Name);
    validateService(service, at);
    if (service.AddressMode === 'driver') at('address_mode driver is for services of a task');
    validateChecksOfGroup(service, group, at);
  }
  validateTogether(group, report);
  for (const service of group.Services ?? []) {
    if (service.TaskName !== '') continue;
    const nameless = service.Checks?.find((check) => check.Type.toLowerCase() === 'script' && check.TaskName === '');
    if (nameless !== undefined) {
      report(`service ${quoted(service.Name)}: check ${quoted(nameless.Name)}: a script check must name its task`);
    }
  }
}

/** The task that a service names must exist; a task's service can only name its own task. */
function validateTaskNames(group: TaskGroup, report: Report): void {
  const names = new Set(group.Tasks.map((task) => task.Name));
  for (const task of group.Tasks) {
    for (const service of task.Services ?? []) {
      const at = within(report, 'service', service.Name);
      if (service.TaskName !== '' && service.TaskName !== task.Name) {
        at(`it belongs to the task ${quoted(task.Name)} and cannot name ${quoted(service.TaskName)}`);
      }
    }
  }
  for (const service of group.Services ?? []) {
    if (service.TaskName !== '' && !names.has(service.TaskName)) {
      report(`service ${quoted(service.Name)}: names the unknown task ${quoted(service.TaskName)}`);
    }
  }
}

function validateChecksOfGroup(service: Service, group: TaskGroup, report: Report): void {
  for (const check of service.Checks ?? []) {
    const at = within(report, 'check', check.Name);
    if (check.AddressMode === 'driver') at('address_mode driver is for services of a task');
    if (check.TaskName !== '' && !group.Tasks.some((task) => task.Name === check.TaskName)) {
      at(`names the unknown task ${quoted(check.TaskName)}`);
    }
  }
}

/** Services are known by task, name and port, and all of a group are in one catalogue. */
function validateTogether(group: TaskGroup, report: Report): void {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  const owned = [
    ...(group.Services ?? []).map((service) => ({ owner: service.TaskName, service })),
    ...group.Tasks.flatMap((task) => (task.Services ?? []).map((service) => ({ owner: task.Name, service }))),
  ];
  for (const { owner, service } of owned) {
    const key = JSON.stringify([owner, service.Name, service.PortLabel]);
    if (seen.has(key)) repeated.add(service.Name);
    seen.add(key);
  }
  if (repeated.size > 0) report(`name and port are not unique in the group for the services ${listed([...repeated])}`);
  const providers = new Set(owned.map(({ service }) => service.Provider));
  if (providers.size > 1) report('all services of a group must have the same provider');
}

/** The services of a task: each on its own, and the ports that they refer to. */
export function validateTaskServices(task: Task, group: TaskGroup, report: Report): void {
  if (task.Services === null) return;
  const ports = portsOf(task, group);
  const missing = new Map<string, Set<string>>();
  const refer = (label: string, service: string): void => {
    if (!ports.has(label)) missing.set(label, (missing.get(label) ?? new Set()).add(service));
  };
  const known = new Set<string>();
  for (const service of task.Services) {
    const at = within(report, 'service', service.Name);
    validateService(service, at);
    if (isAllocMode(service.AddressMode)) at(`address_mode ${service.AddressMode} is for services of a group`);
    const key = JSON.stringify([service.Name, service.PortLabel]);
    if (known.has(key)) at('is given twice');
    known.add(key);
    const isNumber = service.AddressMode === 'driver' && isWholeNumber(service.PortLabel);
    if (service.PortLabel !== '' && !isNumber) refer(service.PortLabel, service.Name);
    if (service.Connect !== null) at('connect is for services of a group');
    validateChecksOfTask(service, refer, at);
  }
  for (const [label, services] of [...missing].sort()) {
    report(`there is no port ${quoted(label)}, which is used by the services ${listed([...services].sort())}`);
  }
}

function validateChecksOfTask(service: Service, refer: (label: string, service: string) => void, report: Report): void {
  const known = new Set<string>();
  for (const check of service.Checks ?? []) {
    const at = within(report, 'check', check.Name);
    if (known.has(check.Name)) at('is given twice');
    known.add(check.Name);
    if (isAllocMode(check.AddressMode)) at(`address_mode ${check.AddressMode} is for services of a group`);
    if (!needsPort(check)) continue;
    const port = check.PortLabel || service.PortLabel;
    if (port === '') at('a port is required');
    else if (!isWholeNumber(port)) refer(port, service.Name);
    else if (check.AddressMode !== 'driver') at(`the port ${port} is a number, which needs address_mode driver`);
    else if (Number(port) <= 0) at(`the port must be above 0, not ${port}`);
  }
}

function isAllocMode(mode: string): boolean {
  return mode === 'alloc' || mode === 'alloc_ipv6';
}

function isWholeNumber(text: string): boolean {
  return /^[+-]?[0-9]{1,18}$/.test(text);
}

/** The labels of the ports that a task can refer to. */
function portsOf(task: Task, group: TaskGroup): Set<string> {
  const networks = [...(group.Networks ?? []).slice(0, 1), ...(task.Resources.Networks ?? [])];
  return new Set(
    networks.flatMap((network) =>
      [...(network.ReservedPorts ?? []), ...(network.DynamicPorts ?? [])].map((port) => port.Label ?? ''),
    ),
  );
}

/** One service, of a group or of a task. */
function validateService(service: Service, report: Report): void {
  const { Name } = service;
  // The value of an interpolation is not known yet; it counts as seven valid characters.
  const name = Name.includes('${') ? Name.replace(/\$\{[A-Za-z0-9_.-]+\}/g, 'env-var') : Name;
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(name)) {
    report('the name must be one DNS label: up to 63 letters, digits and inner dashes');
  }
  const { AddressMode, OnUpdate, Provider } = serviceBlock.fields;
  const mode = choiceProblem('address_mode', AddressMode, service.AddressMode);
  if (mode !== undefined) report(mode);
  else if (service.Address !== '' && service.AddressMode !== 'auto') {
    report('an address of your own needs address_mode auto');
  }
  reportIf(report, choiceProblem('on_update', OnUpdate, service.OnUpdate));
  const provider = choiceProblem('the provider', Provider, service.Provider);
  if (provider !== undefined) {
    report(provider);
    return;
  }
  validateChecks(service, report);
  validateConnect(service, report);
}

function validateChecks(service: Service, report: Report): void {
  for (const check of service.Checks ?? []) {
    const at = within(report, 'check', check.Name);
    if (service.PortLabel === '' && check.PortLabel === '' && needsPort(check)) {
      at(`a ${check.Type} check needs a port, its own or the service's`);
      continue;
    }
    if (check.Type === 'tcp' && (service.Connect?.SidecarService ?? null) !== null) {
      at('a tcp check cannot reach a service behind a sidecar');
    }
    const problem = checkProblem(check, service.Provider);
    if (problem !== undefined) at(problem);
  }
}

function validateConnect(service: Service, report: Report): void {
  const connect = service.Connect;
  if (connect === null) return;
  if (service.Provider !== 'consul') {
    report('connect needs the provider consul');
    return;
  }
  const kinds = [connect.Native, connect.SidecarService !== null, connect.Gateway !== null].filter(Boolean).length;
  if (kinds !== 1) report('connect needs exactly one of native, sidecar_service and gateway');
  if (connect.Native) {
    if (service.TaskName === '') report('connect native needs the name of the task');
    if (service.PortLabel === '') report('connect native needs a port');
  }
}
