import type { Submitted } from '../document/field-table.js';
import type { WorkloadIdentity } from '../document/identity.js';
import type { Job, multiregionBlock, periodicBlock } from '../document/job.js';
import type { NetworkResource, Port } from '../document/network.js';
import type {
  consulBlock,
  rescheduleBlock,
  restartBlock,
  ScalingPolicy,
  scalingBlock,
  UpdateStrategy,
  updateBlock,
} from '../document/policies.js';
import type { Service, ServiceCheck } from '../document/service.js';
import { storedForm } from '../document/stored-form.js';
import type { SubmittedJob, SubmittedTask, SubmittedTaskGroup } from '../document/submitted-job.js';
import type { Task } from '../document/task.js';
import type { TaskGroup, VolumeRequest } from '../document/task-group.js';
import type { TaskTemplate, TaskVault } from '../document/task-parts.js';
import {
  canonicaliseArtifact,
  canonicaliseCsiPlugin,
  canonicaliseLogs,
  canonicaliseResources,
  canonicaliseSecret,
  canonicaliseService,
  canonicaliseTemplate,
  canonicaliseVault,
  canonicaliseVolumeMount,
  defaultDisk,
  defaultKillTimeout,
  defaultMigrate,
  defaultPriority,
  defaultReschedule,
  defaultRestart,
  defaultUpdate,
  filled,
  hasDefaultReschedule,
  mapList,
  nullIfEmpty,
  overlaid,
  withWeights,
} from './canonicalise-blocks.js';

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

type Update = Submitted<typeof updateBlock>;
type Restart = Submitted<typeof restartBlock>;
type Reschedule = Submitted<typeof rescheduleBlock>;
type Scaling = Submitted<typeof scalingBlock>;
type Consul = Submitted<typeof consulBlock>;
type Periodic = Submitted<typeof periodicBlock>;
type Multiregion = Submitted<typeof multiregionBlock>;

/**
 * Fills the defaults of a submission: the result of the parse operation with `Canonicalize`, and the first step of a
 * registration (job interface, defaults). Idempotent.
 */
export function canonicaliseSubmitted(job: SubmittedJob): SubmittedJob {
  const ID = job.ID ?? '';
  const head: JobHead = {
    Name: job.Name ?? ID,
    Type: job.Type ?? 'service',
    ConsulNamespace: job.ConsulNamespace ?? '',
    Update: canonicaliseJobUpdate(job),
    Reschedule: job.Reschedule,
    Migrate: job.Migrate,
  };
  const full: SubmittedJob = {
    ...job,
    ID,
    Name: head.Name,
    Update: head.Update,
    Periodic: job.Periodic === null ? null : canonicalisePeriodic(job.Periodic),
    Multiregion: job.Multiregion === null ? null : canonicaliseMultiregion(job.Multiregion),
    UI: job.UI === null ? null : { ...job.UI, Links: nullIfEmpty(job.UI.Links) },
    Affinities: withWeights(job.Affinities),
    Spreads: withWeights(job.Spreads),
    TaskGroups: mapList(job.TaskGroups, (group) => canonicaliseGroup(group, head)),
  };
  return filled(full, jobDefaults);
}

/** The members that groups inherit. */
type JobHead = Pick<SubmittedJob, 'Update' | 'Reschedule' | 'Migrate'> & {
  readonly Name: string;
  readonly Type: string;
  readonly ConsulNamespace: string;
};

const jobDefaults = {
  ParentID: '',
  Namespace: 'default',
  Region: 'global',
  Type: 'service',
  Priority: defaultPriority,
  NodePool: '',
  Stop: false,
  AllAtOnce: false,
  Stable: false,
  ConsulNamespace: '',
  VaultNamespace: '',
  NomadTokenID: '',
  Status: '',
  StatusDescription: '',
  Version: 0,
  CreateIndex: 0,
  ModifyIndex: 0,
  JobModifyIndex: 0,
};

function canonicaliseJobUpdate(job: SubmittedJob): Update | null {
  if (job.Update !== null) return filled({ ...job.Update }, defaultUpdate);
  const type = job.Type ?? 'service';
  return type === 'service' || type === 'system' ? { ...defaultUpdate } : null;
}

function canonicalisePeriodic(periodic: Periodic): Periodic {
  return {
    ...filled({ ...periodic }, { Enabled: true, Spec: '', Specs: [], SpecType: 'cron', ProhibitOverlap: false }),
    TimeZone: periodic.TimeZone || 'UTC',
  };
}

function canonicaliseMultiregion(multiregion: Multiregion): Multiregion {
  return {
    Strategy: filled(
      { ...(multiregion.Strategy ?? { MaxParallel: null, OnFailure: null }) },
      { MaxParallel: 0, OnFailure: '' },
    ),
    Regions: (multiregion.Regions ?? []).map((region) =>
      filled({ ...region }, { Count: 1, Datacenters: [], Meta: {} }),
    ),
  };
}

