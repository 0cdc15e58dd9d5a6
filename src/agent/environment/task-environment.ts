import type { Job } from '../../jobs/document/job.js';
import type { Service, ServiceCheck } from '../../jobs/document/service.js';
import type { Task } from '../../jobs/document/task.js';
import type { TaskGroup } from '../../jobs/document/task-group.js';
import type { AllocatedNetwork, AllocatedPort } from '../../scheduler/allocated-resources.js';
import type { Allocation } from '../../scheduler/allocation.js';
import type { Node } from '../../scheduler/node.js';
import { indexFromName } from '../../scheduler/reconcile/names.js';
import { combinedMeta } from '../../scheduler/reconcile/same-tasks.js';
import { own } from '../../shared/values.js';
import type { NodeMember } from '../../templates/index.js';

/** The inputs of a task's environment. */
export interface TaskContext {
  readonly job: Job;
  readonly group: TaskGroup;
  /** Null for strings of the group, such as those of its services. */
  readonly task: Task | null;
  readonly allocation: Allocation;
  readonly node: Pick<Node, 'ID' | 'Name' | 'Datacenter' | 'NodeClass' | 'NodePool' | 'Attributes' | 'Meta'>;
  /** As the task sees them; null where unknown, as outside the node. */
  readonly directories: { readonly shared: string; readonly local: string; readonly secrets: string } | null;
}

/** Every variable is set under both prefixes: Signalbox's own, and the one that existing job files refer to. */
const prefixes = ['SIGNALBOX_', 'NOMAD_'] as const;

/**
 * A task's environment without the host's: the scheduler's variables, then the job's `Env` with its references
 * replaced (job interface, environment given to a task).
 */
export function taskEnvironment(context: TaskContext): Readonly<Record<string, string>> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(knownVariables(context))) {
    for (const prefix of prefixes) environment[prefix + name] = value;
  }
  const lookup = interpolationLookup(context, environment);
  for (const [name, value] of Object.entries(context.task?.Env ?? {})) {
    environment[variableName(interpolate(name, lookup))] = interpolate(value, lookup);
  }
  return environment;
}

/** Names with a known prefix are sanitised; others stay as the job writes them. */
function variableName(name: string): string {
  return prefixes.some((prefix) => name.startsWith(prefix)) ? cleanName(name) : name;
}

/** Replaces the references in a string; an unknown one is left as written. */
export function interpolate(text: string, lookup: (name: string) => string | undefined): string {
  return text.replace(/\$\{([a-zA-Z0-9_\-.]+)\}/g, (whole, name: string) => lookup(name) ?? whole);
}

/** Resolves `${name}` in a service's strings; the environment is built on first use. */
export function serviceLookup(context: Omit<TaskContext, 'directories'>): (name: string) => string | undefined {
  let lookup: ((name: string) => string | undefined) | undefined;
  return (name) => {
    const whole = { ...context, directories: null };
    lookup ??= interpolationLookup(whole, taskEnvironment(whole));
    return lookup(name);
  };
}

/** Resolves `${name}` in a task's configuration: its environment first, then the node. */
export function interpolationLookup(
  context: Pick<TaskContext, 'job' | 'node'>,
  environment: Readonly<Record<string, string>>,
): (name: string) => string | undefined {
  let ofNode: Readonly<Record<string, string>> | undefined;
  return (name) => {
    if (Object.hasOwn(environment, name)) return environment[name];
    ofNode ??= nodeValues(context);
    return own(ofNode, name);
  };
}

/** Properties of the node that tasks and their templates can read, by reference name. */
export function nodeValues({ job, node }: Pick<TaskContext, 'job' | 'node'>): Readonly<Record<string, string>> {
  const members: Readonly<Record<NodeMember, string>> = {
    'node.unique.id': node.ID,
    'node.unique.name': node.Name,
    'node.datacenter': node.Datacenter,
    'node.region': job.Region,
    'node.class': node.NodeClass,
    'node.pool': node.NodePool,
  };
  const prefixed = (prefix: string, values: Readonly<Record<string, string>>) =>
    Object.entries(values).map(([name, value]) => [prefix + name, value] as const);
  return {
    ...members,
    ...Object.fromEntries([...prefixed('attr.', node.Attributes), ...prefixed('meta.', node.Meta ?? {})]),
  };
}

