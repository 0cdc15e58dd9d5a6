import type {
  connectBlock,
  gatewayBlock,
  ingressBlock,
  sidecarProxyBlock,
  sidecarServiceBlock,
  sidecarTaskBlock,
} from '../document/connect.js';
import { hourNanos, minuteNanos, secondNanos } from '../document/document-values.js';
import type { Submitted } from '../document/field-table.js';
import type { checkRestartBlock } from '../document/policies.js';
import type { resourcesBlock } from '../document/resources.js';
import type { serviceCheckBlock } from '../document/service.js';
import type { SubmittedService } from '../document/submitted-job.js';
import type {
  artifactBlock,
  csiPluginBlock,
  logConfigBlock,
  secretBlock,
  templateBlock,
  vaultBlock,
  volumeMountBlock,
} from '../document/task-parts.js';

type Resources = Submitted<typeof resourcesBlock>;
type Artifact = Submitted<typeof artifactBlock>;
type Template = Submitted<typeof templateBlock>;
type Vault = Submitted<typeof vaultBlock>;
type LogConfig = Submitted<typeof logConfigBlock>;
type VolumeMount = Submitted<typeof volumeMountBlock>;
type CsiPlugin = Submitted<typeof csiPluginBlock>;
type Secret = Submitted<typeof secretBlock>;

/** Affinities and spreads have a weight. */
export function withWeights<T extends { Weight: number | null }>(list: readonly T[] | null): T[] | null {
  return mapList(list, (each) => ({ ...each, Weight: each.Weight ?? defaultWeight }));
}

const noResources: Resources = {
  CPU: null,
  Cores: null,
  MemoryMB: null,
  MemoryMaxMB: null,
  DiskMB: null,
  IOPS: null,
  Networks: null,
  Devices: null,
  NUMA: null,
  SecretsMB: null,
};

/**
 * The default of 100 MHz applies only if neither MHz nor whole cores are requested. `isFree`: of a function in a group of functions, which
 * asks for nothing unless it has a block of resources.
 */
export function canonicaliseResources(given: Resources | null, isFree = false): Resources {
  if (given === null && isFree) return { ...noResources, CPU: 0, Cores: 0, MemoryMB: 0 };
  const resources = given ?? noResources;
  return {
    ...resources,
    CPU: resources.CPU ?? (resources.Cores === null ? 100 : 0),
    Cores: resources.Cores ?? 0,
    MemoryMB: resources.MemoryMB ?? 300,
    Devices: mapList(resources.Devices, (device) => ({
      ...device,
      Count: device.Count ?? 1,
      Affinities: withWeights(device.Affinities),
    })),
    NUMA:
      resources.NUMA === null
        ? null
        : { Affinity: resources.NUMA.Affinity || 'none', Devices: nullIfEmpty(resources.NUMA.Devices) },
  };
}

const noLogs: LogConfig = { MaxFiles: null, MaxFileSizeMB: null, Enabled: null, Disabled: null };

export function canonicaliseLogs(logs: LogConfig | null): LogConfig {
  return filled({ ...(logs ?? noLogs) }, defaultLogs);
}

export function canonicaliseArtifact(artifact: Artifact): Artifact {
  const GetterMode = artifact.GetterMode ?? 'any';
  const GetterSource = artifact.GetterSource ?? '';
  return {
    ...artifact,
    GetterMode,
    GetterSource,
    GetterInsecure: artifact.GetterInsecure ?? false,
    GetterOptions: nullIfEmpty(artifact.GetterOptions),
    GetterHeaders: nullIfEmpty(artifact.GetterHeaders),
    RelativeDest: artifact.RelativeDest ?? (GetterMode === 'file' ? fileDestination(GetterSource) : 'local/'),
  };
}

/** A file keeps its name below `local`. The path is a clean one: a source without a name, or `.`, is the directory itself. */
function fileDestination(source: string): string {
  const name = lastPart(source);
  if (name === '..') return '.';
  return name === '' || name === '.' ? 'local' : `local/${name}`;
}

/** The last part of a source's path, its query included. */
function lastPart(source: string): string {
  let end = source.length;
  while (end > 0 && source[end - 1] === '/') end--;
  return source.slice(source.lastIndexOf('/', end - 1) + 1, end);
}

