import type { Invocation } from '../command-line/command.js';
import { short } from '../output/columns.js';
import { print } from './print.js';
import { followEvaluation } from './scheduling/follow-evaluation.js';

/** Option of the commands that ask for an evaluation. */
export const detach = { detach: { type: 'flag', summary: 'do not wait for what the scheduler makes of it' } } as const;

interface Effect {
  readonly evalId: string;
}

interface After {
  /** Without waiting: prints `done` and the evaluation. */
  readonly detached: boolean;
  readonly done: string;
  /** Without an evaluation: a line that tells why there is none. */
  readonly unplaced?: string;
  readonly follow?: typeof followEvaluation;
}

/** Follows the evaluation that a write created, unless there is none or `-detach` is given. */
export function afterwards(
  invocation: Invocation,
  answer: Effect,
  { detached, done, unplaced, follow = followEvaluation }: After,
): number | Promise<number> {
  const { terminal, json } = invocation;
  if (json) return print(invocation, answer, () => '');
  if (answer.evalId === '') {
    if (unplaced !== undefined) terminal.out(`${unplaced}\n`);
    return 0;
  }
  if (!detached) return follow(invocation, answer.evalId);
  terminal.out(`${done}, evaluation ${short(answer.evalId)} (${answer.evalId})\n`);
  return 0;
}