function knownVariables({ job, group, task, allocation, node, directories }: TaskContext): Record<string, string> {
  const resources = task === null ? undefined : allocation.AllocatedResources.Tasks[task.Name];
  return {
    ...(directories === null
      ? {}
      : { ALLOC_DIR: directories.shared, TASK_DIR: directories.local, SECRETS_DIR: directories.secrets }),
    ...(resources === undefined
      ? {}
      : {
          CPU_LIMIT: String(resources.Cpu.CpuShares),
          MEMORY_LIMIT: String(resources.Memory.MemoryMB),
          ...(resources.Memory.MemoryMaxMB > 0 ? { MEMORY_MAX_LIMIT: String(resources.Memory.MemoryMaxMB) } : {}),
          ...((resources.Cpu.ReservedCores ?? []).length > 0
            ? { CPU_CORES: coreList(resources.Cpu.ReservedCores ?? []) }
            : {}),
        }),
    ALLOC_ID: allocation.ID,
    SHORT_ALLOC_ID: allocation.ID.slice(0, 8),
    ALLOC_NAME: allocation.Name,
    ALLOC_INDEX: String(indexFromName(allocation.Name)),
    ...(task === null ? {} : { TASK_NAME: task.Name }),
    GROUP_NAME: group.Name,
    JOB_ID: job.ID,
    JOB_NAME: job.Name,
    ...(job.ParentID === '' ? {} : { JOB_PARENT_ID: job.ParentID }),
    DC: node.Datacenter,
    REGION: job.Region,
    NAMESPACE: job.Namespace,
    ...portVariables(allocation, task?.Name),
    ...metaVariables(job, group, task),
  };
}

/** In the kernel's notation for sets of processors: numbers and ranges, such as `0-2,7`. */
function coreList(cores: readonly number[]): string {
  const ranges: { readonly first: number; last: number }[] = [];
  for (const core of [...new Set(cores)].sort((left, right) => left - right)) {
    const range = ranges.at(-1);
    if (range !== undefined && range.last + 1 === core) range.last = core;
    else ranges.push({ first: core, last: core });
  }
  return ranges.map(({ first, last }) => (first === last ? String(first) : `${first}-${last}`)).join(',');
}

/** Meta keys as written and in upper case; for a dispatched job also the missing optional keys, as empty strings. */
function metaVariables(job: Job, group: TaskGroup, task: Task | null): Record<string, string> {
  const variables: Record<string, string> = {};
  const optional = job.Dispatched ? (job.ParameterizedJob?.MetaOptional ?? []) : [];
  const meta: Record<string, string> = {
    ...Object.fromEntries(optional.map((key) => [key, ''])),
    ...(task === null ? { ...job.Meta, ...group.Meta } : combinedMeta(job, group, task)),
  };
  for (const [key, value] of Object.entries(meta)) {
    const name = cleanName(key);
    variables[`META_${name}`] = value;
    variables[`META_${name.toUpperCase()}`] = value;
  }
  return variables;
}

/**
 * The port variables of an allocation (job interface, environment given to a task): ports of the group's network by
 * label, those of other tasks' own networks by task and label. Names come without a prefix. Without a task, all task networks
 * count as other tasks'.
 */
export function portVariables(allocation: Allocation, task: string | undefined): Readonly<Record<string, string>> {
  const { Shared, Tasks } = allocation.AllocatedResources;
  const variables: Record<string, string> = {};
  for (const [name, resources] of Object.entries(Tasks)) {
    const infix = name === task ? '' : `${cleanName(name)}_`;
    for (const port of portsOf(resources.Networks)) add(variables, infix, port);
  }
  for (const port of groupPorts(Shared)) add(variables, '', port);
  return variables;
}

