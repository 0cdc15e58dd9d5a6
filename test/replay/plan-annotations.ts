import { annotateDiff, type PlanAnnotations } from '../../src/jobs/diff/annotate-diff.js';
import { diffJobs } from '../../src/jobs/diff/diff-jobs.js';
import type { Play } from './player.js';
import { type DiffVector, differenceOf, side } from './structured-diff.js';

interface AnnotationVector extends DiffVector {
  readonly annotations: PlanAnnotations | null;
}

/** A diff with what the scheduler would do about it. */
export const play: Play<AnnotationVector> = (vector) => {
  const diff = diffJobs(side(vector.old), side(vector.new), { contextual: vector.contextual })._unsafeUnwrap();
  return differenceOf(annotateDiff(diff, vector.annotations), vector);
};
