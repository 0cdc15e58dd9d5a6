import { contentOf } from '../../src/jobs/diff/diff-fields.js';
import { diffJobs } from '../../src/jobs/diff/diff-jobs.js';
import type { JobDiff } from '../../src/jobs/diff/job-diff.js';
import type { Job } from '../../src/jobs/document/job.js';
import { jobOf } from './canonical-jobs.js';
import { firstDifference } from './difference.js';
import type { Play, Vector } from './player.js';

export interface DiffVector extends Vector {
  /** A job as a client would send it, or none. */
  readonly old: object | null;
  readonly new: object | null;
  readonly contextual: boolean;
  /** Absent where the two cannot be compared. */
  readonly answer?: JobDiff;
  readonly error?: string;
  /** The order of some lists was up to chance, so that the answer's are sorted by their text. */
  readonly order_unstable?: boolean;
}

/** Two jobs in their canonical form, and what differs. Of an error only that there is one counts. */
export const play: Play<DiffVector> = (vector) =>
  diffJobs(side(vector.old), side(vector.new), { contextual: vector.contextual }).match(
    (diff) => differenceOf(diff, vector),
    (error) => (vector.error === undefined ? `an error: ${error.message}` : undefined),
  );

export function side(document: object | null): Job | null {
  return document === null ? null : jobOf(document);
}

/** The diff against the recorded one. */
export function differenceOf(diff: JobDiff, { answer, order_unstable: isUnstable }: DiffVector): string | undefined {
  return isUnstable === true ? firstDifference(sorted(diff), sorted(answer)) : firstDifference(diff, answer);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    const texts = value.map(sorted).map((element) => [contentOf(element), element] as const);
    return texts.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, element]) => element);
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, sorted(member)]));
}
