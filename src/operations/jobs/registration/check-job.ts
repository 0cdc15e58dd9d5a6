import { err, ok, type Result, type ResultAsync } from 'neverthrow';
import type { Job } from '../../../jobs/document/job.js';
import type { InvalidJob } from '../../../jobs/errors.js';
import type { NamespaceCapabilities } from '../../../jobs/namespaces/namespace.js';
import { errorsText } from '../../../jobs/validation/problem-texts.js';
import { type JobProblems, type ValidationContext, validateJob } from '../../../jobs/validation/validate-job.js';
import type { ReadView, StorageError } from '../../../ports/storage.js';
import type { Settings } from '../../../settings.js';
import type { Instant } from '../../../shared/instant.js';
import type { PermissionDenied } from '../../authorise.js';
import type { EngineContext } from '../../context/engine-context.js';
import { readNamespace } from '../../records/namespace-rows.js';
import { readNodePool } from '../../records/node-pool-rows.js';
import { unmetByNodes } from '../../records/scheduling/node-provisions.js';

/** The warnings about a job document, or all its faults in one error: first the document alone, then against the stored state. */
export function checkJob(
  view: ReadView,
  job: Job,
  settings: Settings,
  now: Instant,
): Result<readonly string[], InvalidJob> {
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
  return validateJob(job, { ...validationContext(view, job, settings), now });
}

function validationContext(view: ReadView, job: Job, settings: Settings): ValidationContext {
  const namespace = readNamespace(view, job.Namespace);
  const context: ValidationContext = {
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
