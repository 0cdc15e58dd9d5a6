import { quoted } from '../../shared/values.js';
import { hasSidecar } from '../admission/service-mesh.js';
import { secondNanos } from '../document/document-values.js';
import type { Job } from '../document/job.js';
import { type Service, type ServiceCheck, serviceBlock, serviceCheckBlock } from '../document/service.js';
import type { Task } from '../document/task.js';
import { servicesOf, type TaskGroup } from '../document/task-group.js';
import { choiceProblem, listed, type Report, reportIf, within } from './problems.js';

/** Checks what the mesh services of a job need from their groups; the first problem of each kind is reported. */
export function validateMesh(job: Job, report: Report): void {
  const sidecars = firstProblem(job, sidecarProblem);
  if (sidecars !== undefined) report(sidecars);
  const exposed = firstProblem(job, exposedCheckProblem);
  if (exposed !== undefined) report(exposed);
}

function firstProblem(job: Job, problemOf: (group: TaskGroup) => string | undefined): string | undefined {
  for (const group of job.TaskGroups) {
    const problem = problemOf(group);
    if (problem !== undefined) return `group ${quoted(group.Name)}: ${problem}`;
  }
  return undefined;
}

function sidecarProblem(group: TaskGroup): string | undefined {
  if (group.Services?.some(hasSidecar) !== true) return undefined;
  const services = group.Services.filter(hasSidecar);
  const [network, ...others] = group.Networks ?? [];
  if (network === undefined || others.length > 0) {
    return `a service with a sidecar needs exactly one network in its group, not ${others.length + (network === undefined ? 0 : 1)}`;
  }
  const mode = network.Mode ?? 'host';
  if (mode !== 'bridge' && !mode.startsWith('cni/')) {
    return `a service with a sidecar needs a network of mode bridge or cni/*, not ${quoted(mode)}`;
  }
  return sharedUpstream(services);
}

/** Two upstreams would listen on the same address. */
function sharedUpstream(services: readonly Service[]): string | undefined {
  const owners = new Map<string, string>();
  for (const service of services) {
    for (const upstream of service.Connect?.SidecarService?.Proxy?.Upstreams ?? []) {
      const address = `${upstream.LocalBindAddress}:${upstream.LocalBindPort}`;
      const owner = owners.get(address);
      if (owner !== undefined) {
        return `the services ${quoted(owner)} and ${quoted(service.Name)} have upstreams at the same address ${address}`;
      }
      owners.set(address, service.Name);
    }
  }
  return undefined;
}

function exposedCheckProblem(group: TaskGroup): string | undefined {
  const exposing = (group.Services ?? []).filter(exposesCheck);
  if (exposing.length > 0) {
    const [network, ...others] = group.Networks ?? [];
    if (network === undefined || others.length > 0 || network.Mode !== 'bridge') {
      return 'exposed checks need exactly one network, of mode bridge';
    }
  }
  const alone = exposing.find((service) => !hasSidecar(service));
  if (alone !== undefined) return `service ${quoted(alone.Name)}: an exposed check needs a sidecar`;
  for (const { Services } of group.Tasks) {
    const ofTask = Services?.find(exposesCheck);
    if (ofTask !== undefined) return `service ${quoted(ofTask.Name)}: checks are exposed for services of a group`;
  }
  return undefined;
}

function exposesCheck({ Checks }: Service): boolean {
  return Checks?.some(({ Expose }) => Expose) === true;
}

/** Whether the check connects to a port. */
function needsPort(check: ServiceCheck): boolean {
  return ['http', 'tcp', 'grpc'].includes(check.Type.toLowerCase());
}

/** The first problem of a check, whose fields depend on each other; undefined when there is none. */
function checkProblem(check: ServiceCheck, provider: string): string | undefined {
  return (
    typeProblem(check, provider) ??
    requestProblem(check) ??
    timeProblem(check) ??
    modeProblem(check) ??
    restartProblem(check) ??
    (provider === 'nomad' ? builtInProblem(check) : catalogueProblem(check))
  );
}

/** Types are known in any case of letters. The built-in catalogue knows two of them. */
function typeProblem(check: ServiceCheck, provider: string): string | undefined {
  const types = provider === 'nomad' ? { values: ['http', 'tcp'] } : serviceCheckBlock.fields.Type;
  if (types.values.includes(check.Type.toLowerCase())) return undefined;
  return choiceProblem('the type', types, check.Type);
}

function requestProblem(check: ServiceCheck): string | undefined {
  const type = check.Type.toLowerCase();
  if (type === 'script') return check.Command === '' ? 'a script check needs a command' : undefined;
  if (type !== 'http') return undefined;
  if (check.Path === '') return 'an http check needs a path';
  if (!isUrl(check.Path)) return `the path ${quoted(check.Path)} of an http check is not a URL path`;
  return /^[A-Za-z][A-Za-z0-9+.-]*:/.test(check.Path) ? 'the path of an http check must be relative' : undefined;
}

