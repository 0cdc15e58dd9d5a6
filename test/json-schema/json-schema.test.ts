import { describe, expect, it } from 'vitest';
import { faultsBySchema, schemaProblems } from '../../src/json-schema/index.js';

const problems = (schema: unknown) => schemaProblems(JSON.stringify(schema));
const faults = (schema: unknown, value: unknown) => {
  expect(problems(schema)).toEqual([]);
  return faultsBySchema(JSON.stringify(schema), value);
};
const pathsOf = (schema: unknown, value: unknown) => faults(schema, value).map(({ path }) => path.join('/'));

const recursive = { $defs: { tree: { properties: { next: { $ref: '#/$defs/tree' }, n: { type: 'integer' } } } } };

/** A schema with a condition; an object that is written with `then` would look like a promise. */
const branches = (condition: unknown, fitting: unknown, other: unknown) =>
  Object.fromEntries([
    ['if', condition],
    ['then', fitting],
    ['else', other],
  ]);

/** A schema, values that fit it, and values that do not. */
const keywords: readonly (readonly [schema: unknown, fitting: readonly unknown[], unfit: readonly unknown[]])[] = [
  [true, [null, 1, {}], []],
  [false, [], [null, {}]],
  [{ type: 'integer' }, [1, 1.0, -3, 1e30], [1.5, '1', null, true]],
  [{ type: ['string', 'null'] }, ['', null], [0, [], {}]],
  [{ type: 'object' }, [{}], [[], null]],
  [{ enum: [1, { a: [1], b: null }] }, [1, { b: null, a: [1] }], ['1', { a: [1] }, true]],
  [{ const: { ' ': [['a', 1]] } }, [{ ' ': [['a', 1]] }], [{ a: 1 }]],
  [{ const: 0 }, [0, -0], [false, null, '']],
  [{ minimum: 1, maximum: 2 }, [1, 2, 'x'], [0.9, 2.1]],
  [{ exclusiveMinimum: 1, exclusiveMaximum: 2 }, [1.1], [1, 2]],
  [{ minimum: 1, exclusiveMinimum: true }, [1.1], [1]],
  [{ minimum: 1, exclusiveMinimum: false }, [1], [0]],
  [{ multipleOf: 0.1 }, [0.3, 1.1, 0, -0.7], [0.35]],
  [{ multipleOf: 3 }, [9, 0], [10, 0.5]],
  [{ multipleOf: 1e-8 }, [12391239123], [1e-9]],
  [{ minLength: 2, maxLength: 2 }, ['ab', '😀😀', 1], ['a', '😀', 'abc']],
  [{ pattern: 'b+' }, ['abc', 1], ['ac', '']],
  [{ format: 'date' }, ['2024-02-29', 5], ['2023-02-29', '2024-2-1']],
  [{ format: 'int32' }, [5, 'x'], [2 ** 31, 1.5]],
  [{ items: { type: 'string' }, minItems: 1, maxItems: 2 }, [['a'], {}], [[], [1], ['a', 'b', 'c']]],
  [{ prefixItems: [{ type: 'string' }], items: false }, [[], ['a']], [[1], ['a', 1]]],
  [{ items: [{ type: 'string' }], additionalItems: { type: 'null' } }, [['a', null]], [['a', 1]]],
  [{ contains: { const: 1 } }, [[0, 1]], [[], [0]]],
  [{ contains: { const: 1 }, minContains: 0, maxContains: 1 }, [[], [1, 0]], [[1, 1]]],
  [
    { uniqueItems: true },
    [
      [1, '1', true],
      [{ a: 1 }, { a: 2 }],
    ],
    [
      [1, 1.0],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ],
  [{ uniqueItems: false }, [[1, 1]], []],
  [{ required: ['a'] }, [{ a: null }, 1, []], [{}, { b: 1 }]],
  [{ minProperties: 1, maxProperties: 2 }, [{ a: 1 }], [{}, { a: 1, b: 2, c: 3 }]],
  [{ properties: { a: { type: 'string' } }, additionalProperties: false }, [{ a: 'x' }, {}], [{ a: 1 }, { b: 1 }]],
  [
    {
      patternProperties: { '^x': { type: 'null' } },
      properties: { xa: true },
      additionalProperties: { type: 'string' },
    },
    [{ xb: null, y: 'z' }],
    [{ xa: 1 }, { y: 1 }],
  ],
  [{ propertyNames: { maxLength: 1 } }, [{ a: 1 }], [{ ab: 1 }]],
  [{ dependentRequired: { a: ['b'] } }, [{ b: 1 }, { a: 1, b: 1 }], [{ a: 1 }]],
  [{ dependentSchemas: { a: { required: ['b'] } } }, [{}, { a: 1, b: 1 }], [{ a: 1 }]],
  [{ dependencies: { a: ['b'], c: { required: ['d'] } } }, [{ a: 1, b: 1, c: 1, d: 1 }], [{ a: 1 }, { c: 1 }]],
  [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1], [3]],
  [{ anyOf: [{ type: 'string' }, { minimum: 2 }] }, ['a', 2], [1]],
  [{ oneOf: [{ minimum: 2 }, { multipleOf: 2 }] }, [3, 0], [4, 1]],
  [{ not: { type: 'string' } }, [1], ['a']],
  [branches({ minimum: 5 }, { multipleOf: 5 }, { multipleOf: 2 }), [10, 4], [6, 3]],
  [{ $ref: '#/definitions/a~1b%25', definitions: { 'a/b%': { type: 'null' } } }, [null], [1]],
  [{ $ref: '#word', $defs: { w: { $anchor: 'word', type: 'null' } } }, [null], [1]],
  [{ $id: 'https://a.example/s', $ref: 'https://a.example/s#/$defs/w', $defs: { w: { type: 'null' } } }, [null], [1]],
  [{ $ref: '#/properties/a', properties: { a: { type: 'object' } } }, [{}], [1]],
  [{ ...recursive, $ref: '#/$defs/tree', required: ['n'] }, [{ n: 1, next: {} }], [{}, { n: 1, next: { n: 'x' } }]],
  [
    { title: 't', description: 'd', default: 5, examples: [1], readOnly: true, 'x-mine': 1, $comment: '' },
    [1, 'a'],
    [],
  ],
];

