import { table } from '../../shared/table.js';
import { byteLength } from '../validation/problems.js';

/** Bytes of a submission that count towards the limit: source, variables, and all flags with their names. */
export function submissionLength(submission: SubmissionInput): number {
  let length = byteLength(submission.Source) + byteLength(submission.Variables);
  for (const [name, value] of Object.entries(submission.VariableFlags ?? {}))
    length += byteLength(name) + byteLength(value);
  return length;
}

/** The submissions to remove when only the newest `tracked` are kept, by the index of the write that created them. */
export function prunedSubmissions(submissions: readonly JobSubmission[], tracked: number): JobSubmission[] {
  return [...submissions]
    .sort((a, b) => b.JobModifyIndex - a.JobModifyIndex || b.Version - a.Version)
    .slice(Math.max(tracked, 1));
}

/** The warning for a source that is too long to be stored; the job is registered without it. */
export function droppedSourceWarning(length: number, maximum: number): string {
  const [given, most] = [length, maximum].map((bytes) => bytes.toLocaleString('en-US'));
  return `job source was not stored: it has ${given} bytes, at most ${most} are kept`;
}

/** The source of a job, submitted with a registration. */
export interface SubmissionInput {
  /** The job file. */
  readonly Source: string;
  /** `hcl2`, `hcl1` or `json`; informational, not checked. */
  readonly Format: string;
  /** Single variables, by name. */
  readonly VariableFlags: Readonly<Record<string, string>> | null;
  /** Variables as a string, `name = value` lines or their JSON form. */
  readonly Variables: string;
}

/** The source of one job version, for reference only (job interface, Job submission). */
export interface JobSubmission extends SubmissionInput {
  readonly Namespace: string;
  readonly JobID: string;
  /** The version created from the source. */
  readonly Version: number;
  /** Index of the registration that the source belongs to. */
  readonly JobModifyIndex: number;
}

export const jobSubmissions = table<JobSubmission>('job_submissions', (submission) => [
  submission.Namespace,
  submission.JobID,
  submission.Version,
]);