/** What parses as a URL, absolute or not: no control characters, whole escapes, no colon before the first slash but a scheme's. */
function isUrl(path: string): boolean {
  if (/[\u0000-\u001f\u007f]/.test(path) || path.startsWith(':')) return false;
  const end = path.search(/[?#]/);
  const beforeQuery = end < 0 ? path : path.slice(0, end);
  if (/%(?![0-9A-Fa-f]{2})/.test(beforeQuery)) return false;
  const slash = beforeQuery.indexOf('/');
  const firstSegment = slash < 0 ? beforeQuery : beforeQuery.slice(0, slash);
  return !firstSegment.includes(':') || /^[A-Za-z][A-Za-z0-9+.-]*:/.test(firstSegment);
}

function timeProblem(check: ServiceCheck): string | undefined {
  if (check.Interval < secondNanos) return 'interval must be at least 1 second';
  return check.Timeout < secondNanos ? 'timeout must be at least 1 second' : undefined;
}

function modeProblem(check: ServiceCheck): string | undefined {
  const { InitialStatus, AddressMode, OnUpdate } = serviceCheckBlock.fields;
  return (
    (check.InitialStatus === '' ? undefined : choiceProblem('initial_status', InitialStatus, check.InitialStatus)) ??
    (check.AddressMode === '' ? undefined : choiceProblem('address_mode', AddressMode, check.AddressMode)) ??
    (check.OnUpdate === '' ? undefined : choiceProblem('on_update', OnUpdate, check.OnUpdate))
  );
}

/** A check that is ignored while a job is updated must not restart its task then. */
function restartProblem(check: ServiceCheck): string | undefined {
  const restart = check.CheckRestart;
  if (restart === null) return undefined;
  if (check.OnUpdate === 'ignore') return 'on_update ignore and check_restart cannot be combined';
  if (check.OnUpdate === 'ignore_warnings' && !restart.IgnoreWarnings) {
    return 'on_update ignore_warnings needs ignore_warnings = true in check_restart';
  }
  if (restart.Limit < 0) return 'the limit of check_restart must not be negative';
  return restart.Grace < 0 ? 'the grace of check_restart must not be negative' : undefined;
}

const notBuiltIn: readonly { readonly name: string; readonly isUsed: (check: ServiceCheck) => boolean }[] = [
  { name: 'expose', isUsed: ({ Expose }) => Expose },
  { name: 'on_update ignore_warnings', isUsed: ({ OnUpdate }) => OnUpdate === 'ignore_warnings' },
  { name: 'success_before_passing', isUsed: ({ SuccessBeforePassing }) => SuccessBeforePassing > 0 },
  { name: 'failures_before_critical', isUsed: ({ FailuresBeforeCritical }) => FailuresBeforeCritical > 0 },
  { name: 'failures_before_warning', isUsed: ({ FailuresBeforeWarning }) => FailuresBeforeWarning > 0 },
  { name: 'tls_server_name', isUsed: ({ TLSServerName }) => TLSServerName !== '' },
  { name: 'address_mode driver', isUsed: ({ AddressMode }) => AddressMode === 'driver' },
  { name: 'check_restart ignore_warnings', isUsed: ({ CheckRestart }) => CheckRestart?.IgnoreWarnings === true },
];

/** The built-in service provider supports fewer kinds of checks. */
function builtInProblem(check: ServiceCheck): string | undefined {
  const used = notBuiltIn.find(({ isUsed }) => isUsed(check));
  if (used !== undefined) return `${used.name} is not available with the provider nomad`;
  if (check.Type.toLowerCase() === 'http' && check.Method !== '' && !methods.includes(check.Method.toUpperCase())) {
    return `unknown request method ${quoted(check.Method)}`;
  }
  return undefined;
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE'];

/** The thresholds are for checks that pass or fail by an answer. */
function catalogueProblem(check: ServiceCheck): string | undefined {
  const type = check.Type.toLowerCase();
  if (check.Expose && type !== 'http' && type !== 'grpc') return 'only http and grpc checks can be exposed';
  if (type !== 'script') return undefined;
  const thresholds: readonly (readonly [number, string])[] = [
    [check.SuccessBeforePassing, 'success_before_passing'],
    [check.FailuresBeforeCritical, 'failures_before_critical'],
    [check.FailuresBeforeWarning, 'failures_before_warning'],
  ];
  const used = thresholds.find(([threshold]) => threshold > 0);
  return used === undefined ? undefined : `${used[1]} is not available for a check of the type script`;
}

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
  if (owned.length < 2) return;
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
