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
import { defaultPriority, nullIfEmpty } from './default-policies.js';

/** The audience of every task's default identity. */
const defaultIdentityAudience = 'nomadproject.io';

/** A block of the stored form while it is being completed. The stored form is a new object, so its blocks are changed in place. */
type Draft<T> = { -readonly [K in keyof T]: T[K] };

/**
 * The stored form of a submitted job: the defaults of `canonicaliseSubmitted`, then the rules of the stored form (job
 * interface, register pipeline). What an installation adds comes after, see `admitJob`. Indexes, status, token and times are
 * zero: the registration fills them in. The result is not checked, see `validateJob`.
 */
export function canonicaliseJob(submitted: SubmittedJob): Job {
  const job = storedForm(canonicaliseSubmitted(submitted)) as unknown as Draft<Job>;
  const context: JobContext = {
    jobID: job.ID,
    jobName: job.Name,
    namespace: job.Namespace || 'default',
    vaultNamespace: job.VaultNamespace,
  };
  job.Namespace = context.namespace;
  if (job.Datacenters.length === 0) job.Datacenters = ['*'];
  if (job.Priority === 0) job.Priority = defaultPriority;
  job.Update = job.Update.MaxParallel > 0 ? { ...noUpdate, ...pickJobUpdate(job.Update) } : noUpdate;
  if (job.ParameterizedJob !== null && job.ParameterizedJob.Payload === '')
    job.ParameterizedJob = { ...job.ParameterizedJob, Payload: 'optional' };
  for (const group of job.TaskGroups) completeGroup(group, context);
  return job;
}

interface JobContext {
  readonly jobID: string;
  readonly jobName: string;
  readonly namespace: string;
  readonly vaultNamespace: string;
}

// The groups have the update policy; the job keeps the two values that older clients read.
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

function completeGroup(group: Draft<TaskGroup>, job: JobContext): void {
  const context: ServiceContext = { job, group: group.Name, task: undefined };
  if (group.Scaling !== null) group.Scaling = storedScaling(group.Scaling, job, { Group: group.Name });
  for (const network of group.Networks ?? []) completeNetwork(network);
  for (const service of group.Services ?? []) completeService(service, context);
  if (group.Volumes !== null) group.Volumes = storedVolumes(group.Volumes);
  for (const task of group.Tasks) completeTask(task, group.Name, job);
}

/** A scaling policy names its target. A policy without a maximum keeps -1, which validation refuses. */
function storedScaling(policy: ScalingPolicy, job: JobContext, target: Record<string, string>): ScalingPolicy {
  return { ...policy, Target: { Namespace: job.namespace, Job: job.jobID, ...target } };
}

function completeNetwork(network: NetworkResource): void {
  for (const port of network.ReservedPorts ?? []) completePort(port);
  for (const port of network.DynamicPorts ?? []) completePort(port);
}

function completePort(port: Draft<Port>): void {
  if (port.HostNetwork === undefined) port.HostNetwork = 'default';
}

/** Requests of an unknown type are dropped. */
function storedVolumes(volumes: Readonly<Record<string, VolumeRequest>>): Record<string, VolumeRequest> | null {
  const known = Object.entries(volumes).filter(([, volume]) => volume.Type === 'host' || volume.Type === 'csi');
  return nullIfEmpty(Object.fromEntries(known));
}

/** Where a service is defined. */
interface ServiceContext {
  readonly job: JobContext;
  readonly group: string;
  /** Undefined for a service of the group. */
  readonly task: string | undefined;
}

function completeService(service: Draft<Service>, context: ServiceContext): void {
  service.TaskName = service.TaskName || (context.task ?? '');
  service.Name = withNames(service.Name, context);
  service.Namespace = service.Provider === 'nomad' ? context.job.namespace : 'default';
  service.Tags = nullIfEmpty(service.Tags);
  service.CanaryTags = nullIfEmpty(service.CanaryTags);
  for (const check of service.Checks ?? []) completeCheck(check, service, context);
}

/** A check of a task's service always belongs to that task. */
function taskOfCheck(check: ServiceCheck, taskOfService: string, context: ServiceContext): string {
  return context.task === undefined && check.TaskName !== '' ? check.TaskName : taskOfService;
}

function completeCheck(check: Draft<ServiceCheck>, { Name, TaskName }: Service, context: ServiceContext): void {
  if (check.Name === '') check.Name = `service: ${JSON.stringify(Name)} check`;
  check.TaskName = taskOfCheck(check, TaskName, context);
  check.Args = nullIfEmpty(check.Args);
}

/** Replaces the four variables that a service's name may contain. */
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

function completeTask(task: Draft<Task>, group: string, job: JobContext): void {
  const context: ServiceContext = { job, group, task: task.Name };
  completeIdentities(task);
  if (task.Vault !== null) task.Vault = storedVault(task.Vault, job);
  for (const template of task.Templates ?? []) completeTemplate(template);
  for (const service of task.Services ?? []) completeService(service, context);
  if (task.ScalingPolicies !== null) {
    const target = { Group: group, Task: task.Name };
    task.ScalingPolicies = task.ScalingPolicies.map((policy) => storedScaling(policy, job, target));
  }
  for (const network of task.Resources.Networks ?? []) completeNetwork(network);
}

function storedVault(vault: TaskVault, job: JobContext): TaskVault {
  return {
    ...vault,
    Namespace: vault.Namespace || job.vaultNamespace,
    Cluster: vault.Cluster || 'default',
    ChangeSignal: vault.ChangeSignal.toUpperCase(),
  };
}

function completeTemplate(template: Draft<TaskTemplate>): void {
  template.ChangeSignal = template.ChangeSignal.toUpperCase();
}

/** The identity of a task that declares none. */
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
function completeIdentities(task: Draft<Task>): void {
  for (const identity of task.Identities ?? []) completeIdentity(identity);
  if (task.Identity !== null) {
    completeIdentity(task.Identity);
    return;
  }
  const moved = task.Identities?.find(isDefault);
  task.Identity = moved ?? { ...defaultTaskIdentity };
  if (moved !== undefined) task.Identities = task.Identities?.filter((identity) => identity !== moved) ?? null;
}

function isDefault(identity: WorkloadIdentity): boolean {
  return identity.Name === 'default';
}

function completeIdentity(identity: Draft<WorkloadIdentity>): void {
  identity.Name = identity.Name || 'default';
  if (identity.Name === 'default') identity.Audience = [defaultIdentityAudience];
  identity.ChangeSignal = identity.ChangeSignal.toUpperCase();
}
