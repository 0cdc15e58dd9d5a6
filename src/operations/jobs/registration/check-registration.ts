import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import { allows, allowsArea, allowsHostVolume, type PermissionDenied } from '../../../access/allows.js';
import type { Principal } from '../../../access/principal.js';
import { evaluatePolicies, policyRefused } from '../../../jobs/admission/job-policy.js';
import { demandOf, minus, noDemand, quotaExcess, quotaOf } from '../../../jobs/admission/namespace-quota.js';
import type { Registration } from '../../../jobs/changes/decide-registration.js';
import type { Job } from '../../../jobs/document/job.js';
import type { Task } from '../../../jobs/document/task.js';
import type { TaskGroup, VolumeRequest } from '../../../jobs/document/task-group.js';
import type { InvalidJob, PolicyRefused, QuotaExceeded, RegistrationsDisabled } from '../../../jobs/errors.js';
import type { NamespaceCapabilities } from '../../../jobs/namespaces/namespace.js';
import { errorsText } from '../../../jobs/validation/problems.js';
import { type JobProblems, type ValidationContext, validateJob } from '../../../jobs/validation/validate-job.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import type { Settings } from '../../../settings.js';
import type { Instant } from '../../../shared/instant.js';
import { quoted } from '../../../shared/values.js';
import type { EngineContext } from '../../context/engine-context.js';
import { usageOf } from '../../reactions/quotas.js';
import { readNamespace, readNodePool, readSchedulerConfiguration } from '../../records/declared-rows.js';
import { unmetByNodes } from '../../records/scheduling/node-rows.js';
import type { Transaction } from '../../write-transaction.js';

/**
 * Passes unless the configuration of the scheduler has RejectJobRegistration and the caller is not management (job interface, operator
 * scheduler configuration). Existing clients match the message.
 */
export function acceptsRegistrations(tx: Transaction): Result<void, RegistrationsDisabled> {
  if (tx.caller.management || !readSchedulerConfiguration(tx).RejectJobRegistration) return ok(undefined);
  const message = 'job registration, dispatch, and scale are disabled by the scheduler configuration';
  return err({ type: 'registrations_disabled', message });
}

/**
 * Passes when the caller may mount the volumes of the job, and run its plugins for volumes. A job without any needs no
 * such right.
 */
export function authoriseVolumes(caller: Principal, job: Job): Result<void, PermissionDenied> {
  const allowed = caller.management || job.TaskGroups.every((group) => allowsGroup(caller, job.Namespace, group));
  return allowed ? ok(undefined) : err({ type: 'permission_denied' });
}

function allowsGroup(caller: Principal, namespace: string, { Volumes, Tasks }: TaskGroup): boolean {
  return (
    Object.values(Volumes ?? {}).every((volume) => allowsVolume(caller, namespace, volume)) &&
    Tasks.every((task) => allowsMounts(caller, Volumes ?? {}, task) && allowsPlugin(caller, namespace, task))
  );
}

function allowsVolume(caller: Principal, namespace: string, { Type, Source, ReadOnly }: VolumeRequest): boolean {
  if (Type === 'csi') return allowsArea(caller, 'plugin', 'read') && allows(caller, namespace, ['csi-mount-volume']);
  return (
    allowsHostVolume(caller, Source, 'mount-readwrite') ||
    (ReadOnly && allowsHostVolume(caller, Source, 'mount-readonly'))
  );
}

/** What is mounted within a volume in both directions also appears on the host, even if the volume is mounted to be read only. */
function allowsMounts(caller: Principal, volumes: NonNullable<TaskGroup['Volumes']>, { VolumeMounts }: Task): boolean {
  return (VolumeMounts ?? []).every(({ Volume, PropagationMode }) => {
    if (PropagationMode !== 'bidirectional') return true;
    const source = Object.hasOwn(volumes, Volume) ? volumes[Volume]?.Source : undefined;
    return allowsHostVolume(caller, source ?? '', 'mount-readwrite');
  });
}

function allowsPlugin(caller: Principal, namespace: string, { CSIPluginConfig }: Task): boolean {
  return CSIPluginConfig === null || allows(caller, namespace, ['csi-register-plugin']);
}

/** The warnings of the host's policies about a job to register, or all their refusals in one error. */
export function checkPolicies(
  tx: Transaction,
  job: Job,
  existing: Job | undefined,
  override: boolean,
): Result<readonly string[], PolicyRefused> {
  if (tx.policies.length === 0) return ok([]);
  const { warnings, refusals } = evaluatePolicies(tx.policies, { job, existing, callerName: tx.caller.name }, override);
  return refusals.length === 0 ? ok(warnings) : err(policyRefused(refusals));
}

/** The warnings about a document to register, or its refusal: first by the rules of the interface, then by the policies. */
export function checkDemands(
  tx: Transaction,
  { job, policyOverride }: { readonly job: Job; readonly policyOverride?: boolean | undefined },
  existing: Job | undefined,
): Result<readonly string[], InvalidJob | PolicyRefused> {
  return checkJob(tx, job, tx.settings, tx.now).andThen((warnings) =>
    checkPolicies(tx, job, existing, policyOverride === true).map((texts) => [...warnings, ...texts]),
  );
}