export function canonicaliseVault(vault: Vault): Vault {
  const defaults = {
    Env: true,
    DisableFile: false,
    Namespace: '',
    ChangeMode: 'restart',
    ChangeSignal: 'SIGHUP',
    AllowTokenExpiration: false,
  };
  return filled({ ...vault, Cluster: vault.Cluster || 'default' }, defaults);
}

const templateDefaults = {
  SourcePath: '',
  DestPath: '',
  EmbeddedTmpl: '',
  ChangeMode: 'restart',
  Once: false,
  Splay: 5 * secondNanos,
  Perms: '0644',
  LeftDelim: '{{',
  RightDelim: '}}',
  Envvars: false,
  VaultGrace: 0,
  ErrMissingKey: false,
};

export const changeScriptDefaults = {
  Command: '',
  Args: [] as string[],
  Timeout: 5 * secondNanos,
  FailOnError: false,
  RunOnFirstRender: false,
};

export function canonicaliseTemplate(template: Template): Template {
  const full = filled({ ...template }, templateDefaults);
  return {
    ...full,
    ChangeSignal: template.ChangeSignal?.toUpperCase() ?? (full.ChangeMode === 'signal' ? 'SIGHUP' : ''),
    ChangeScript: full.ChangeScript === null ? null : filled({ ...full.ChangeScript }, changeScriptDefaults),
  };
}

export function canonicaliseVolumeMount(mount: VolumeMount): VolumeMount {
  return filled({ ...mount }, { PropagationMode: 'private', ReadOnly: false, SELinuxLabel: '' });
}

export function canonicaliseSecret(secret: Secret): Secret {
  return { ...secret, Config: nullIfEmpty(secret.Config), Env: nullIfEmpty(secret.Env) };
}

export function canonicaliseCsiPlugin(plugin: CsiPlugin): CsiPlugin {
  return {
    ...plugin,
    MountDir: plugin.MountDir || '/csi',
    StagePublishBaseDir: plugin.StagePublishBaseDir || '/local/csi',
    HealthTimeout: plugin.HealthTimeout || 30 * secondNanos,
  };
}

type CheckRestart = Submitted<typeof checkRestartBlock>;
type Check = Submitted<typeof serviceCheckBlock>;
type Connect = Submitted<typeof connectBlock>;
type SidecarService = Submitted<typeof sidecarServiceBlock>;
type SidecarProxy = Submitted<typeof sidecarProxyBlock>;
type SidecarTask = Submitted<typeof sidecarTaskBlock>;
type Gateway = Submitted<typeof gatewayBlock>;
type Ingress = Submitted<typeof ingressBlock>;

/** A service with its defaults; `defaultName` is `<job>-<group>` or `<job>-<group>-<task>`. */
export function canonicaliseService(service: SubmittedService, defaultName: string): SubmittedService {
  const OnUpdate = service.OnUpdate || 'require_healthy';
  return {
    ...service,
    Name: service.Name || defaultName,
    AddressMode: service.AddressMode || 'auto',
    OnUpdate,
    Provider: service.Provider || 'consul',
    Cluster: service.Cluster || 'default',
    Meta: nullIfEmpty(service.Meta),
    CanaryMeta: nullIfEmpty(service.CanaryMeta),
    TaggedAddresses: nullIfEmpty(service.TaggedAddresses),
    Connect: service.Connect === null ? null : canonicaliseConnect(service.Connect),
    Checks: mapList(service.Checks, (check) => canonicaliseCheck(check, service.CheckRestart, OnUpdate)),
    Weights:
      service.Weights === null
        ? null
        : { Passing: Math.max(1, service.Weights.Passing), Warning: Math.max(1, service.Weights.Warning) },
  };
}

function canonicaliseCheck(check: Check, ofService: CheckRestart | null, onUpdate: string): Check {
  const restart = restartOfCheck(ofService, check.CheckRestart);
  return {
    ...check,
    CheckRestart: restart === null ? null : { ...restart, Grace: restart.Grace ?? secondNanos },
    SuccessBeforePassing: Math.max(0, check.SuccessBeforePassing),
    FailuresBeforeCritical: Math.max(0, check.FailuresBeforeCritical),
    FailuresBeforeWarning: Math.max(0, check.FailuresBeforeWarning),
    OnUpdate: check.OnUpdate || onUpdate,
  };
}

