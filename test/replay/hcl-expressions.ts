import { evaluateExpression } from '../../src/hcl/index.js';
import { firstDifference } from './difference.js';
import type { Play, Vector } from './player.js';

interface HclExpressionVector extends Vector {
  readonly expr: string;
  readonly phase: 'ok' | 'parse' | 'eval';
  readonly type?: string;
  readonly valueText?: string;
  readonly errors?: readonly {
    readonly line: number;
    readonly col: number;
    readonly endLine: number;
    readonly endCol: number;
  }[];
}

/** The value and type of an expression, or where its first error begins and ends. */
export const play: Play<HclExpressionVector> = ({ expr, type, valueText, errors }) =>
  evaluateExpression(expr).match(
    (value) => firstDifference({ type: value.type, valueText: value.text }, { type, valueText }),
    ([first]) => {
      const [wanted] = errors ?? [];
      const ours = first && {
        line: first.start.line,
        col: first.start.column,
        endLine: first.end.line,
        endCol: first.end.column,
      };
      return firstDifference(
        ours,
        wanted && { line: wanted.line, col: wanted.col, endLine: wanted.endLine, endCol: wanted.endCol },
      );
    },
  );
