import type { Submitted } from '../document/field-table.js';
import type { multiregionBlock, periodicBlock } from '../document/job.js';
import type { consulBlock, rescheduleBlock, restartBlock, scalingBlock, updateBlock } from '../document/policies.js';
import type { SubmittedJob, SubmittedTask, SubmittedTaskGroup } from '../document/submitted-job.js';
import { canonicaliseService } from './canonicalise-service.js';
import {
  canonicaliseAffinities,
  canonicaliseArtifact,
  canonicaliseCsiPlugin,
  canonicaliseLogs,
  canonicaliseResources,
  canonicaliseSecret,
  canonicaliseSpreads,
  canonicaliseTemplate,
  canonicaliseVault,
  canonicaliseVolumeMount,
} from './canonicalise-task-parts.js';
import {
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
} from './default-policies.js';

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
    Affinities: canonicaliseAffinities(job.Affinities),
    Spreads: canonicaliseSpreads(job.Spreads),
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
  const RestartPolicy = overlaid<Restart>(defaultRestart(job.Type), group.RestartPolicy) as Restart;
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
    Affinities: canonicaliseAffinities(group.Affinities),
    Spreads: canonicaliseSpreads(group.Spreads),
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
    Affinities: canonicaliseAffinities(task.Affinities),
    VolumeMounts: mapList(task.VolumeMounts, canonicaliseVolumeMount),
    RestartPolicy: { ...(overlaid(group.RestartPolicy, task.RestartPolicy) as Restart) },
    Services: mapList(task.Services, (service) => canonicaliseService(service, `${group.name}-${task.Name}`)),
    ...(task.CSIPluginConfig === undefined ? {} : { CSIPluginConfig: canonicaliseCsiPlugin(task.CSIPluginConfig) }),
  };
}
