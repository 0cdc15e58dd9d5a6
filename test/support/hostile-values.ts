import fc from 'fast-check';

/** Strings that no well-behaved client sends. `hostileJson` writes numbers outside the range of JSON. */
export const hostileTexts: readonly string[] = [
  '',
  ' ',
  '\0',
  'a\0b',
  '.',
  '..',
  '../../etc/passwd',
  '/',
  '%',
  '%00',
  '\ud800',
  'x\udfffy',
  '\u202e',
  'ＡＢＣ',
  '💥',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  "'; DROP TABLE jobs; --",
  '<script>alert(1)</script>',
  '{{constructor}}',
  '\r\nX-Injected: yes',
  'NaN',
  '-1',
  '1e308',
  '1e999',
  '99999999999999999999',
  '0x10',
  '*',
  'default',
  'true',
  'nil',
  '5s',
  '-5s',
  `${'9'.repeat(40)}h`,
  ...['x', 'é', '[', '"'].map((character) => character.repeat(900)),
];

export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...hostileTexts),
  fc.string({ unit: 'binary', maxLength: 40 }),
);

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    2 ** 31,
    2 ** 53,
    -(2 ** 63),
    1e308,
    -1e308,
    [],
    {},
    [[]],
    [null],
    [{}],
    { data: null },
    { data: [] },
    { '': '' },
  ),
  fc.nat(200).map(nested),
  fc.constantFrom('__proto__', 'constructor', 'toString', '').map(withMember),
  fc.jsonValue({ maxDepth: 3 }),
);

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { k: value };
  return value;
}

/** An own member of that name, as JSON can contain it. */
function withMember(name: string): unknown {
  return JSON.parse(`{${JSON.stringify(name)}:{"x":1}}`) as unknown;
}

/** The paths of all values in a document, beginning with its own. */
export function pathsIn(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, item]) => pathsIn(item, [...path, key]))];
}

/** The document with the value at one path replaced. */
export function replacedAt(value: unknown, path: readonly string[], by: unknown): unknown {
  const [first, ...rest] = path;
  if (first === undefined) return by;
  const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...(value as object) }) as Record<string, unknown>;
  copy[first] = replacedAt(copy[first], rest, by);
  return copy;
}
