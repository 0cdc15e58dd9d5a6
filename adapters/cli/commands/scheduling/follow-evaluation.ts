import { orThrow } from '../../../../src/client/index.js';
import type { Job } from '../../../../src/index.js';
import type { AllocationListStub, Evaluation } from '../../../../src/scheduler/index.js';
import type { Invocation } from '../../command-line/command.js';
import { changesOf, displayOn, noDisplay, type Read } from '../../monitor/monitor.js';
import { type PlacedJob, placementFailures, placementFailuresInLine } from '../../output/placement-failures.js';
import { inOneLine, short } from '../../output/tables.js';
import { Stopped } from '../../stopped.js';
import { existing } from '../find-record.js';
import { followDeployment } from './follow-deployment.js';

/** The `wait` of a blocking query. */
const wait = '30s';

/** Exit codes of Nomad's commands that wait for the scheduler, which scripts expect. */
const failed = 1;

const unplaced = 2;

/**
 * Waits until the evaluation has ended, and shows the placements and failures. Returns the exit code: 2 if something
 * could not be placed, 1 if the evaluation failed.
 */
export async function followEvaluation(invocation: Invocation, id: string): Promise<number> {
  return reported(invocation, await shownEvaluation(invocation, id));
}

/** The same, then follows the evaluation's deployment until it ends or an allocation cannot be placed. */
export async function followToHealth(invocation: Invocation, id: string): Promise<number> {
  const evaluation = await shownEvaluation(invocation, id);
  const code = await reported(invocation, evaluation);
  const { DeploymentID } = evaluation;
  if (code !== 0 || !isId(DeploymentID)) return code;
  const evaluations = evaluationsOf(invocation, evaluation);
  const end = await followDeployment(invocation, DeploymentID, {
    read: evaluations,
    endsIt: (read) => unplacedSince(evaluation, read) !== undefined,
  });
  const blocked = unplacedSince(evaluation, end.watched ?? []);
  return blocked === undefined ? end.code : reported(invocation, blocked);
}

/**
 * The same for a batch job, until the job itself has ended. Returns 0 if all of it succeeded, 2 if a later allocation
 * could not be placed.
 */
export async function followToEnd(invocation: Invocation, id: string): Promise<number> {
  const evaluation = await shownEvaluation(invocation, id);
  const code = await reported(invocation, evaluation);
  if (code !== 0) return code;
  const { JobID } = evaluation;
  const { box, inNamespace } = invocation;
  const display = displayOf(invocation);
  const { JobModifyIndex } = await existing(box.jobs.read(JobID, inNamespace), `job ${JobID}`);
  display.show(`job "${JobID}" is running\n`, `job "${JobID}" is running\n`);
  const readJob: Read<Job> = async (waiting) => {
    const { value, index } = await orThrow(box.jobs.read(JobID, { ...inNamespace, ...waiting }));
    if (value === undefined) throw new Stopped(`job "${JobID}" was removed before it ended`);
    return { value, index };
  };
  for await (const [job, evaluations] of changesOf(readJob, evaluationsOf(invocation, evaluation))) {
    if (job.JobModifyIndex !== JobModifyIndex && !job.Stop) {
      throw new Stopped(
        `job "${JobID}" was registered again before it ended: version ${job.Version} replaces this run`,
      );
    }
    const blocked = unplacedSince(evaluation, evaluations);
    if (blocked !== undefined) {
      display.end('', '');
      return reported(invocation, blocked);
    }
    if (job.Status !== 'dead') continue;
    const { text, success } = await endOf(invocation, job);
    display.end(text, text);
    return success ? 0 : failed;
  }
  throw new Stopped(`cannot follow job "${JobID}"`);
}

async function endOf({ box, inNamespace }: Invocation, job: Job): Promise<{ text: string; success: boolean }> {
  // Loaded lazily: most commands do not wait for the end of a job, and the engine is large.
  const { allocationOutcome, outcomeWords, runOutcome } = await import('../../../../src/index.js');
  const allocations = await existing(box.jobs.allocations(job.ID, inNamespace), `job ${job.ID}`);
  const outcome = runOutcome(job, allocations) ?? 'stopped';
  const lines = allocations
    .filter((allocation) => outcome !== 'succeeded' && allocationOutcome(allocation) === outcome)
    .map(
      ({ ID, TaskGroup, NodeName }) =>
        `  allocation ${short(ID)} of group "${TaskGroup}" on ${NodeName}: signalbox alloc status ${short(ID)}\n`,
    );
  return {
    text: `job "${job.ID}" has ended: ${outcomeWords[outcome]}\n${lines.join('')}`,
    success: outcome === 'succeeded',
  };
}

function evaluationsOf({ box, inNamespace }: Invocation, { JobID }: Evaluation): Read<readonly Evaluation[]> {
  return (waiting) => orThrow(box.jobs.evaluations(JobID, { ...inNamespace, ...waiting }));
}

