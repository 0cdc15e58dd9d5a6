import { orThrow } from '../../../../src/client/index.js';
import type { AllocationListStub, Evaluation } from '../../../../src/index.js';
import type { Invocation } from '../../command-line/command.js';
import { displayOn } from '../../monitor/display.js';
import { short } from '../../output/columns.js';
import { placementFailures } from '../../output/placement-failures.js';
import { Stopped } from '../../stopped.js';
import { found } from '../found.js';
import { followDeployment } from './follow-deployment.js';

/** Longest that one question to the server waits. */
const wait = '30s';

/**
 * Waits until the evaluation has ended, and tells what came of it: what was placed, and why what was not placed was not.
 * Gives the exit code: 1 when the evaluation failed.
 */
export async function followEvaluation(invocation: Invocation, id: string): Promise<number> {
  return codeOf(await shownEvaluation(invocation, id));
}

/** The same, and on with the deployment that it began or goes on with, unless something waits for room. */
export async function followToHealth(invocation: Invocation, id: string): Promise<number> {
  const evaluation = await shownEvaluation(invocation, id);
  const { DeploymentID, BlockedEval } = evaluation;
  if (codeOf(evaluation) !== 0 || !isId(DeploymentID) || isId(BlockedEval)) return codeOf(evaluation);
  return (await followDeployment(invocation, DeploymentID)).code;
}

function codeOf({ Status }: Evaluation): number {
  return Status === 'failed' || Status === 'canceled' ? 1 : 0;
}

async function shownEvaluation(invocation: Invocation, id: string): Promise<Evaluation> {
  const display = displayOn(invocation.terminal);
  const head = `evaluation ${short(id)} (${id})\n`;
  display.show(`${head}  waits for the scheduler\n`, head);
  const own = await ended(invocation, id);
  const other = own.Status === 'canceled' ? await supersederOf(invocation, own) : undefined;
  const evaluation = other ?? own;
  const handedOver = other === undefined ? '' : `evaluation ${short(other.ID)} has done its work\n`;
  const rest = handedOver + outcomeText(evaluation, await placedBy(invocation, evaluation.ID));
  display.end(head + rest, rest);
  return evaluation;
}

/** The evaluation of the whole job whose end canceled this one, because that left nothing to do for it; undefined when nobody has done its work. */
async function supersederOf(
  { box, inNamespace }: Invocation,
  { JobID, ModifyIndex }: Evaluation,
): Promise<Evaluation | undefined> {
  const { value } = await orThrow(box.jobs.evaluations(JobID, inNamespace));
  return value.find((other) => other.Status === 'complete' && other.ModifyIndex === ModifyIndex);
}

function outcomeText(evaluation: Evaluation, placed: readonly AllocationListStub[]): string {
  const lines = placed.map(
    ({ ID, TaskGroup, NodeName }) => `  allocation ${short(ID)} of group "${TaskGroup}" on ${NodeName}\n`,
  );
  return `${lines.join('')}evaluation ${short(evaluation.ID)} is ${evaluation.Status}\n${remainder(evaluation)}`;
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
