import { err, ok, type Result } from 'neverthrow';
import type { Job } from '../../jobs/document/job.js';
import type { InvalidJob } from '../../jobs/errors.js';
import type { NamespaceCapabilities } from '../../jobs/namespace.js';
import { errorsText } from '../../jobs/validation/problem-texts.js';
import { type ValidationContext, validateJob } from '../../jobs/validation/validate-job.js';
import type { ReadView } from '../../ports/storage.js';
import type { Settings } from '../../settings.js';
import { readNamespace } from '../shared/namespace-store.js';

/** The warnings about a document, or all its faults in one error: those of its own and those against its surroundings. */
export function checkJob(view: ReadView, job: Job, settings: Settings): Result<readonly string[], InvalidJob> {
  const { errors, warnings } = validateJob(job, surroundings(view, job, settings));
  return errors.length === 0 ? ok(warnings) : err({ type: 'invalid_job', errors, message: errorsText(errors) });
}

function surroundings(view: ReadView, job: Job, settings: Settings): ValidationContext {
  const namespace = readNamespace(view, job.Namespace);
  const context: ValidationContext = {
    maximumCount: settings.jobs.maximumCount,
    hasNamespace: () => namespace !== undefined,
    isTimeZone,
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

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
