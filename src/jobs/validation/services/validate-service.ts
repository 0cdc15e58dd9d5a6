import { serviceBlock } from '../../document/fields/service-fields.js';
import type { Service } from '../../document/service.js';
import { choiceProblem } from '../problem-texts.js';
import { type Report, reportIf, within } from '../problems.js';
import { checkProblem, needsPort } from './validate-check.js';

/** One service, of a group or of a task. */
export function validateService(service: Service, report: Report): void {
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