/** The ports of the group's network; older allocations have them in the network only. */
function groupPorts({
  Ports,
  Networks,
}: Pick<Allocation['AllocatedResources']['Shared'], 'Ports' | 'Networks'>): readonly AllocatedPort[] {
  return Ports ?? portsOf(Networks);
}

function portsOf(networks: readonly AllocatedNetwork[] | null): readonly AllocatedPort[] {
  return (networks ?? []).flatMap((network) =>
    [...(network.ReservedPorts ?? []), ...(network.DynamicPorts ?? [])].map(({ Label, Value, To }) => ({
      Label: Label ?? '',
      Value: Value ?? 0,
      To: To ?? 0,
      HostIP: network.IP ?? '',
    })),
  );
}

function add(
  variables: Record<string, string>,
  infix: string,
  { Label, Value, To = 0, HostIP = '' }: AllocatedPort,
): void {
  const label = infix + cleanName(Label);
  const inside = String(To > 0 ? To : Value);
  const address = `${HostIP.includes(':') ? `[${HostIP}]` : HostIP}:${Value}`;
  variables[`ADDR_${label}`] = address;
  variables[`IP_${label}`] = HostIP;
  variables[`PORT_${label}`] = inside;
  variables[`HOST_ADDR_${label}`] = address;
  variables[`HOST_IP_${label}`] = HostIP;
  variables[`HOST_PORT_${label}`] = String(Value);
  variables[`ALLOC_PORT_${label}`] = inside;
}

/** A name with the characters allowed in environment variables; every other one becomes an underscore. */
function cleanName(name: string): string {
  return name.replace(/[^A-Za-z0-9_.]/g, '_');
}

/** A service with the references in its strings replaced, including those of its checks: the form that is registered and checked. */
export function filledService(service: Service, lookup: (name: string) => string | undefined): Service {
  const fill = (text: string): string => interpolate(text, lookup);
  return {
    ...service,
    Name: fill(service.Name),
    PortLabel: fill(service.PortLabel),
    Address: fill(service.Address),
    Tags: service.Tags?.map(fill) ?? null,
    CanaryTags: service.CanaryTags?.map(fill) ?? null,
    Checks: service.Checks?.map((check) => filledCheck(check, fill)) ?? null,
  };
}

function filledCheck(check: ServiceCheck, fill: (text: string) => string): ServiceCheck {
  return {
    ...check,
    Name: fill(check.Name),
    // Types are case-insensitive.
    Type: check.Type.toLowerCase(),
    Command: fill(check.Command),
    Args: check.Args?.map(fill) ?? null,
    Path: fill(check.Path),
    Protocol: fill(check.Protocol),
    PortLabel: fill(check.PortLabel),
    Method: fill(check.Method),
    Body: fill(check.Body),
    TLSServerName: fill(check.TLSServerName),
    Header:
      check.Header === null
        ? null
        : Object.fromEntries(Object.entries(check.Header).map(([name, values]) => [name, (values ?? []).map(fill)])),
  };
}

/** Address of a service or a check of an allocation. */
interface ServicePort {
  /** Absent: the node's address. */
  readonly address?: string;
  readonly port: number;
}

/**
 * The port of a service or a check: by the label of one of the group's ports or of the task's own, or by its number
 * on the node. Undefined when there is none.
 */
export function servicePort(
  { Shared, Tasks }: Allocation['AllocatedResources'],
  task: string | null,
  label: string,
): ServicePort | undefined {
  const own = task === null ? undefined : Tasks[task];
  const found = [...groupPorts(Shared), ...portsOf(own?.Networks ?? null)].find((port) => port.Label === label);
  if (found !== undefined) {
    const { HostIP = '', Value } = found;
    return { port: Value, ...(HostIP === '' ? {} : { address: HostIP }) };
  }
  const port = /^[0-9]{1,5}$/.test(label) ? Number(label) : 0;
  return port > 0 && port < 65_536 ? { port } : undefined;
}
