import { table } from '../../shared/table.js';

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
