import type { Ids } from '../../ports/ids.js';
import type { WriteView } from '../../ports/storage.js';
import type { Allocation } from '../../scheduler/allocation.js';
import type { Evaluation } from '../../scheduler/evaluation.js';
import type { Settings } from '../../settings.js';
import type { Instant } from '../../shared/instant.js';
import type { Fact } from './facts.js';

/** What the consequences of a write are decided with. */
export interface ConsequenceEnvironment {
  readonly now: Instant;
  readonly ids: Ids;
  readonly settings: Settings;
  /** The name of the person behind the write; absent when the system itself acts. */
  readonly actor?: string;
}

/** What a write has put, after all of it has been put. */
export interface SchedulingChanges {
  readonly evaluations?: readonly Evaluation[];
  readonly allocations?: readonly { readonly before: Allocation | undefined; readonly after: Allocation }[];
}

/**
 * Everything that follows for jobs from evaluations and allocations that this write has put: summary counters, blocked
 * evaluations that a success makes needless, job status, the parent's counters, and run events.
 *
 * Call it once, at the end of the write: a status looks at all rows, so a write that ends an allocation and puts the
 * evaluation that replaces it must have put both. Gives the facts to emit after the commit.
 */
export function applyJobConsequences(
  _view: WriteView,
  _environment: ConsequenceEnvironment,
  _changes: SchedulingChanges,
): Fact[] {
  return [];
}

/** `applyJobConsequences` for one evaluation that is the only thing the write has put. */
export function afterEvaluationWrite(
  view: WriteView,
  environment: ConsequenceEnvironment,
  evaluation: Evaluation,
): Fact[] {
  return applyJobConsequences(view, environment, { evaluations: [evaluation] });
}

/** `applyJobConsequences` for one allocation that is the only thing the write has put. */
export function afterAllocationWrite(
  view: WriteView,
  environment: ConsequenceEnvironment,
  before: Allocation | undefined,
  after: Allocation,
): Fact[] {
  return applyJobConsequences(view, environment, { allocations: [{ before, after }] });
}

/** Recomputes the status of one job after a write that touched it. */
export function recomputeJobStatus(
  _view: WriteView,
  _environment: ConsequenceEnvironment,
  _namespace: string,
  _jobId: string,
): Fact[] {
  return [];
}