function restartOfCheck(ofService: CheckRestart | null, own: CheckRestart | null): CheckRestart | null {
  if (ofService === null || own === null) return own ?? ofService;
  return {
    Limit: own.Limit > 0 ? own.Limit : ofService.Limit,
    Grace: own.Grace ?? ofService.Grace,
    IgnoreWarnings: own.IgnoreWarnings || ofService.IgnoreWarnings,
  };
}

function canonicaliseConnect(connect: Connect): Connect {
  return {
    ...connect,
    SidecarService: connect.SidecarService === null ? null : canonicaliseSidecarService(connect.SidecarService),
    SidecarTask: connect.SidecarTask === null ? null : canonicaliseSidecarTask(connect.SidecarTask),
    Gateway: connect.Gateway === null ? null : canonicaliseGateway(connect.Gateway),
  };
}

function canonicaliseSidecarService(sidecar: SidecarService): SidecarService {
  return {
    ...sidecar,
    Tags: nullIfEmpty(sidecar.Tags),
    Meta: nullIfEmpty(sidecar.Meta),
    Proxy: sidecar.Proxy === null ? null : canonicaliseSidecarProxy(sidecar.Proxy),
  };
}

function canonicaliseSidecarProxy(proxy: SidecarProxy): SidecarProxy {
  // If both forms are given, the older one applies.
  const expose = proxy.ExposeConfig ?? proxy.Expose;
  return {
    ...proxy,
    Expose: expose === null ? null : { Paths: nullIfEmpty(expose.Path) ?? nullIfEmpty(expose.Paths), Path: null },
    ExposeConfig: null,
    Upstreams: nullIfEmpty(mapList(proxy.Upstreams, (up) => ({ ...up, Config: nullIfEmpty(up.Config) }))),
    TransparentProxy:
      proxy.TransparentProxy === null
        ? null
        : {
            ...proxy.TransparentProxy,
            ExcludeInboundPorts: nullIfEmpty(proxy.TransparentProxy.ExcludeInboundPorts),
            ExcludeOutboundPorts: nullIfEmpty(proxy.TransparentProxy.ExcludeOutboundPorts),
            ExcludeOutboundCIDRs: nullIfEmpty(proxy.TransparentProxy.ExcludeOutboundCIDRs),
            ExcludeUIDs: nullIfEmpty(proxy.TransparentProxy.ExcludeUIDs),
          },
    Config: nullIfEmpty(proxy.Config),
  };
}

function canonicaliseSidecarTask(task: SidecarTask): SidecarTask {
  return {
    ...task,
    Config: nullIfEmpty(task.Config),
    Env: nullIfEmpty(task.Env),
    Meta: nullIfEmpty(task.Meta),
    Resources: canonicaliseResources(task.Resources),
    LogConfig: canonicaliseLogs(task.LogConfig),
    KillTimeout: task.KillTimeout ?? defaultKillTimeout,
    ShutdownDelay: task.ShutdownDelay ?? 0,
    VolumeMounts: mapList(task.VolumeMounts, canonicaliseVolumeMount),
  };
}

function canonicaliseGateway(gateway: Gateway): Gateway {
  return {
    ...gateway,
    Proxy:
      gateway.Proxy === null
        ? null
        : {
            ...gateway.Proxy,
            ConnectTimeout: gateway.Proxy.ConnectTimeout ?? 5 * secondNanos,
            EnvoyGatewayBindAddresses: nullIfEmpty(gateway.Proxy.EnvoyGatewayBindAddresses),
            Config: nullIfEmpty(gateway.Proxy.Config),
          },
    Ingress: gateway.Ingress === null ? null : canonicaliseIngress(gateway.Ingress),
    Terminating: gateway.Terminating === null ? null : { Services: nullIfEmpty(gateway.Terminating.Services) },
  };
}

