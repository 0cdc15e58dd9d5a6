import { byteLength } from '../validation/problems.js';
import type { JobSubmission, SubmissionInput } from './job-submission.js';

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
