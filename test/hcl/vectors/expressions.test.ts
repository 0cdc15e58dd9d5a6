import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { evaluateExpression } from '../../../src/hcl/index.js';

interface Position {
  readonly line: number;
  readonly col: number;
  readonly endLine: number;
  readonly endCol: number;
}

interface Vector {
  readonly id: string;
  readonly expr: string;
  readonly phase: 'ok' | 'parse' | 'eval';
  readonly type?: string;
  readonly valueText?: string;
  readonly errors?: readonly Position[];
}

const path = new URL('../../golden/hcl-expressions.json', import.meta.url);
const vectors = JSON.parse(readFileSync(path, 'utf8')) as readonly Vector[];

/** Where the recorded behaviour is a defect that we do not repeat. */
const differences: Readonly<Record<string, { readonly reason: string; readonly text: string }>> = {
  'expr-523': {
    reason:
      'the right side of && was evaluated although the left side decides; we stop there, which accepts strictly more',
    text: 'false',
  },
};

describe('expression vectors', () => {
  test.each(vectors.filter(({ id }) => differences[id] === undefined).map((each) => [each.id, each] as const))(
    '%s',
    (_, vector) => {
      const result = evaluateExpression(vector.expr);
      if (vector.phase === 'ok') {
        expect(result._unsafeUnwrap()).toMatchObject({ type: vector.type, text: vector.valueText });
        return;
      }
      const [first] = result._unsafeUnwrapErr();
      const [wanted] = vector.errors ?? [];
      expect(first).toMatchObject({
        start: { line: wanted?.line, column: wanted?.col },
        end: { line: wanted?.endLine, column: wanted?.endCol },
      });
    },
  );

  test.each(Object.entries(differences))('%s differs on purpose', (id, { text }) => {
    const vector = vectors.find((each) => each.id === id);
    expect(evaluateExpression(vector?.expr ?? '')._unsafeUnwrap().text).toBe(text);
  });
});