describe('keywords', () => {
  it.each(keywords)('%j', (schema, fitting, unfit) => {
    for (const value of fitting) expect(faults(schema, value), JSON.stringify(value)).toEqual([]);
    for (const value of unfit) expect(faults(schema, value), JSON.stringify(value)).not.toEqual([]);
  });

  it('tell where a value is at fault, all of them up to twenty', () => {
    const schema = { required: ['a'], properties: { l: { items: { properties: { n: { type: 'number' } } } } } };
    expect(pathsOf(schema, { l: [{ n: 1 }, { n: '' }, { n: null }] })).toEqual(['a', 'l/1/n', 'l/2/n']);
    expect(
      pathsOf(
        { items: false },
        Array.from({ length: 30 }, () => 1),
      ),
    ).toHaveLength(20);
    expect(pathsOf({ uniqueItems: true }, [0, 1, 0])).toEqual(['2']);
    expect(pathsOf({ propertyNames: { maxLength: 1 } }, { ab: 1 })).toEqual(['ab']);
    expect(pathsOf({ $ref: '#/$defs/a', $defs: { a: { minimum: 2 } } }, 1)).toEqual(['']);
  });
});

describe('what cannot be enforced is a problem', () => {
  const draft7 = 'http://json-schema.org/draft-07/schema#';
  it.each([
    [{ type: 'text' }, '/type'],
    [{ type: [] }, '/type'],
    [{ enum: [] }, '/enum'],
    [{ minimum: '1' }, '/minimum'],
    [{ exclusiveMinimum: true }, '/exclusiveMinimum'],
    [{ multipleOf: 0 }, '/multipleOf'],
    [{ minLength: -1 }, '/minLength'],
    [{ minLength: 1.5 }, '/minLength'],
    [{ pattern: 1 }, '/pattern'],
    [{ pattern: '(' }, '/pattern'],
    [{ pattern: '(?=a)' }, '/pattern'],
    [{ pattern: '(a)\\1' }, '/pattern'],
    [{ pattern: 'a'.repeat(1_001) }, '/pattern'],
    [{ pattern: '(a{1,100}){1,100}' }, '/pattern'],
    [{ patternProperties: { '(?<!a)b/': true } }, '/patternProperties/(?<!a)b~1'],
    [{ format: 'colour' }, '/format'],
    [{ required: 'a' }, '/required'],
    [{ required: true }, '/required'],
    [{ properties: { a: { required: [1] } } }, '/properties/a/required'],
    [{ properties: [] }, '/properties'],
    [{ properties: { a: 1 } }, '/properties/a'],
    [{ items: 'string' }, '/items'],
    [{ additionalItems: false }, '/additionalItems'],
    [{ prefixItems: {} }, '/prefixItems'],
    [{ minContains: 1 }, '/minContains'],
    [{ uniqueItems: 1 }, '/uniqueItems'],
    [{ dependentRequired: { a: { type: 'null' } } }, '/dependentRequired'],
    [{ allOf: [] }, '/allOf'],
    [{ anyOf: {} }, '/anyOf'],
    [Object.fromEntries([['then', true]]), '/then'],
    [{ $ref: 'https://a.example/b' }, '/$ref'],
    [{ $ref: '#/$defs/a' }, '/$ref'],
    [{ $ref: '#/properties', properties: {} }, '/$ref'],
    [{ allOf: [{ $anchor: 'a' }, { $anchor: 'a' }] }, '/allOf/1/$anchor'],
    [{ $schema: 'https://a.example/meta' }, '/$schema'],
    [{ properties: { a: { $id: 'b' } } }, '/properties/a/$id'],
    [{ $schema: draft7, properties: { a: { $ref: '#', minimum: 1 } } }, '/properties/a/minimum'],
    [{ unevaluatedProperties: false }, '/unevaluatedProperties'],
    [{ $dynamicRef: '#a' }, '/$dynamicRef'],
    [{ nullable: true }, '/nullable'],
    [{ requird: ['a'] }, '/requird'],
    [{ $ref: '#' }, ''],
    [{ allOf: [{ not: { $ref: '#' } }] }, ''],
  ])('%j', (schema, pointer) => {
    expect(problems(schema).map((problem) => problem.pointer)).toContain(pointer);
  });

  it('and all of them are told, up to twenty', () => {
    expect(problems({ minimum: '', properties: { a: { nullable: true } } })).toHaveLength(2);
    expect(problems({ allOf: Array.from({ length: 50 }, () => 1) })).toHaveLength(20);
  });

  it.each(['2020-12', '2019-09'])('$schema of %s', (version) => {
    expect(problems({ $schema: `https://json-schema.org/draft/${version}/schema` })).toEqual([]);
  });
});

