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
  const [given, most] = [length, maximum].map((characters) => characters.toLocaleString('en-US'));
  return `job source was not stored: it has ${given} characters, at most ${most} are kept`;
}
