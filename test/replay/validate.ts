import { admitJob } from '../../src/jobs/admission/admit-job.js';
import { canonicaliseJob } from '../../src/jobs/canonical/canonicalise-job.js';
import { decodeJob } from '../../src/jobs/document/decode-job.js';
import { type JobProblems, validateJob } from '../../src/jobs/validation/validate-job.js';
import { warningCount } from './canonicalise.js';
import { firstDifference } from './difference.js';
import type { Play, Vector } from './player.js';

interface ValidateVector extends Vector {
  /** As a client would send it. */
  readonly job: object;
  readonly status: number;
  /** A text where the status is not 200. */
  readonly answer: { readonly ValidationErrors: readonly string[] | null; readonly Warnings: string } | string;
}

/**
 * The status; how many parts of the job have problems, and how many there are in which group, task and constraint; how many
 * warnings there are. The words are our own.
 */
export const play: Play<ValidateVector> = ({ job, status, answer }) => {
  const ours = validated(job);
  if (typeof answer === 'string' || ours.problems === undefined) {
    return firstDifference(ours.status, status, 'status');
  }
  const recorded = (answer.ValidationErrors ?? []).flatMap((text) => leavesOf(text));
  const { errors, errorsByPart, warningsByPart } = ours.problems;
  const counts = {
    status: ours.status,
    parts: errorsByPart.length,
    problems: errors.length,
    warnings: warningsByPart.length,
  };
  return (
    firstDifference(counts, {
      status,
      parts: answer.ValidationErrors?.length ?? 0,
      problems: recorded.length,
      warnings: warningCount(answer.Warnings),
    }) ?? unmatched(errors, recorded)
  );
};

/** As the validate operation treats a document on a new installation: one namespace, the built-in node pools, no nodes. */
function validated(document: object): { readonly status: number; readonly problems?: JobProblems } {
  const decoded = decodeJob(document);
  if (decoded.isErr()) return { status: 400 };
  if (decoded.value.Namespace === '') return { status: 500 };
  const admitted = admitJob(canonicaliseJob(decoded.value), { region: 'global' });
  if (admitted.isErr()) return { status: 500 };
  const context = { hasNamespace: (name: string) => name === 'default', hasNodePool: () => false };
  return { status: 200, problems: validateJob(admitted.value, context) };
}

/** The parts of one problem, from the outermost inwards, as our texts name them. */
type Parts = readonly string[];

const ofGroup = /^Task group (.*) validation failed: /;

/** Ours tell the position of a part without a name, which the recorded ones do not. */
function named(kind: string, name: string): string {
  return name === '' ? kind : `${kind} ${JSON.stringify(name)}`;
}

const headings: readonly (readonly [RegExp, (found: RegExpExecArray) => string])[] = [
  [ofGroup, ([, name = '']) => named('group', name)],
  [/^Task (.*) validation failed: /, ([, name = '']) => named('task', name)],
  [
    /^(Constraint|Affinity|Spread|Template|Artifact) (\d+) validation failed: /,
    ([, kind = '', number]) => `${kind.toLowerCase()} ${number}`,
  ],
  [/^device (\d+) failed validation: /, ([, number]) => `device ${number}`],
];

/** The innermost problems of a nested text. A heading holds until its errors, whose number it tells, have come. */
function leavesOf(text: string, parts: Parts = []): Parts[] {
  const open: { left: number; readonly parts: Parts }[] = [{ left: 1, parts }];
  const leaves: Parts[] = [];
  for (const line of text.split('\n')) {
    const problem = line.replace(/^\t\* /, '');
    if (problem.trim() === '' || problem.trim() === '"') continue;
    while (open.length > 1 && open.at(-1)?.left === 0) open.pop();
    const around = open.at(-1);
    if (around === undefined) break;
    around.left -= 1;
    // Inside of a group such a line is about its network, its services and so on.
    const isOfGroup = around.parts.length === 0 || !ofGroup.test(problem);
    const heading = !isOfGroup
      ? undefined
      : headings.map(([pattern, part]) => ({ found: pattern.exec(problem), part })).find(({ found }) => found);
    const inside = heading?.found == null ? around.parts : [...around.parts, heading.part(heading.found)];
    const nested = /(\d+) errors? occurred:$/.exec(problem);
    if (nested === null) leaves.push(inside);
    else open.push({ left: Number(nested[1]), parts: inside });
  }
  return leaves;
}

/** The first recorded problem for which we have none in the same part. */
function unmatched(errors: readonly string[], recorded: readonly Parts[]): string | undefined {
  const left = [...errors];
  // Those with the most parts first, so that a problem of a task does not stand in for one of its group.
  for (const parts of [...recorded].sort((a, b) => b.length - a.length)) {
    const at = left.findIndex((error) => parts.every((part) => isIn(part, error)));
    if (at < 0) return `no problem at ${parts.join(', ')}, but ${JSON.stringify(errors)}`;
    left.splice(at, 1);
  }
  return undefined;
}

function isIn(part: string, error: string): boolean {
  return part === 'group' || part === 'task'
    ? new RegExp(`\\b${part} \\d+: `).test(error)
    : error.includes(`${part}: `);
}
