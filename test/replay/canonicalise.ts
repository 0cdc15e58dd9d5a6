import { admitJob } from '../../src/jobs/admission/admit-job.js';
import { canonicaliseJob } from '../../src/jobs/canonical/canonicalise-job.js';
import { decodeJob } from '../../src/jobs/document/decode-job.js';
import type { Job } from '../../src/jobs/document/job.js';
import { validateJob } from '../../src/jobs/validation/validate-job.js';
import { firstDifference } from './difference.js';
import type { Play, Vector } from './player.js';

interface CanonicalVector extends Vector {
  /** As a client would send it. */
  readonly job: object;
  /** What the rules of the document make of it. */
  readonly canonical: object;
  /** What is stored; null when the registration is refused. */
  readonly answer: object | null;
  readonly warnings?: string;
  readonly error?: string;
}

/** The canonical form, the stored form, and how many warnings there are. Of a refusal only that there is one counts. */
export const play: Play<CanonicalVector> = (vector) => {
  const canonical = canonicaliseJob(decodeJob(vector.job)._unsafeUnwrap());
  const ours = { canonical: comparable(canonical), ...registered(canonical) };
  return firstDifference(ours, {
    canonical: vector.canonical,
    answer: vector.answer,
    warnings: vector.answer === null ? 0 : warningCount(vector.warnings ?? ''),
  });
};

function registered(canonical: Job): { answer: unknown; warnings: number } {
  const admitted = admitJob(canonical, { region: 'global' });
  if (admitted.isErr()) return { answer: null, warnings: 0 };
  const { errors, warningsByPart } = validateJob(admitted.value);
  if (errors.length > 0) return { answer: null, warnings: 0 };
  return { answer: comparable(admitted.value), warnings: warningsByPart.length };
}

export function warningCount(text: string): number {
  return Number(/^(\d+) warnings?:/.exec(text)?.[1] ?? 0);
}

/** Fields that the registration fills in. */
const filledIn: ReadonlySet<string> = new Set([
  'CreateIndex',
  'ModifyIndex',
  'JobModifyIndex',
  'SubmitTime',
  'Status',
  'StatusDescription',
  'Stable',
  'NomadTokenID',
]);

function comparable(job: Job): object {
  const groups = job.TaskGroups.map((group) => ({
    ...group,
    Scaling: group.Scaling === null ? null : without(group.Scaling, ofPolicies),
    Tasks: group.Tasks.map((task) => ({
      ...task,
      ScalingPolicies: task.ScalingPolicies?.map((policy) => without(policy, ofPolicies)) ?? null,
    })),
  }));
  return without({ ...job, TaskGroups: groups }, filledIn);
}

const ofPolicies: ReadonlySet<string> = new Set(['ID', 'CreateIndex', 'ModifyIndex']);

function without(record: object, names: ReadonlySet<string>): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.has(name)));
}
