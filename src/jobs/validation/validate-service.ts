import { secondNanos } from '../document/document-values.js';
import type { Service, ServiceCheck } from '../document/service.js';
import { servicesOf, type TaskGroup } from '../document/task-group.js';
import { quoted, type Report, within } from './problem-texts.js';

const addressModes = ['auto', 'host', 'driver', 'alloc', 'alloc_ipv6'];
const onUpdates = ['require_healthy', 'ignore_warnings', 'ignore'];

/** One service. `ofTask` is false for a service of the group. */
export function validateService(service: Service, ofTask: boolean, report: Report): void {
  // What an interpolation will put there is not known yet; a letter stands in for it.
  const name = service.Name.replace(/\$\{[^}]*\}/g, 'x');
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(name)) {
    report('the name must be one DNS label: up to 63 letters, digits and inner dashes');
  }
  validateAddress(service, ofTask, report);
  if (!onUpdates.includes(service.OnUpdate)) report(`on_update must be one of ${onUpdates.join(', ')}`);
  if (service.Provider !== 'consul' && service.Provider !== 'nomad') {
    report(`the provider must be consul or nomad, not ${quoted(service.Provider)}`);
  }
  if (service.Weights !== null && (service.Weights.Passing < 1 || service.Weights.Warning < 1)) {
    report('weights must be at least 1');
  }
  if (service.Connect !== null) validateConnect(service, ofTask, report);
  for (const check of service.Checks ?? []) validateCheck(check, service, within(report, 'check', check.Name));
}

function validateAddress(service: Service, ofTask: boolean, report: Report): void {
  if (!addressModes.includes(service.AddressMode)) {
    report(`address_mode must be one of ${addressModes.join(', ')}, not ${quoted(service.AddressMode)}`);
    return;
  }
  if (service.Address !== '' && service.AddressMode !== 'auto')
    report('an address of your own needs address_mode auto');
  if (ofTask && service.AddressMode.startsWith('alloc')) {
    report(`address_mode ${service.AddressMode} is for services of a group`);
  }
  if (!ofTask && service.AddressMode === 'driver') report('address_mode driver is for services of a task');
}

function validateConnect(service: Service, ofTask: boolean, report: Report): void {
  if (service.Provider !== 'consul') report('connect needs the provider consul');
  if (ofTask) report('connect is for services of a group');
  const connect = service.Connect;
  if (connect === null) return;
  const kinds = [connect.Native, connect.SidecarService !== null, connect.Gateway !== null].filter(Boolean).length;
  if (kinds !== 1) report('connect needs exactly one of native, sidecar_service and gateway');
}

function validateCheck(check: ServiceCheck, service: Service, report: Report): void {
  const types = service.Provider === 'nomad' ? ['tcp', 'http'] : ['http', 'tcp', 'script', 'grpc'];
  if (!types.includes(check.Type)) {
    report(`the type must be one of ${types.join(', ')}, not ${quoted(check.Type)}`);
    return;
  }
  if (check.Type === 'http') validateHttpCheck(check, report);
  if (check.Type === 'script' && check.Command === '') report('a script check needs a command');
  if (check.Interval < secondNanos) report('interval must be at least 1 second');
  if (check.Timeout < secondNanos) report('timeout must be at least 1 second');
  if (!['', 'passing', 'warning', 'critical'].includes(check.InitialStatus)) {
    report(`initial_status must be passing, warning or critical, not ${quoted(check.InitialStatus)}`);
  }
  if (check.Type !== 'script' && check.PortLabel === '' && service.PortLabel === '' && service.Connect === null) {
    report(`a ${check.Type} check needs a port, its own or the service's`);
  }
  if (!['', 'auto', 'host', 'driver', 'alloc', 'alloc_ipv6'].includes(check.AddressMode)) {
    report(`address_mode must be one of ${addressModes.join(', ')}, not ${quoted(check.AddressMode)}`);
  }
  if (!['', ...onUpdates].includes(check.OnUpdate)) report(`on_update must be one of ${onUpdates.join(', ')}`);
  if (check.CheckRestart !== null) {
    if (check.CheckRestart.Limit < 0) report('the limit of check_restart must not be negative');
    if (check.CheckRestart.Grace < 0) report('the grace of check_restart must not be negative');
  }
  if (service.Provider === 'nomad') validateNomadCheck(check, report);
}

function validateHttpCheck(check: ServiceCheck, report: Report): void {
  if (check.Path === '') report('an http check needs a path');
  else if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(check.Path) || check.Path.startsWith('//')) {
    report('the path of an http check must be relative');
  }
}

/** The built-in service provider knows fewer kinds of checks. */
function validateNomadCheck(check: ServiceCheck, report: Report): void {
  const forbidden: readonly (readonly [boolean, string])[] = [
    [check.Expose, 'expose'],
    [check.SuccessBeforePassing > 0, 'success_before_passing'],
    [check.FailuresBeforeCritical > 0, 'failures_before_critical'],
    [check.FailuresBeforeWarning > 0, 'failures_before_warning'],
    [check.TLSServerName !== '', 'tls_server_name'],
    [check.OnUpdate === 'ignore_warnings', 'on_update ignore_warnings'],
    [check.AddressMode === 'driver', 'address_mode driver'],
    [check.CheckRestart?.IgnoreWarnings === true, 'check_restart ignore_warnings'],
  ];
  for (const [isUsed, option] of forbidden) {
    if (isUsed) report(`${option} is not available with the provider nomad`);
  }
}

/** What services of a group and its tasks must agree on. */
export function validateServicesTogether(group: TaskGroup, report: Report): void {
  const services = servicesOf(group);
  if (services.length === 0) return;
  const seen = new Set<string>();
  const providers = new Set<string>();
  const tasks = new Set(group.Tasks.map((task) => task.Name));
  for (const service of services) {
    const key = JSON.stringify([service.TaskName, service.Name, service.PortLabel]);
    if (seen.has(key)) report(`service ${quoted(service.Name)}: name and port are not unique in the group`);
    seen.add(key);
    providers.add(service.Provider);
  }
  if (providers.size > 1) report('all services of a group must have the same provider');
  for (const service of group.Services ?? []) {
    const at = within(report, 'service', service.Name);
    if (service.TaskName !== '' && !tasks.has(service.TaskName))
      at(`names the unknown task ${quoted(service.TaskName)}`);
    for (const check of service.Checks ?? []) validateCheckOfGroup(check, tasks, within(at, 'check', check.Name));
  }
}

function validateCheckOfGroup(check: ServiceCheck, tasks: ReadonlySet<string>, report: Report): void {
  if (check.AddressMode === 'driver') report('address_mode driver is for services of a task');
  if (check.TaskName !== '' && !tasks.has(check.TaskName)) report(`names the unknown task ${quoted(check.TaskName)}`);
  if (check.Type === 'script' && check.TaskName === '') {
    report('a script check of a group must name its task');
  }
}