describe('a part with a problem, in a schema that is used nevertheless', () => {
  const unclear = { pattern: '(?=a)' };
  const verdict = (schema: unknown, value: unknown): boolean => {
    expect(problems(schema)).not.toEqual([]);
    return faultsBySchema(JSON.stringify(schema), value).length === 0;
  };

  it.each([
    ['goes on with the rest', { ...unclear, maxLength: 1 }, ['a'], ['ab']],
    ['not: neither way', { not: unclear }, ['a', 'b'], []],
    ['not: what else makes it unfit', { not: { ...unclear, maxLength: 1 } }, ['a', 'ab'], []],
    ['anyOf: may fit', { anyOf: [{ type: 'null' }, unclear] }, [null, 'a'], []],
    ['oneOf: two that fit for certain', { oneOf: [true, unclear, { minLength: 2 }] }, ['a'], ['ab']],
    ['oneOf: none can fit', { oneOf: [{ ...unclear, minLength: 2 }] }, ['ab'], ['a']],
    ['if: both ways refuse', branches(unclear, { minLength: 2 }, { minLength: 3 }), ['ab'], ['a']],
    ['contains: too few', { contains: { ...unclear, type: 'string' } }, [['a']], [[1], []]],
    ['contains: too many', { contains: { anyOf: [unclear, { const: 1 }] }, maxContains: 1 }, [['a']], [[1, 1]]],
    [
      'a name that may be meant',
      { patternProperties: { '(?=a)': { minimum: 2 } }, additionalProperties: false },
      [{ a: 1 }],
      [],
    ],
    ['an unknown keyword', { requird: ['a'], required: ['b'] }, [{ b: 1 }], [{ a: 1 }]],
    ['a reference without a target', { $ref: '#/$defs/none', minimum: 1 }, [1], [0]],
  ])('%s', (_name, schema, fitting, unfit) => {
    for (const value of fitting) expect(verdict(schema, value), JSON.stringify(value)).toBe(true);
    for (const value of unfit) expect(verdict(schema, value), JSON.stringify(value)).toBe(false);
  });

  it('what is beside a reference in an old version is left out', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $ref: '#/definitions/a',
      minimum: 5,
      definitions: { a: { maximum: 9 } },
    };
    expect(verdict(schema, 1)).toBe(true);
    expect(verdict(schema, 10)).toBe(false);
  });
});

