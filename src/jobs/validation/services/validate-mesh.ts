import { quoted } from '../../../shared/values.js';
import { hasSidecar } from '../../admission/service-mesh.js';
import type { Job } from '../../document/job.js';
import type { Service } from '../../document/service.js';
import type { TaskGroup } from '../../document/task-group.js';
import type { Report } from '../problems.js';

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
