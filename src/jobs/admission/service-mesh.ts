import { err, ok, type Result } from 'neverthrow';
import { defaultKillTimeout, nullIfEmpty } from '../canonical/canonicalise-blocks.js';
import { defaultTaskIdentity } from '../canonical/canonicalise-job.js';
import type { ExposePath, ServiceConnect, SidecarProxy, SidecarTask } from '../document/connect.js';
import { secondNanos } from '../document/document-values.js';
import type { Job } from '../document/job.js';
import type { NetworkResource, Port } from '../document/network.js';
import { type Resources, zeroResources } from '../document/resources.js';
import type { Service, ServiceCheck } from '../document/service.js';
import type { Task } from '../document/task.js';
import type { TaskGroup } from '../document/task-group.js';
import type { AdmissionRefused } from '../errors.js';

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

/**
 * The job with the additions for its mesh services (job interface, service mesh): a proxy task and a port for each service with a
 * sidecar, and the mark of a Connect-native task. Groups without a network are unchanged, so that
 * validation can report the missing network.
 */
export function withServiceMesh(job: Job): Result<Job, AdmissionRefused> {
  if (!job.TaskGroups.some(usesMesh)) return ok(job);
  const groups: TaskGroup[] = [];
  for (const group of job.TaskGroups) {
    const meshed = withMeshOfGroup(group);
    if (meshed.isErr()) return err(meshed.error);
    groups.push(meshed.value);
  }
  return ok({ ...job, TaskGroups: groups });
}

function usesMesh(group: TaskGroup): boolean {
  return group.Services?.some((service) => service.Connect !== null) === true;
}

function withMeshOfGroup(group: TaskGroup): Result<TaskGroup, AdmissionRefused> {
  if (group.Networks === null || group.Networks.length === 0) return ok(group);
  let meshed = group;
  for (const service of group.Services ?? []) {
    if (hasSidecar(service)) meshed = withSidecar(meshed, service);
    else if (service.Connect?.Native === true) {
      const native = withNativeTask(meshed, service);
      if (native.isErr()) return err(native.error);
      meshed = native.value;
    }
  }
  return ok(meshed);
}

export function hasSidecar(service: Service): boolean {
  return (service.Connect?.SidecarService ?? null) !== null;
}

/** The `Kind` of the task that is the proxy of a service. */
function sidecarKind(service: string): string {
  return `connect-proxy:${service}`;
}

function withSidecar(group: TaskGroup, service: Service): TaskGroup {
  const present = group.Tasks.find((task) => task.Kind === sidecarKind(service.Name));
  const custom = service.Connect?.SidecarTask ?? null;
  const base = present ?? sidecarTask(service.Name, group);
  const sidecar = custom === null ? base : withCustomTask(base, custom);
  const Tasks =
    present === undefined ? [...group.Tasks, sidecar] : group.Tasks.map((task) => (task === present ? sidecar : task));
  const [network, ...others] = group.Networks ?? [];
  const label = service.Connect?.SidecarService?.Port || `connect-proxy-${service.Name}`;
  return { ...group, Tasks, Networks: network === undefined ? null : [withProxyPort(network, label), ...others] };
}

/** The port is the same inside and outside of the group's network. */
function withProxyPort(network: NetworkResource, Label: string): NetworkResource {
  const ports = network.DynamicPorts ?? [];
  if (ports.some((port) => port.Label === Label)) return network;
  return { ...network, DynamicPorts: [...ports, { Label, To: -1, HostNetwork: 'default' }] };
}

const sidecarImage = {
  image: `\${meta.connect.sidecar_image}`,
  args: [
    '-c',
    `\${NOMAD_SECRETS_DIR}/envoy_bootstrap.json`,
    '-l',
    `\${meta.connect.log_level}`,
    '--concurrency',
    `\${meta.connect.proxy_concurrency}`,
    '--disable-hot-restart',
  ],
};

function sidecarTask(service: string, group: TaskGroup): Task {
  return {
    Name: freeName(`connect-proxy-${service}`, group.Tasks),
    Driver: 'docker',
    User: '',
    Config: sidecarImage,
    Env: null,
    Services: null,
    Vault: null,
    Secrets: null,
    Consul: null,
    Templates: null,
    Constraints: [
      { LTarget: `\${attr.consul.version}`, RTarget: '>= 1.8.0', Operand: 'semver' },
      { LTarget: `\${attr.consul.grpc}`, RTarget: '0', Operand: '>' },
    ],
    Affinities: null,
    Resources: { ...zeroResources, CPU: 250, MemoryMB: 128 },
    RestartPolicy: group.RestartPolicy,
    DispatchPayload: null,
    Lifecycle: { Hook: 'prestart', Sidecar: true },
    Meta: null,
    KillTimeout: defaultKillTimeout,
    LogConfig: { MaxFiles: 2, MaxFileSizeMB: 2, Disabled: false },
    Artifacts: null,
    Leader: false,
    ShutdownDelay: 5 * secondNanos,
    VolumeMounts: null,
    ScalingPolicies: null,
    KillSignal: '',
    Kind: sidecarKind(service),
    CSIPluginConfig: null,
    Identity: defaultTaskIdentity,
    Identities: null,
    Actions: null,
    Schedule: null,
  };
}

