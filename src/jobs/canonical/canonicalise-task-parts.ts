import { secondNanos } from '../document/document-values.js';
import type { Submitted } from '../document/field-table.js';
import type { affinityBlock, spreadBlock } from '../document/placement.js';
import type { resourcesBlock } from '../document/resources.js';
import type {
  artifactBlock,
  csiPluginBlock,
  logConfigBlock,
  secretBlock,
  templateBlock,
  vaultBlock,
  volumeMountBlock,
} from '../document/task-parts.js';
import { defaultLogs, defaultWeight, filled, mapList, nullIfEmpty } from './default-policies.js';

type Resources = Submitted<typeof resourcesBlock>;
type Artifact = Submitted<typeof artifactBlock>;
type Template = Submitted<typeof templateBlock>;
type Vault = Submitted<typeof vaultBlock>;
type LogConfig = Submitted<typeof logConfigBlock>;
type VolumeMount = Submitted<typeof volumeMountBlock>;
type CsiPlugin = Submitted<typeof csiPluginBlock>;
type Secret = Submitted<typeof secretBlock>;
type Affinity = Submitted<typeof affinityBlock>;
type Spread = Submitted<typeof spreadBlock>;

export function canonicaliseAffinities(affinities: Affinity[] | null): Affinity[] | null {
  return mapList(affinities, (affinity) => ({ ...affinity, Weight: affinity.Weight ?? defaultWeight }));
}

export function canonicaliseSpreads(spreads: Spread[] | null): Spread[] | null {
  return mapList(spreads, (spread) => ({ ...spread, Weight: spread.Weight ?? defaultWeight }));
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
      Affinities: canonicaliseAffinities(device.Affinities),
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