/** The latest evaluation of the job since this one, if it could not place everything. */
function unplacedSince(since: Evaluation, evaluations: readonly Evaluation[]): Evaluation | undefined {
  const later = evaluations.filter(
    ({ CreateIndex, Status }) => CreateIndex > since.CreateIndex && (Status === 'complete' || Status === 'failed'),
  );
  const latest = later.sort((one, other) => one.ModifyIndex - other.ModifyIndex).at(-1);
  return latest !== undefined && hasFailures(latest) ? latest : undefined;
}

function hasFailures({ FailedTGAllocs }: Evaluation): boolean {
  return Object.keys(FailedTGAllocs ?? {}).length > 0;
}

/** The exit code for an ended evaluation. Prints placement failures on standard error. */
async function reported(invocation: Invocation, evaluation: Evaluation): Promise<number> {
  const { terminal } = invocation;
  const { JobID, Status, StatusDescription } = evaluation;
  if (hasFailures(evaluation)) {
    const reasons = placementFailuresInLine(evaluation.FailedTGAllocs ?? {}, await jobOf(invocation, evaluation));
    terminal.error(`signalbox: ${inOneLine(`job "${JobID}" could not be placed: ${reasons}`)}\n`);
    return unplaced;
  }
  if (Status !== 'failed' && Status !== 'canceled') return 0;
  const why = StatusDescription === undefined || StatusDescription === '' ? '' : `: ${StatusDescription}`;
  terminal.error(`signalbox: ${inOneLine(`evaluation ${short(evaluation.ID)} is ${Status}${why}`)}\n`);
  return failed;
}

/** The job of an evaluation, if readable: messages name its drivers. */
export async function jobOf(
  { box, inNamespace }: Pick<Invocation, 'box' | 'inNamespace'>,
  evaluation: Evaluation,
): Promise<PlacedJob | undefined> {
  if (!hasFailures(evaluation)) return undefined;
  const read = await box.jobs.read(evaluation.JobID, inNamespace);
  return read.isOk() ? read.value.value : undefined;
}

function displayOf({ terminal, json }: Invocation) {
  return json ? noDisplay : displayOn(terminal);
}

async function shownEvaluation(invocation: Invocation, id: string): Promise<Evaluation> {
  const display = displayOf(invocation);
  const head = `evaluation ${short(id)} (${id})\n`;
  display.show(`${head}  is waiting for the scheduler\n`, head);
  const own = await ended(invocation, id);
  const other = own.Status === 'canceled' ? await supersederOf(invocation, own) : undefined;
  const evaluation = other ?? own;
  const handedOver = other === undefined ? '' : `evaluation ${short(other.ID)} has done its work\n`;
  const [placed, job] = await Promise.all([placedBy(invocation, evaluation.ID), jobOf(invocation, evaluation)]);
  const rest = handedOver + outcomeText(evaluation, placed, job);
  display.end(head + rest, rest);
  return evaluation;
}

/** The evaluation whose end canceled this one because it covered its work; undefined if no evaluation did. */
async function supersederOf(
  { box, inNamespace }: Invocation,
  { JobID, ModifyIndex }: Evaluation,
): Promise<Evaluation | undefined> {
  const { value } = await orThrow(box.jobs.evaluations(JobID, inNamespace));
  return value.find((other) => other.Status === 'complete' && other.ModifyIndex === ModifyIndex);
}

function outcomeText(
  evaluation: Evaluation,
  placed: readonly AllocationListStub[],
  job: PlacedJob | undefined,
): string {
  const lines = placed.map(
    ({ ID, TaskGroup, NodeName }) => `  allocation ${short(ID)} of group "${TaskGroup}" on ${NodeName}\n`,
  );
  return `${lines.join('')}evaluation ${short(evaluation.ID)} is ${evaluation.Status}\n${remainder(evaluation, job)}`;
}

/** The placement failures of an evaluation, and its follow-up evaluations. */
export function remainder({ FailedTGAllocs, BlockedEval, NextEval }: Evaluation, job?: PlacedJob): string {
  const failures = placementFailures(FailedTGAllocs ?? {}, job);
  const blocked = isId(BlockedEval) ? `evaluation ${short(BlockedEval)} waits to place the rest\n` : '';
  return failures + blocked + (isId(NextEval) ? `evaluation ${short(NextEval)} continues\n` : '');
}

function isId(id: string | undefined): id is string {
  return id !== undefined && id !== '';
}

function placedBy({ box, inNamespace }: Invocation, id: string) {
  return existing(box.evaluations.allocations(id, inNamespace), `evaluation ${id}`);
}

async function ended({ box, inNamespace }: Invocation, id: string): Promise<Evaluation> {
  for (let waiting = {}; ; ) {
    const { value, index } = await orThrow(box.evaluations.read(id, { ...inNamespace, ...waiting }));
    if (value === undefined) throw new Stopped(`there is no evaluation ${id}`);
    if (value.Status !== 'pending') return value;
    waiting = { index, wait };
  }
}
