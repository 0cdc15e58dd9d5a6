import type { JobSubmission, SubmissionInput } from './job-submission.js';

/** Characters of a submission that count against the limit: source, variables, and all flags with their names. */
export function submissionLength(submission: SubmissionInput): number {
  let length = submission.Source.length + submission.Variables.length;
  for (const [name, value] of Object.entries(submission.VariableFlags ?? {})) length += name.length + value.length;
  return length;
}

/** The submissions that go when only the newest `tracked` are kept, by the index of the write that made them. */
export function prunedSubmissions(submissions: readonly JobSubmission[], tracked: number): JobSubmission[] {
  return [...submissions]
    .sort((a, b) => b.JobModifyIndex - a.JobModifyIndex || b.Version - a.Version)
    .slice(Math.max(tracked, 1));
}

/** The warning for a source that is too long to be kept; the job is registered without it. */
export function droppedSourceWarning(length: number, maximum: number): string {
  return `job source was not stored: its ${megabytes(length)} are more than the maximum of ${megabytes(maximum)}`;
}

function megabytes(length: number): string {
  return `${(length / 1_000_000).toFixed(1)} MB`;
}
