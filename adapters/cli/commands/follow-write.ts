import type { Job } from '../../../src/index.js';
import { type Invocation, option } from '../command-line/command.js';
import { short } from '../output/tables.js';
import { Stopped } from '../stopped.js';
import { print } from './print.js';
import { followEvaluation, followToEnd, followToHealth } from './scheduling/follow-evaluation.js';

/** Option of the commands that create an evaluation. */
export const detach = {
  detach: option.flag('do not wait for the scheduler'),
} as const;

/** Options of the commands that start a run of a batch job. */
export const detachOrWait = {
  ...detach,
  wait: option.flag('wait for the end of a batch job; the exit code is its outcome'),
} as const;

interface Effect {
  readonly evalId: string;
}

interface After {
  /** Do not wait: print the message `done` and the evaluation. */
  readonly detached: boolean;
  readonly done: string;
  readonly follow?: typeof followEvaluation;
}

/** Follows the evaluation of a write, if there is one and `-detach` is not given. Returns the exit code. */
export async function followWrite(
  invocation: Invocation,
  answer: Effect,
  { detached, done, follow = followEvaluation }: After,
): Promise<number> {
  const { terminal, json } = invocation;
  if (json) print(invocation, answer, () => '');
  if (answer.evalId === '') return 0;
  if (!detached) return follow(invocation, answer.evalId);
  if (!json) terminal.out(`${done}, evaluation ${short(answer.evalId)} (${answer.evalId})\n`);
  return 0;
}

/** The same for a registration: follows it until its deployment has ended, or with `wait` until its batch job has ended. */
export async function followRegistration(
  invocation: Invocation,
  answer: Effect,
  { detached, done, wait = false }: Pick<After, 'detached' | 'done'> & { readonly wait?: boolean },
): Promise<number> {
  if (answer.evalId === '' && !invocation.json) {
    invocation.terminal.out(`${done}; it runs when dispatched or at its next scheduled time\n`);
  }
  return followWrite(invocation, answer, { detached, done, follow: wait ? followToEnd : followToHealth });
}

/** Throws `Stopped` if both `-wait` and `-detach` are given. */
export function checkWait({ wait, detach }: { readonly wait: boolean; readonly detach: boolean }): void {
  if (wait && detach) throw new Stopped('-wait and -detach exclude each other: give one of them', 2);
}

/** Throws `Stopped` if `-wait` is given for a job whose end cannot be awaited: a service, or a job that only launches others. */
export function checkWaitFor(options: Parameters<typeof checkWait>[0], job: WaitedJob): void {
  checkWait(options);
  if (!options.wait) return;
  const { Type, Periodic, ParameterizedJob, Dispatched } = job;
  if (Type !== 'batch' && Type !== 'sysbatch') {
    const type = typeof Type === 'string' && Type !== '' ? Type : 'service';
    throw new Stopped(`-wait is for batch and sysbatch jobs, but this is a ${type} job: omit it`, 2);
  }
  if (isGiven(Periodic) || (isGiven(ParameterizedJob) && Dispatched !== true)) {
    throw new Stopped(
      '-wait has no effect here: the job runs when dispatched or at its next scheduled time; ' +
        'use -wait with job dispatch or job periodic force',
      2,
    );
  }
}

type WaitedJob = { readonly [K in 'Type' | 'Periodic' | 'ParameterizedJob' | 'Dispatched']?: unknown } | Job;

function isGiven(block: unknown): boolean {
  return block !== undefined && block !== null;
}
