import { err, ok, type Result } from 'neverthrow';
import { admitJob, type InstallationDefaults } from './admission/admit-job.js';
import { canonicaliseJob } from './canonical/canonicalise-job.js';
import { type DecodeError, decodeJob } from './document/decode-job.js';
import type { Job } from './document/job.js';
import type { JobInput, TaskGroupInput, TaskInput } from './document/job-input.js';
import type { AdmissionRefused, InvalidJob } from './errors.js';
import { errorsText } from './validation/problems.js';
import { type ValidationContext, validateJob } from './validation/validate-job.js';

/** Why a document cannot be registered, independently of the stored job. */
export type PrepareJobError = DecodeError | AdmissionRefused | InvalidJob;

/**
 * The job that a registration of the document would store: with all defaults and additions, and checked by all rules. Its
 * indexes, times and status are those of an unregistered job.
 */
export function prepareJob(
  input: JobInput,
  installation: InstallationDefaults & ValidationContext = { region: 'global' },
): Result<Job, PrepareJobError> {
  return decodeJob(input, { durationTexts: true })
    .map(canonicaliseJob)
    .andThen((job) => admitJob(job, installation))
    .andThen((job) => {
      const { errors } = validateJob(job, installation);
      return errors.length === 0 ? ok(job) : err({ type: 'invalid_job', errors, message: errorsText(errors) } as const);
    });
}

/**
 * A complete stored job from a partial document: `jobFrom({ Type: 'batch' })`. A group without tasks
 * gets one, missing names are generated, and defaults are filled as in a registration. `stored` overrides
 * members set by a registration, for example `{ Version: 3 }`.
 *
 * For tests and scripts: an invalid document throws an error with its faults.
 */
export function jobFrom(input: JobInput = {}, stored: Partial<Job> = {}): Job {
  const groups = input.TaskGroups ?? [{}];
  const prepared = prepareJob({ ID: 'job', ...input, TaskGroups: groups.map(wholeGroup) });
  if (prepared.isErr()) throw new Error(prepared.error.message);
  return { ...prepared.value, Status: 'pending', ...stored };
}

function wholeGroup(group: TaskGroupInput, index: number): TaskGroupInput {
  const tasks = group.Tasks ?? [{}];
  return { Name: numbered('group', index), ...group, Tasks: tasks.map(wholeTask) };
}

function wholeTask(task: TaskInput, index: number): TaskInput {
  return { Name: numbered('task', index), Driver: 'function', ...task };
}

/** `group`, `group-2`, `group-3`, … */
function numbered(name: string, index: number): string {
  return index === 0 ? name : `${name}-${index + 1}`;
}
