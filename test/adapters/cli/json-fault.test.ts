import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonFault } from '../../../adapters/cli/json-fault.js';

describe('findJsonFault', () => {
  it.each<[string, number, number]>([
    ['', 1, 1],
    ['{\n  "a": 1,\n}', 3, 1],
    ['{\n  "a" 1\n}', 2, 7],
    ['{"a":x}', 1, 6],
    ['[1, 2', 1, 6],
    ['[1 2]', 1, 4],
    ['{"a":1}}', 1, 8],
    ['{"a":01}', 1, 7],
    ['"a\nb"', 1, 3],
    ['"\\x"', 1, 3],
    ['"open', 1, 1],
    ["{'a':1}", 1, 2],
    ['[tru]', 1, 2],
    ['[1}', 1, 3],
    ['\ufeff[,]', 1, 3],
  ])('locates the fault of %j at line %i, column %i', (text, line, column) => {
    expect(findJsonFault(text)).toMatchObject({ line, column });
  });

  it('finds a fault exactly where the engine does', () => {
    const almostJson = fc
      .tuple(
        fc.json({ maxDepth: 3 }),
        fc.nat(40),
        fc.constantFrom('', ',', '"', '}', ']', '\\', '0', '-', '.', 'e', ':', '\n'),
      )
      .map(([json, at, inserted]) => json.slice(0, at) + inserted + json.slice(at + 1));
    fc.assert(
      fc.property(fc.oneof(fc.json(), almostJson, fc.string()), (text) => {
        let readable = true;
        try {
          JSON.parse(text);
        } catch {
          readable = false;
        }
        expect(findJsonFault(text) === undefined).toBe(readable);
      }),
      { numRuns: 2000 },
    );
  });

  it('does not overflow on deep nesting', () => {
    expect(findJsonFault('['.repeat(1_000_000))).toMatchObject({ line: 1, column: 1_000_001 });
  });
});
