import { err, ok, type Result } from 'neverthrow';
import type { Job } from '../../jobs/document/job.js';
import type { InvalidJob } from '../../jobs/errors.js';
import type { ReadView } from '../../ports/storage.js';
import type { Settings } from '../../settings.js';
import { readNamespace } from '../shared/namespace-store.js';

/** The warnings of a valid document, or all its faults in one error: those of its meaning and those of its surroundings. */
export function checkJob(view: ReadView, job: Job, _settings: Settings): Result<readonly string[], InvalidJob> {
  const namespace = readNamespace(view, job.Namespace);
  const errors = namespace === undefined ? [`nonexistent namespace "${job.Namespace}"`] : [];
  if (errors.length > 0) return err({ type: 'invalid_job', errors, message: errors.join('\n') });
  return ok([]);
}

export function warningsOf(warnings: readonly string[]): string {
  return warnings.join('\n');
}
