import type { WorkloadIdentity } from '../document/identity.js';
import type { Job } from '../document/job.js';
import type { NetworkResource, Port } from '../document/network.js';
import type { ScalingPolicy, UpdateStrategy } from '../document/policies.js';
import type { Service, ServiceCheck } from '../document/service.js';
import { storedForm } from '../document/stored-form.js';
import type { SubmittedJob } from '../document/submitted-job.js';
import type { Task } from '../document/task.js';
import type { TaskGroup, VolumeRequest } from '../document/task-group.js';
import type { TaskTemplate, TaskVault } from '../document/task-parts.js';
import { canonicaliseSubmitted } from './canonicalise-submitted.js';
import { defaultPriority } from './default-policies.js';
import { nullIfEmpty } from './overlay.js';

/** The audience of every task's default identity. */
export const defaultIdentityAudience = 'nomadproject.io';

/**
 * The stored form of a submitted job: the defaults of `canonicaliseSubmitted`, then the rules of the stored form (job
 * interface, register pipeline). What an installation adds comes after, see `admitJob`. Indexes, status, token and times are
 * zero: the registration fills them in. The result is not checked, see `validateJob`.
 */
export function canonicaliseJob(submitted: SubmittedJob): Job {
  const job = storedForm(canonicaliseSubmitted(submitted)) as unknown as Job;
  const context: JobContext = {
    jobID: job.ID,
    jobName: job.Name,
    namespace: job.Namespace || 'default',
    vaultNamespace: job.VaultNamespace,
  };
  return {
    ...job,
    Namespace: context.namespace,
    Datacenters: job.Datacenters.length === 0 ? ['*'] : job.Datacenters,
    Priority: job.Priority === 0 ? defaultPriority : job.Priority,
    Update: job.Update.MaxParallel > 0 ? { ...noUpdate, ...pickJobUpdate(job.Update) } : noUpdate,
    ParameterizedJob:
      job.ParameterizedJob === null
        ? null
        : { ...job.ParameterizedJob, Payload: job.ParameterizedJob.Payload || 'optional' },
    TaskGroups: job.TaskGroups.map((group) => storedGroup(group, context)),
  };
}

interface JobContext {
  readonly jobID: string;
  readonly jobName: string;
  readonly namespace: string;
  readonly vaultNamespace: string;
}

// The groups carry the update policy; the job keeps the two values that older readers look for.
function pickJobUpdate(update: UpdateStrategy): Pick<UpdateStrategy, 'Stagger' | 'MaxParallel'> {
  return { Stagger: update.Stagger, MaxParallel: update.MaxParallel };
}

const noUpdate: UpdateStrategy = {
  Stagger: 0,
  MaxParallel: 0,
  HealthCheck: '',
  MinHealthyTime: 0,
  HealthyDeadline: 0,
  ProgressDeadline: 0,
  AutoRevert: false,
  AutoPromote: false,
  Canary: 0,
};

function storedGroup(group: TaskGroup, job: JobContext): TaskGroup {
  const context: ServiceContext = { job, group: group.Name, task: undefined };
  return {
    ...group,
    Scaling: group.Scaling === null ? null : storedScaling(group.Scaling, job, { Group: group.Name }),
    Networks: group.Networks?.map(storedNetwork) ?? null,
    Services: group.Services?.map((service) => storedService(service, context)) ?? null,
    Volumes: group.Volumes === null ? null : storedVolumes(group.Volumes),
    Tasks: group.Tasks.map((task) => storedTask(task, group.Name, job)),
  };
}

/** A scaling policy names what it scales. A policy without a maximum keeps -1, which validation refuses. */
function storedScaling(policy: ScalingPolicy, job: JobContext, target: Record<string, string>): ScalingPolicy {
  return { ...policy, Target: { Namespace: job.namespace, Job: job.jobID, ...target } };
}

function storedNetwork(network: NetworkResource): NetworkResource {
  if (network.ReservedPorts === undefined && network.DynamicPorts === undefined) return network;
  return {
    ...network,
    ...(network.ReservedPorts === undefined ? {} : { ReservedPorts: network.ReservedPorts.map(storedPort) }),
    ...(network.DynamicPorts === undefined ? {} : { DynamicPorts: network.DynamicPorts.map(storedPort) }),
  };
}

function storedPort(port: Port): Port {
  return port.HostNetwork === undefined ? { ...port, HostNetwork: 'default' } : port;
}

/** Requests of an unknown type are dropped. */
function storedVolumes(volumes: Readonly<Record<string, VolumeRequest>>): Record<string, VolumeRequest> | null {
  const known = Object.entries(volumes).filter(([, volume]) => volume.Type === 'host' || volume.Type === 'csi');
  return nullIfEmpty(Object.fromEntries(known));
}

