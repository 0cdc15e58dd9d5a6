import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonFaultIn, jsonFaultText, jsonValueEnd } from '../../src/shared/json-scan.js';

function told(text: string): string | undefined {
  const fault = jsonFaultIn(text);
  return fault === undefined ? undefined : jsonFaultText(text, fault);
}

describe('the fault of a JSON text', () => {
  it.each([
    ['', 'unexpected end of JSON input'],
    [' \n', 'unexpected end of JSON input'],
    ['["a"', 'unexpected end of JSON input'],
    ['{"a":', 'unexpected end of JSON input'],
    ['"open', 'unexpected end of JSON input'],
    ['tru', 'unexpected end of JSON input'],
    ['-', 'unexpected end of JSON input'],
    ['ls -l', "invalid character 'l' looking for beginning of value"],
    ["['a']", "invalid character '\\'' looking for beginning of value"],
    ['[,]', "invalid character ',' looking for beginning of value"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['\\', "invalid character '\\\\' looking for beginning of value"],
    ['é', "invalid character 'Ã' looking for beginning of value"],
    ['["a"] x', "invalid character 'x' after top-level value"],
    ['01', "invalid character '1' after top-level value"],
    ['["a" "b"]', "invalid character '\"' after array element"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 2}', "invalid character '2' after object key:value pair"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ['"\u0001"', "invalid character '\\x01' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1e+x', "invalid character 'x' in exponent of numeric literal"],
    ['trie', "invalid character 'i' in literal true (expecting 'u')"],
  ])('of %j is told in the words that clients know', (text, expected) => {
    expect(told(text)).toBe(expected);
  });

  it('is found exactly where there is one', () => {
    const almostJson = fc
      .tuple(fc.json({ maxDepth: 3 }), fc.nat(40), fc.constantFrom(...',"}]\\0-.e:\nut'))
      .map(([json, at, inserted]) => json.slice(0, at) + inserted + json.slice(at + 1));
    fc.assert(
      fc.property(fc.oneof(fc.json(), almostJson, fc.string()), (text) => {
        let readable = true;
        try {
          JSON.parse(text);
        } catch {
          readable = false;
        }
        expect(jsonFaultIn(text) === undefined).toBe(readable);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the end of the first value', () => {
  it.each([
    ['{"a":[1,"}"]} and more', 13],
    ['7 8', 1],
    [' [] ', 3],
    ['{}{}', 2],
    ['01', 1],
  ])('of %j is %i', (text, end) => {
    expect(jsonValueEnd(text)).toBe(end);
  });

  it('takes no stack for nesting', () => {
    const depth = 1_000_000;
    expect(jsonValueEnd('['.repeat(depth) + ']'.repeat(depth))).toBe(2 * depth);
  });
});