/**
 * The registration, if its job is within the quota and valid with the preserved counts and resources. An unchanged registration
 * requests nothing more.
 */
export function checkQuota(
  tx: Transaction,
  registration: Registration,
): Result<Registration, QuotaExceeded | InvalidJob> {
  if (registration.type === 'unchanged') return ok(registration);
  const { job } = registration;
  if (registration.type === 'created') return withinQuota(tx, undefined, job).map(() => registration);
  const checked = registration.kept === undefined ? ok([]) : checkJob(tx, job, tx.settings, tx.now);
  return checked.andThen(() => withinQuota(tx, registration.previous, job)).map(() => registration);
}

/** Warnings about preserved counts and resources. */
export function keptWarnings(registration: Registration): readonly string[] {
  return registration.type === 'updated' ? (registration.kept ?? []) : [];
}

/** Checks that the new state of the job is within the quota of its namespace. Call it before the job is written. */
export function withinQuota(tx: Transaction, before: Job | undefined, after: Job): Result<void, QuotaExceeded> {
  const namespace = after.Namespace;
  const rule = quotaOf(tx.settings.jobs.quotas, namespace);
  if (rule === undefined) return ok(undefined);
  const live: Job = { ...after, Status: 'pending' };
  const more = minus(demandOf(live), before === undefined ? noDemand : demandOf(before));
  const excess = quotaExcess({ namespace, rule, used: usageOf(tx, namespace) }, more);
  return excess === undefined ? ok(undefined) : err(excess);
}

/** Functions that a warning lists. */
const mostListed = 20;

/**
 * Warnings about tasks whose function no runner in this process has. They are not refused: a runner in another process may have it.
 * References such as `${meta.report}` are filled in later, and not checked.
 */
export function functionWarnings({ functions }: Pick<EngineContext, 'functions'>, job: Job): string[] {
  if (functions.size === 0) return [];
  const known = new Set([...functions.values()].flat());
  return job.TaskGroups.flatMap((group) =>
    group.Tasks.filter(({ Driver }) => Driver === 'function').flatMap(({ Name, Config }) => {
      const name = Config?.['function'];
      if (typeof name === 'string' && (known.has(name) || name.includes('${'))) return [];
      const what = typeof name === 'string' ? `no function ${quoted(name)}` : 'its config names no function';
      return [`group ${quoted(group.Name)}, task ${quoted(Name)}: ${what} in this process; ${listOf([...known])}`];
    }),
  );
}

function listOf(known: readonly string[]): string {
  if (known.length === 0) return 'its runner has no functions';
  const more = known.length > mostListed ? `, and ${known.length - mostListed} more` : '';
  return `its runner has ${known.slice(0, mostListed).map(quoted).join(', ')}${more}`;
}

/** The warnings about a job document, or all its faults in one error: first the document alone, then against the stored state. */
function checkJob(view: ReadView, job: Job, settings: Settings, now: Instant): Result<readonly string[], InvalidJob> {
  const { errors, warningsByPart } = problemsOfJob(view, job, settings, now);
  return errors.length === 0 ? ok(warningsByPart) : err({ type: 'invalid_job', errors, message: errorsText(errors) });
}

/**
 * The error for a caller without the right: the faults of the document if it has any, otherwise the refusal. It is found by a read, so such a
 * caller never starts a write.
 */
export function faultsOrRefusal(
  { storage, settings, clock }: EngineContext,
  job: Job,
  refusal: PermissionDenied,
): ResultAsync<never, InvalidJob | PermissionDenied | StorageError> {
  return storage
    .read((view) => checkJob(view, job, settings, clock.now()))
    .andThen((checked) => (checked.isErr() ? err(checked.error) : err(refusal)));
}

/** All problems and warnings of a document, alone and against the stored state. Launches after `now` are checked. */
export function problemsOfJob(view: ReadView, job: Job, settings: Settings, now: Instant): JobProblems {
  return validateJob(job, validationContext(view, job, settings, now));
}

function validationContext(view: ReadView, job: Job, settings: Settings, now: Instant): ValidationContext {
  const namespace = readNamespace(view, job.Namespace);
  const context: ValidationContext = {
    now,
    maximumCount: settings.jobs.maximumCount,
    hasNamespace: () => namespace !== undefined,
    unmetByNodes: unmetByNodes(view),
    hasNodePool: (name) => readNodePool(view, name) !== undefined,
  };
  const capabilities = namespace?.Capabilities ?? null;
  if (capabilities === null) return context;
  return {
    ...context,
    allowsDriver: (driver) => permits(capabilities, 'TaskDrivers', driver),
    allowsNetworkMode: (mode) => permits(capabilities, 'NetworkModes', mode),
  };
}

/** A name is permitted when it is not disabled, and enabled if anything is. */
function permits(capabilities: NamespaceCapabilities, kind: 'TaskDrivers' | 'NetworkModes', name: string): boolean {
  const enabled = capabilities[`Enabled${kind}`] ?? [];
  const disabled = capabilities[`Disabled${kind}`] ?? [];
  return !disabled.includes(name) && (enabled.length === 0 || enabled.includes(name));
}
