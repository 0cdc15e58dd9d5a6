import { table } from '../../shared/table.js';

/** What a caller gives along with a registration: the source that the job was made from. */
export interface SubmissionInput {
  readonly Source: string;
  /** `hcl2`, `hcl1` or `json`; not checked, because nothing depends on it. */
  readonly Format: string;
  readonly VariableFlags: Readonly<Record<string, string>> | null;
  readonly Variables: string;
}

/** The source of one job version, for reference only (job interface, Job submission). */
export interface JobSubmission extends SubmissionInput {
  readonly Namespace: string;
  readonly JobID: string;
  readonly Version: number;
  readonly JobModifyIndex: number;
}

export const jobSubmissions = table<JobSubmission>('job_submissions', (submission) => [
  submission.Namespace,
  submission.JobID,
  submission.Version,
]);