function canonicaliseGroup(group: SubmittedTaskGroup, job: JobHead): SubmittedTaskGroup {
  const Count = group.Count ?? group.Scaling?.Min ?? 1;
  const areFunctions = group.Tasks?.length !== 0 && group.Tasks?.every(({ Driver }) => Driver === 'function') === true;
  const RestartPolicy = overlaid<Restart>(defaultRestart(job.Type), group.RestartPolicy);
  return {
    ...group,
    Count,
    Scaling: group.Scaling === null ? null : canonicaliseScaling(group.Scaling, Count),
    EphemeralDisk: filled(
      { ...(group.EphemeralDisk ?? (areFunctions ? { ...defaultDisk, SizeMB: 0 } : defaultDisk)) },
      defaultDisk,
    ),
    Consul: group.Consul === null ? null : canonicaliseConsul(group.Consul, job.ConsulNamespace),
    Update: canonicaliseGroupUpdate(group.Update, job.Update),
    ReschedulePolicy: canonicaliseReschedule(overlaid(job.Reschedule, group.ReschedulePolicy), job.Type),
    Migrate: canonicaliseMigrate(group, job),
    RestartPolicy,
    Disconnect:
      group.Disconnect === null ? null : filled({ ...group.Disconnect }, { Replace: true, Reconcile: 'best_score' }),
    Affinities: withWeights(group.Affinities),
    Spreads: withWeights(group.Spreads),
    Services: mapList(group.Services, (service) => canonicaliseService(service, `${job.Name}-${group.Name}`)),
    Tasks: mapList(group.Tasks, (task) =>
      canonicaliseTask(task, { RestartPolicy, areFunctions, name: `${job.Name}-${group.Name}` }),
    ),
  };
}

function canonicaliseScaling(scaling: Scaling, count: number): Scaling {
  return filled({ ...scaling, Type: scaling.Type || 'horizontal' }, { Enabled: true, Min: count });
}

function canonicaliseConsul(consul: Consul, namespace: string): Consul {
  return { ...consul, Namespace: consul.Namespace || namespace, Cluster: consul.Cluster || 'default' };
}

/** An empty update block of a job (all zero) is not inherited. */
function canonicaliseGroupUpdate(own: Update | null, ofJob: Update | null): Update | null {
  if (own === null && (ofJob === null || saysNothing(ofJob))) return null;
  return filled({ ...(overlaid(ofJob, own) as Update) }, defaultUpdate);
}

function saysNothing(update: Update): boolean {
  for (const key in update) if (update[key as keyof Update]) return false;
  return true;
}

function canonicaliseReschedule(policy: Reschedule | null, jobType: string): Reschedule | null {
  if (policy !== null) return filled({ ...policy }, defaultReschedule(jobType));
  return hasDefaultReschedule(jobType) ? { ...defaultReschedule(jobType) } : null;
}

function canonicaliseMigrate(group: SubmittedTaskGroup, job: JobHead): SubmittedTaskGroup['Migrate'] {
  const given = overlaid(job.Migrate, group.Migrate);
  if (given !== null) return filled({ ...given }, defaultMigrate);
  return job.Type === 'service' ? { ...defaultMigrate } : null;
}

/** What the tasks of a group inherit from it. */
interface GroupHead {
  readonly RestartPolicy: Restart;
  /** Whether all tasks are functions, which need no resources. */
  readonly areFunctions: boolean;
  /** Of the job and the group, for names of services. */
  readonly name: string;
}

function canonicaliseTask(task: SubmittedTask, group: GroupHead): SubmittedTask {
  return {
    ...task,
    Resources: canonicaliseResources(task.Resources, group.areFunctions),
    KillTimeout: task.KillTimeout ?? defaultKillTimeout,
    LogConfig: canonicaliseLogs(task.LogConfig),
    Artifacts: mapList(task.Artifacts, canonicaliseArtifact),
    Vault: task.Vault === null ? null : canonicaliseVault(task.Vault),
    Secrets: mapList(task.Secrets, canonicaliseSecret),
    Consul: task.Consul === null ? null : canonicaliseConsul(task.Consul, ''),
    Templates: mapList(task.Templates, canonicaliseTemplate),
    Affinities: withWeights(task.Affinities),
    VolumeMounts: mapList(task.VolumeMounts, canonicaliseVolumeMount),
    RestartPolicy: { ...overlaid(group.RestartPolicy, task.RestartPolicy) },
    Services: mapList(task.Services, (service) => canonicaliseService(service, `${group.name}-${task.Name}`)),
    ...(task.CSIPluginConfig === undefined ? {} : { CSIPluginConfig: canonicaliseCsiPlugin(task.CSIPluginConfig) }),
  };
}