describe('the work is bounded', () => {
  const nested = (levels: number, around: (inner: unknown) => unknown, innermost: unknown = {}): unknown =>
    Array.from({ length: levels }).reduce<unknown>((inner) => around(inner), innermost);

  it('for patterns that take exponential time elsewhere', () => {
    expect(faults({ pattern: '^(a+)+$' }, `${'a'.repeat(20_000)}!`)).toHaveLength(1);
    expect(faults({ patternProperties: { '^(a*)*b$': false } }, { [`${'a'.repeat(20_000)}!`]: 1 })).toEqual([]);
  });

  it('for a large pattern and a long text, which is at fault', () => {
    const schema = { pattern: `^(${'(a|b|c){1,9}'.repeat(20)})$` };
    expect(faults(schema, 'a'.repeat(200_000))).toMatchObject([{ message: expect.stringContaining('too much work') }]);
  });

  it('for references that double at each level', () => {
    const doubled = (at: number) => ({ anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }] });
    const $defs = Object.fromEntries([
      ...Array.from({ length: 40 }, (_, at) => [`d${at}`, doubled(at)]),
      ['d40', { type: 'string' }],
    ]);
    expect(faults({ $ref: '#/$defs/d0', $defs }, { a: 1 })).toHaveLength(1);
    expect(faults({ $ref: '#/$defs/d0', $defs }, 1)).toHaveLength(1);
  });

  it('for alternatives that look into the same data again', () => {
    const alternative = (kind: number) => ({
      properties: { in: { $ref: '#' }, kind: { const: kind } },
      required: ['kind'],
    });
    const schema = { oneOf: [alternative(1), alternative(2)] };
    expect(
      faults(
        schema,
        nested(200, (inner) => ({ in: inner, kind: 1 }), { kind: 2 }),
      ),
    ).toEqual([]);
  });

  it('for many elements that must differ', () => {
    expect(
      faults(
        { uniqueItems: true },
        Array.from({ length: 10_000 }, (_, at) => ({ at })),
      ),
    ).toEqual([]);
  });

  it('for schemas and data that are nested deep', () => {
    expect(problems(nested(101, (inner) => ({ items: inner })))).toMatchObject([{ pointer: '' }]);
    expect(problems(nested(99, (inner) => ({ items: inner })))).toEqual([]);
    expect(
      faults(
        { items: { $ref: '#' } },
        nested(5_000, (inner) => [inner], []),
      ),
    ).toMatchObject([{ message: 'is nested too deeply' }]);
  });

  it('for patterns that take long to compile together', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [at, { pattern: `\\p{L}{1,90}${at}` }]),
    );
    expect(problems({ properties })[0]?.message).toContain('too long to compile');
  });
});
