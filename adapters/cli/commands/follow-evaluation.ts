import { orThrow } from '../../../src/client/index.js';
import type { Evaluation } from '../../../src/index.js';
import type { Invocation } from '../command-line/command.js';
import { short } from '../output/columns.js';
import { placementFailures } from '../output/placement-failures.js';
import { Stopped } from '../stopped.js';
import { found } from './found.js';

/** Longest that one question to the server waits. */
const wait = '30s';

/**
 * Waits until the evaluation has ended, and tells what came of it: what was placed, and why what was not placed was not.
 * Gives the exit code: 1 when the evaluation failed.
 */
export async function followEvaluation(invocation: Invocation, id: string): Promise<number> {
  const { terminal } = invocation;
  terminal.out(`evaluation ${short(id)} (${id})\n`);
  const evaluation = await ended(invocation, id);
  for (const allocation of await placedBy(invocation, id)) {
    terminal.out(`  allocation ${short(allocation.ID)} of group "${allocation.TaskGroup}" on ${allocation.NodeName}\n`);
  }
  terminal.out(`evaluation ${short(id)} is ${evaluation.Status}\n${remainder(evaluation)}`);
  return evaluation.Status === 'failed' || evaluation.Status === 'canceled' ? 1 : 0;
}

/** What an evaluation could not do, and who goes on with it. */
export function remainder({ FailedTGAllocs, BlockedEval, NextEval }: Evaluation): string {
  const failures = placementFailures(FailedTGAllocs ?? {});
  const blocked = isId(BlockedEval) ? `evaluation ${short(BlockedEval)} waits to place the rest\n` : '';
  return failures + blocked + (isId(NextEval) ? `evaluation ${short(NextEval)} goes on\n` : '');
}

function isId(id: string | undefined): id is string {
  return id !== undefined && id !== '';
}

function placedBy({ box, inNamespace }: Invocation, id: string) {
  return found(box.evaluations.allocations(id, inNamespace), `evaluation ${id}`);
}

async function ended({ box, inNamespace }: Invocation, id: string): Promise<Evaluation> {
  for (let waiting = {}; ; ) {
    const { value, index } = await orThrow(box.evaluations.read(id, { ...inNamespace, ...waiting }));
    if (value === undefined) throw new Stopped(`there is no evaluation ${id}`);
    if (value.Status !== 'pending') return value;
    waiting = { index, wait };
  }
}
