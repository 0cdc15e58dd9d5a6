import { expect, it } from 'vitest';
import { evaluateExpression } from '../../../src/hcl/evaluate/evaluate-expression.js';

/** An expression, the JSON text of its value, and its type where the text does not tell it. */
export type Row = readonly [expression: string, text: string, type?: string];

/** One test for each row. */
export function expectValues(rows: readonly Row[]): void {
  it.each(rows.map(([expression, text, type]) => ({ expression, text, type })))(
    '$expression',
    ({ expression, text, type }) => {
      const result = evaluateExpression(expression);
      expect(result.isErr() ? result.error.map(({ message }) => message) : result.value.text).toEqual(text);
      if (type !== undefined && result.isOk()) expect(result.value.type).toBe(type);
    },
  );
}

/** One test for each expression: it has no value, and says why without throwing. */
export function expectErrors(expressions: readonly string[]): void {
  it.each(expressions)('%s has no value', (expression) => {
    const result = evaluateExpression(expression);
    expect(result.isOk() ? result.value.text : 'error').toBe('error');
  });
}