/** The name, with a numeric suffix if the author has used it for another kind of task. */
function freeName(name: string, tasks: readonly Task[]): string {
  const taken = new Set(tasks.map((task) => task.Name));
  let free = name;
  for (let number = 2; taken.has(free); number++) free = `${name}-${number}`;
  return free;
}

/** The proxy with the author's changes; with another driver none of the built-in configuration is used. */
function withCustomTask(task: Task, custom: SidecarTask): Task {
  const isOtherDriver = custom.Driver !== '' && custom.Driver !== task.Driver;
  return {
    ...task,
    Name: custom.Name || task.Name,
    Driver: custom.Driver || task.Driver,
    Config: isOtherDriver ? custom.Config : merged(task.Config, custom.Config),
    User: custom.User || task.User,
    Env: merged(task.Env, custom.Env),
    Meta: merged(task.Meta, custom.Meta),
    Resources: custom.Resources === null ? task.Resources : withCustomResources(task.Resources, custom.Resources),
    KillTimeout: custom.KillTimeout ?? task.KillTimeout,
    LogConfig: custom.LogConfig === null ? task.LogConfig : withCustomLogs(task.LogConfig, custom.LogConfig),
    ShutdownDelay: custom.ShutdownDelay ?? task.ShutdownDelay,
    KillSignal: custom.KillSignal || task.KillSignal,
    VolumeMounts: appended(task.VolumeMounts, custom.VolumeMounts),
    Identities: appended(task.Identities, custom.Identities),
  };
}

function withCustomLogs(base: Task['LogConfig'], custom: Task['LogConfig']): Task['LogConfig'] {
  return {
    MaxFiles: custom.MaxFiles || base.MaxFiles,
    MaxFileSizeMB: custom.MaxFileSizeMB || base.MaxFileSizeMB,
    Disabled: custom.Disabled,
  };
}

function appended<T>(own: readonly T[] | null, custom: readonly T[] | null): readonly T[] | null {
  return nullIfEmpty([...(own ?? []), ...(custom ?? [])]);
}

function merged<T>(
  base: Readonly<Record<string, T>> | null,
  over: Readonly<Record<string, T>> | null,
): Record<string, T> | null {
  return base === null && over === null ? null : { ...base, ...over };
}

function withCustomResources(base: Resources, custom: Resources): Resources {
  return {
    CPU: custom.CPU || base.CPU,
    Cores: custom.Cores || base.Cores,
    MemoryMB: custom.MemoryMB || base.MemoryMB,
    MemoryMaxMB: custom.MemoryMaxMB || base.MemoryMaxMB,
    DiskMB: base.DiskMB,
    IOPS: custom.IOPS || base.IOPS,
    Networks: custom.Networks ?? base.Networks,
    Devices: custom.Devices ?? base.Devices,
    NUMA: custom.NUMA ?? base.NUMA,
    SecretsMB: custom.SecretsMB || base.SecretsMB,
  };
}

/** A Connect-native service names its task, or is in a group with a single task. */
function withNativeTask(group: TaskGroup, service: Service): Result<TaskGroup, AdmissionRefused> {
  const [only] = group.Tasks;
  const isAlone = group.Tasks.length === 1;
  const task =
    service.TaskName === '' ? (isAlone ? only : undefined) : group.Tasks.find((each) => each.Name === service.TaskName);
  if (task === undefined) return err({ type: 'admission_refused', message: nativeProblem(group, service) });
  return ok({
    ...group,
    Tasks: group.Tasks.map((each) => (each === task ? { ...each, Kind: `connect-native:${service.Name}` } : each)),
    Services:
      group.Services?.map((each) => (each.Name === service.Name ? { ...each, TaskName: task.Name } : each)) ?? null,
  });
}

function nativeProblem(group: TaskGroup, service: Service): string {
  const location = `group ${JSON.stringify(group.Name)}: service ${JSON.stringify(service.Name)}`;
  return service.TaskName === ''
    ? `${location}: connect native needs the name of its task, because the group has ${group.Tasks.length} tasks`
    : `${location}: connect native names the unknown task ${JSON.stringify(service.TaskName)}`;
}