function canonicaliseIngress(ingress: Ingress): Ingress {
  return {
    ...ingress,
    Listeners: nullIfEmpty(
      mapList(ingress.Listeners, (listener) => ({
        ...listener,
        Protocol: listener.Protocol || 'tcp',
        Services: nullIfEmpty(listener.Services),
      })),
    ),
  };
}

/**
 * Fills every null of the block from the defaults; keys without a default stay as given. Changes the block that it gets, so
 * callers hand over a copy: made at their place in the source, copies of one shape are fast.
 */
export function filled<T extends object, D extends object>(copy: T, defaults: D): T & D {
  const out = copy as Record<string, unknown>;
  for (const key in defaults) {
    if (out[key] === null || out[key] === undefined) out[key] = defaults[key];
  }
  return copy as T & D;
}

/** The base, overridden by every given value of the overlay. */
export function overlaid<T extends object>(base: T, overlay: T | null): T;
export function overlaid<T extends object>(base: T | null, overlay: T | null): T | null;
export function overlaid<T extends object>(base: T | null, overlay: T | null): T | null {
  if (base === null || overlay === null) return overlay ?? base;
  return filled({ ...overlay }, base);
}

/** Null for an empty list or map: the document does not distinguish them. */
export function nullIfEmpty<T extends object>(value: T | null): T | null {
  if (value === null) return null;
  if (Array.isArray(value)) return value.length === 0 ? null : value;
  for (const _ in value) return value;
  return null;
}

export function mapList<T, U>(list: readonly T[] | null, change: (element: T) => U): U[] | null {
  return list === null ? null : list.map(change);
}

/*
 * The defaults of a job's policies (job interface, defaults of a registered job). Partial policies are
 * completed from them.
 */

export const defaultUpdate = {
  Stagger: 30 * secondNanos,
  MaxParallel: 1,
  HealthCheck: 'checks',
  MinHealthyTime: 10 * secondNanos,
  HealthyDeadline: 5 * minuteNanos,
  ProgressDeadline: 10 * minuteNanos,
  AutoRevert: false,
  AutoPromote: false,
  Canary: 0,
};

export const defaultMigrate = {
  MaxParallel: 1,
  HealthCheck: 'checks',
  MinHealthyTime: 10 * secondNanos,
  HealthyDeadline: 5 * minuteNanos,
};

const restartOfService = {
  Attempts: 2,
  Interval: 30 * minuteNanos,
  Delay: 15 * secondNanos,
  Mode: 'fail',
  RenderTemplates: false,
};

const restartOfBatch = { ...restartOfService, Attempts: 3, Interval: 24 * hourNanos };

export function defaultRestart(jobType: string): typeof restartOfService {
  return jobType === 'service' || jobType === 'system' ? restartOfService : restartOfBatch;
}

const rescheduleOfService = {
  Attempts: 0,
  Interval: 0,
  Delay: 30 * secondNanos,
  DelayFunction: 'exponential',
  MaxDelay: hourNanos,
  Unlimited: true,
};

const rescheduleOfBatch = {
  Attempts: 1,
  Interval: 24 * hourNanos,
  Delay: 5 * secondNanos,
  DelayFunction: 'constant',
  MaxDelay: 0,
  Unlimited: false,
};

const noReschedule = { Attempts: 0, Interval: 0, Delay: 0, DelayFunction: '', MaxDelay: 0, Unlimited: false };

/** The defaults of a partial policy. System and sysbatch jobs have no default policy, see `hasDefaultReschedule`. */
export function defaultReschedule(jobType: string): typeof rescheduleOfService {
  if (jobType === 'service') return rescheduleOfService;
  return jobType === 'batch' ? rescheduleOfBatch : noReschedule;
}

export function hasDefaultReschedule(jobType: string): boolean {
  return jobType !== 'system' && jobType !== 'sysbatch';
}

export const defaultDisk = { Sticky: false, Migrate: false, SizeMB: 300 };
const defaultLogs = { MaxFiles: 10, MaxFileSizeMB: 10, Disabled: false };
export const defaultKillTimeout = 5 * secondNanos;
const defaultWeight = 50;
export const defaultPriority = 50;
