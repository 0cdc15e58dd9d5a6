import { err, ok, type Result } from 'neverthrow';
import type { ExposePath, ServiceConnect, SidecarProxy } from '../document/connect.js';
import type { Job } from '../document/job.js';
import type { NetworkResource, Port } from '../document/network.js';
import type { Service, ServiceCheck } from '../document/service.js';
import type { TaskGroup } from '../document/task-group.js';
import type { AdmissionRefused } from '../errors.js';
import { hasSidecar } from './service-mesh.js';

/**
 * The job with a path through the proxy for each exposed check of a service with a sidecar (job interface, service mesh). A
 * check without a port gets a dedicated port in the group's network.
 */
export function withExposedChecks(job: Job): Result<Job, AdmissionRefused> {
  if (!job.TaskGroups.some(hasExposedChecks)) return ok(job);
  const groups: TaskGroup[] = [];
  for (const group of job.TaskGroups) {
    const exposed = withExposedChecksOfGroup(group);
    if (exposed.isErr()) return err(exposed.error);
    groups.push(exposed.value);
  }
  return ok({ ...job, TaskGroups: groups });
}

function hasExposedChecks(group: TaskGroup): boolean {
  return group.Services?.some((service) => hasSidecar(service) && service.Checks?.some(isExposable) === true) === true;
}

/** Only HTTP and gRPC requests have a path that can be exposed. */
function isExposable(check: ServiceCheck): boolean {
  const type = check.Type.toLowerCase();
  return check.Expose && (type === 'http' || type === 'grpc') && check.Path.startsWith('/');
}

function withExposedChecksOfGroup(group: TaskGroup): Result<TaskGroup, AdmissionRefused> {
  if (!hasExposedChecks(group)) return ok(group);
  const [network, ...others] = group.Networks ?? [];
  if (network === undefined || others.length > 0 || network.Mode !== 'bridge') {
    return refused(`group ${JSON.stringify(group.Name)}: exposed checks need exactly one network, of mode bridge`);
  }
  const ports: Port[] = [...(network.DynamicPorts ?? [])];
  const services: Service[] = [];
  for (const service of group.Services ?? []) {
    const exposed = hasSidecar(service) ? withExposedChecksOfService(group, service, network, ports) : ok(service);
    if (exposed.isErr()) return err(exposed.error);
    services.push(exposed.value);
  }
  const DynamicPorts = ports.length === 0 ? {} : { DynamicPorts: ports };
  return ok({ ...group, Services: services, Networks: [{ ...network, ...DynamicPorts }] });
}

/** Appends the created ports to the list. */
function withExposedChecksOfService(
  group: TaskGroup,
  service: Service,
  network: NetworkResource,
  ports: Port[],
): Result<Service, AdmissionRefused> {
  const paths: ExposePath[] = [];
  const checks: ServiceCheck[] = [];
  for (const [index, check] of (service.Checks ?? []).entries()) {
    if (!isExposable(check)) {
      checks.push(check);
      continue;
    }
    const LocalPathPort = localPort(service.PortLabel, network);
    if (LocalPathPort === undefined) {
      const location = `group ${JSON.stringify(group.Name)}: service ${JSON.stringify(service.Name)}`;
      return refused(
        `${location}: the exposed check ${JSON.stringify(check.Name)} has no local port: set the service's port to a port of the group's network or to a number`,
      );
    }
    const PortLabel = check.PortLabel || `svc_${service.Name}_ck_${index + 1}`;
    if (!ports.some((port) => port.Label === PortLabel) && check.PortLabel === '') {
      ports.push({ Label: PortLabel, To: -1, HostNetwork: 'default' });
    }
    checks.push({ ...check, PortLabel });
    paths.push({ Path: check.Path, Protocol: check.Protocol, LocalPathPort, ListenerPort: PortLabel });
  }
  if (paths.length === 0) return ok(service);
  return ok({ ...service, Checks: checks, Connect: withPaths(service.Connect as ServiceConnect, paths) });
}

/** The port that the service listens on: the static one of its label, or the number that stands for a label. */
function localPort(label: string, network: NetworkResource): number | undefined {
  const value = network.ReservedPorts?.find((port) => port.Label === label)?.Value ?? Number(label);
  return Number.isInteger(value) && value > 0 ? value : undefined;
}

function withPaths(connect: ServiceConnect, paths: readonly ExposePath[]): ServiceConnect {
  const sidecar = connect.SidecarService;
  if (sidecar === null) return connect;
  const proxy: SidecarProxy = sidecar.Proxy ?? {
    LocalServiceAddress: '',
    LocalServicePort: 0,
    Expose: null,
    Upstreams: null,
    TransparentProxy: null,
    Config: null,
  };
  const Paths = [...(proxy.Expose?.Paths ?? [])];
  for (const path of paths) if (!Paths.some((known) => isSamePath(known, path))) Paths.push(path);
  return { ...connect, SidecarService: { ...sidecar, Proxy: { ...proxy, Expose: { Paths } } } };
}

function isSamePath(a: ExposePath, b: ExposePath): boolean {
  return (
    a.Path === b.Path &&
    a.Protocol === b.Protocol &&
    a.LocalPathPort === b.LocalPathPort &&
    a.ListenerPort === b.ListenerPort
  );
}

function refused(message: string): Result<never, AdmissionRefused> {
  return err({ type: 'admission_refused', message });
}
