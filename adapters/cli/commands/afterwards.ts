import type { Invocation } from '../command-line/command.js';
import { short } from '../output/columns.js';
import { print } from './print.js';
import { followEvaluation, followToHealth } from './scheduling/follow-evaluation.js';

/** Option of the commands that ask for an evaluation. */
export const detach = { detach: { type: 'flag', summary: 'do not wait for what the scheduler makes of it' } } as const;

interface Effect {
  readonly evalId: string;
}

interface After {
  /** Without waiting: prints `done` and the evaluation. */
  readonly detached: boolean;
  readonly done: string;
  readonly follow?: typeof followEvaluation;
}

/** Follows the evaluation that a write created, unless there is none or `-detach` is given. */
export function afterwards(
  invocation: Invocation,
  answer: Effect,
  { detached, done, follow = followEvaluation }: After,
): number | Promise<number> {
  const { terminal, json } = invocation;
  if (json) return print(invocation, answer, () => '');
  if (answer.evalId === '') return 0;
  if (!detached) return follow(invocation, answer.evalId);
  terminal.out(`${done}, evaluation ${short(answer.evalId)} (${answer.evalId})\n`);
  return 0;
}

/** The same for a registration, whose evaluation is followed until its deployment is over. */
export function afterRegistration(
  invocation: Invocation,
  answer: Effect,
  { detached, done }: Pick<After, 'detached' | 'done'>,
): number | Promise<number> {
  if (answer.evalId === '' && !invocation.json) {
    invocation.terminal.out(`${done}; it runs when it is dispatched or its time comes\n`);
  }
  return afterwards(invocation, answer, { detached, done, follow: followToHealth });
}