/** What a service is defined in. */
interface ServiceContext {
  readonly job: JobContext;
  readonly group: string;
  /** Undefined for a service of the group. */
  readonly task: string | undefined;
}

function storedService(service: Service, context: ServiceContext): Service {
  const TaskName = service.TaskName || (context.task ?? '');
  const Name = withNames(service.Name, context);
  return {
    ...service,
    Name,
    TaskName,
    Namespace: service.Provider === 'nomad' ? context.job.namespace : 'default',
    Tags: nullIfEmpty(service.Tags),
    CanaryTags: nullIfEmpty(service.CanaryTags),
    Checks: service.Checks?.map((check) => storedCheck(check, Name, taskOfCheck(check, TaskName, context))) ?? null,
  };
}

/** A check of a task's service is about that task, whatever it says. */
function taskOfCheck(check: ServiceCheck, taskOfService: string, context: ServiceContext): string {
  return context.task === undefined && check.TaskName !== '' ? check.TaskName : taskOfService;
}

function storedCheck(check: ServiceCheck, serviceName: string, TaskName: string): ServiceCheck {
  return {
    ...check,
    Name: check.Name || `service: ${JSON.stringify(serviceName)} check`,
    TaskName,
    Args: nullIfEmpty(check.Args),
  };
}

/** The four names that a service's name may contain. */
function withNames(name: string, context: ServiceContext): string {
  if (!name.includes('${')) return name;
  const task = context.task ?? 'group';
  const values: Readonly<Record<string, string>> = {
    JOB: context.job.jobName,
    TASKGROUP: context.group,
    TASK: task,
    BASE: `${context.job.jobName}-${context.group}-${task}`,
  };
  return name.replace(/\$\{(JOB|TASKGROUP|TASK|BASE)\}/g, (whole, variable: string) => values[variable] ?? whole);
}

function storedTask(task: Task, group: string, job: JobContext): Task {
  const context: ServiceContext = { job, group, task: task.Name };
  return {
    ...task,
    ...storedIdentities(task),
    Vault: task.Vault === null ? null : storedVault(task.Vault, job),
    Templates: task.Templates?.map(storedTemplate) ?? null,
    Services: task.Services?.map((service) => storedService(service, context)) ?? null,
    ScalingPolicies:
      task.ScalingPolicies?.map((policy) => storedScaling(policy, job, { Group: group, Task: task.Name })) ?? null,
    Resources:
      task.Resources.Networks === null
        ? task.Resources
        : { ...task.Resources, Networks: task.Resources.Networks.map(storedNetwork) },
  };
}

function storedVault(vault: TaskVault, job: JobContext): TaskVault {
  return {
    ...vault,
    Namespace: vault.Namespace || job.vaultNamespace,
    Cluster: vault.Cluster || 'default',
    ChangeSignal: vault.ChangeSignal.toUpperCase(),
  };
}

function storedTemplate(template: TaskTemplate): TaskTemplate {
  return { ...template, ChangeSignal: template.ChangeSignal.toUpperCase() };
}

/** The identity of a task that says nothing about its own. */
export const defaultTaskIdentity: WorkloadIdentity = {
  Name: 'default',
  Audience: [defaultIdentityAudience],
  ChangeMode: '',
  ChangeSignal: '',
  Env: false,
  File: false,
  Filepath: '',
  ServiceName: '',
  TTL: 0,
  ExtraClaims: null,
};

/**
 * The identity named `default`, or without a name, stands apart from the others, and every task has one. Of several in the
 * list only the first moves, so that validation sees the duplicate.
 */
function storedIdentities(task: Task): Pick<Task, 'Identity' | 'Identities'> {
  const listed = task.Identities?.map(storedIdentity) ?? null;
  if (task.Identity !== null) return { Identity: storedIdentity(task.Identity), Identities: listed };
  const moved = listed?.find(isDefault);
  if (moved === undefined) return { Identity: storedIdentity(defaultTaskIdentity), Identities: listed };
  return { Identity: storedIdentity(moved), Identities: listed?.filter((identity) => identity !== moved) ?? null };
}

function isDefault(identity: WorkloadIdentity): boolean {
  return identity.Name === 'default';
}

function storedIdentity(identity: WorkloadIdentity): WorkloadIdentity {
  const Name = identity.Name || 'default';
  return {
    ...identity,
    Name,
    Audience: Name === 'default' ? [defaultIdentityAudience] : identity.Audience,
    ChangeSignal: identity.ChangeSignal.toUpperCase(),
  };
}
