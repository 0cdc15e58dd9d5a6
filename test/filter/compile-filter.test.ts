import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { filterCompiler } from '../../src/filter/compile-filter.js';
import { defaultNamespace } from '../../src/jobs/namespaces/namespace.js';
import { compileFilter } from '../../src/operations/listing/filters.js';
import {
  any,
  bytes,
  flag,
  float,
  integer,
  listOf,
  mapOf,
  nullable,
  storedAs,
  struct,
  text,
  time,
  unsigned,
} from '../../src/shared/schema.js';
import { jobFrom } from '../support/jobs.js';
import { anyText } from '../support/texts.js';

const part = struct({ Name: text, Size: unsigned, Tags: listOf(text) });
const schema = struct({
  Text: text,
  Perhaps: nullable(text),
  Flag: flag,
  Maybe: nullable(flag),
  Integer: integer,
  Unsigned: unsigned,
  Float: float,
  Time: time,
  Until: nullable(time),
  Bytes: bytes,
  Free: mapOf(any),
  Names: listOf(text),
  Numbers: listOf(integer),
  None: listOf(integer),
  Meta: mapOf(text),
  Parts: listOf(part),
  ByName: mapOf(nullable(part)),
  Part: part,
  Pointer: nullable(part),
  Inner: storedAs({ inline: true }, struct({ Deadline: integer })),
  Url: storedAs('URL', text),
});
const compile = filterCompiler(schema);

const record = {
  Text: 'hello',
  Perhaps: null,
  Flag: true,
  Maybe: null,
  Integer: -5,
  Unsigned: 7,
  Float: 1.5,
  Time: '2024-05-06T07:08:09Z',
  Until: null,
  Bytes: 'aMOp',
  Free: { s: 'text', n: 3, f: 1.5, t: true, nothing: null, list: ['a', 2, true, null, {}], deep: { k: 'v', '': 'e' } },
  Names: ['a', 'b'],
  Numbers: [1, 2],
  Meta: { owner: 'ops', 'a.b': 'dot' },
  Parts: [
    { Name: 'p', Size: 1, Tags: ['x'] },
    { Name: 'q', Size: 2, Tags: null },
  ],
  ByName: { p: { Name: 'p', Size: 1, Tags: [] }, gone: null },
  Part: { Name: 'one', Size: 9, Tags: null },
  Pointer: null,
  Deadline: 60,
  URL: 'https://x',
};

/** True, false, or the words of the error. */
const answer = (expression: string, of: unknown = record): boolean | string =>
  compile(expression)
    ._unsafeUnwrap()
    .matches(of)
    .match<boolean | string>(
      (matches) => matches,
      ({ message }) => message,
    );

describe('tests of values', () => {
  it.each([
    'Text == hello',
    'Text contains "ell"',
    '"ell" in Text',
    'Text matches "^h.*o$"',
    'Text is not empty',
    'Flag == T',
    'Maybe is nil',
    'Perhaps is nil',
    'Integer == "-0x5"',
    'Integer != 5',
    'Unsigned == "0b111"',
    'Float == 1.5',
    'Float == "15e-1"',
    'Time is not nil',
    'Until is nil',
    'Bytes is not empty',
    'Bytes contains 104',
    'Bytes.0 == 104',
    'Bytes matches "^hé$"',
    'Names contains a',
    'Names not contains c',
    '"2" in Numbers',
    'Meta contains "a.b"',
    'Meta["a.b"] == dot',
    '"/Meta/a.b" == dot',
    'Meta.owner == ops',
    'Meta.none != ops',
    'Meta.none not matches "("',
    'Meta.none is nil and Meta.none is empty',
    'not Meta.none is not nil',
    'Parts.1.Name == q',
    'Parts["0x1"].Name == q',
    'Parts.1.Tags is nil and Parts.1.Tags is empty',
    'ByName.p.Size == 1',
    'ByName.gone is nil',
    'ByName.other is nil',
    'Pointer is nil',
    'Pointer is nil or Pointer.Name == x',
    'Part is not nil',
    'Inner.Deadline == 60',
    'Url == "https://x"',
  ])('%s', (expression) => {
    expect(answer(expression)).toBe(true);
  });

  it.each([
    'Free.s == text',
    'Free.n == 3',
    'Free.f == 1.5',
    'Free.t == true',
    'Free.nothing is nil',
    'Free.none is nil',
    'Free.list contains 2',
    'Free.list contains true',
    'Free.list.0 == a',
    'Free.deep.k matches v',
    'Free.deep contains k',
    'Free.s contains ex',
    'Free.deep is not empty',
    'Free.list is not nil',
    'Free.deep[""] == e',
  ])('of any type: %s', (expression) => {
    expect(answer(expression)).toBe(true);
  });

  it.each([
    'any Names as n { n == b }',
    'all Names as n { n matches "[ab]" }',
    'any Names as i, n { i == 1 and n == b }',
    'any Names as i, _ { i == "0x1" }',
    'any Meta as k { k == owner }',
    'any Meta as _, v { v == ops }',
    'any Parts as p { any p.Tags as t { t == x and p.Name == p } }',
    'any ByName as k, v { k == p and v.Size == 1 }',
    'any Names as Text { Text == a }',
    'any Names as x { any Parts as x { x.Name == q } }',
    'all Meta.none as x { x == 1 }',
    'not (any Meta.none as x { x == 1 })',
    'any Free.list as x { x == a }',
    'any Bytes as i, byte { i == 0 and byte == 104 }',
    'all Bytes as byte { byte != 0 }',
    'any Free.deep as k { k == k }',
    'any Free.deep as k, v { k == k and v == v }',
  ])('quantified: %s', (expression) => {
    expect(answer(expression)).toBe(true);
  });

  it('takes what is missing for the zero value', () => {
    for (const expression of [
      'Text is empty',
      'Text == ""',
      'Flag == false',
      'Integer == 0',
      'Until is nil',
      'all Bytes as byte { byte == 1 }',
      'Float == 0',
      'Bytes is nil',
      'Names is nil',
      'Meta is nil',
      'Meta.x is nil',
      'Part.Name == ""',
      'Part is not nil',
      'Pointer is nil',
      'all Parts as p { p.Name == x }',
      'Inner.Deadline == 0',
    ]) {
      expect([expression, answer(expression, {})]).toEqual([expression, true]);
    }
  });
});

describe('what cannot be asked', () => {
  it.each([
    ['Nope == 1', '1:1: Nope: there is no member "Nope"'],
    ['Text == x and\n  Part.nope == 1', true],
    ['Flag == true and\n  Part.nope == 1', '2:3: Part.nope: there is no member "nope"'],
    ['constructor == 1', 'there is no member "constructor"'],
    ['"/__proto__/x" == 1', 'there is no member "__proto__"'],
    ['Flag == yes', '1:1: Flag: "yes" is not a value of type boolean'],
    ['Integer == 1.5', '"1.5" is not a value of type integer'],
    ['Unsigned == -1', '"-1" is not a value of type unsigned'],
    ['Integer == 9223372036854775808', '"9223372036854775808" is not a value of type integer'],
    ['Time == "2024-05-06T07:08:09Z"', 'a value of type time cannot be compared'],
    ['Names == a', 'a value of type list cannot be compared'],
    ['Part == a', 'a value of type struct cannot be compared'],
    ['Maybe == true', 'nil cannot be compared'],
    ['Perhaps contains x', 'it is nil'],
    ['Flag is nil', 'a value of type boolean is never nil'],
    ['Flag is empty', 'a value of type boolean cannot be tested for being empty'],
    ['Pointer is empty', 'a value of type struct cannot be tested for being empty'],
    ['Integer contains 1', 'a value of type integer has no elements'],
    ['Parts contains x', 'its elements, each of type struct, cannot be compared'],
    ['Numbers contains x', '"x" is not a value of type integer'],
    ['None contains x', '"x" is not a value of type integer'],
    ['Bytes.3 == 1', 'index 3 is beyond the 3 elements'],
    ['Text matches "("', '"(" is not a regular expression: missing closing )'],
    ['Names matches a', 'a pattern cannot match a value of type list'],
    ['Pointer.Name == x', '"Name" cannot be read from nil'],
    ['ByName.gone.Name == x', '"Name" cannot be read from nil'],
    ['ByName.other.Name == x', 'the map has no "other"'],
    ['Names.2 == x', 'index 2 is beyond the 2 elements of the list'],
    ['Names["-1"] == x', 'index -1 is beyond'],
    ['Names.x == x', '"x" is not a list index'],
    ['Text.x == x', '"x" cannot be a member of a value of type text'],
    ['Meta.owner.x == x', '"x" cannot be a member of a value of type text'],
    ['Free.nothing == x', 'it cannot be compared with "x"'],
    ['Free.n == x', 'it cannot be compared with "x"'],
    ['Free.s is nil', 'a plain value is never nil'],
    ['Free.none.x == 1', 'the map has no "none"'],
    ['Free.s.x == 1', '"x" cannot be read from a plain value'],
    ['Free.list.9 == 1', 'index 9 is beyond'],
    ['Free.list contains zzz', 'Free.list: an element cannot be compared'],
    ['any Text as t { t == x }', 'Text: it is neither a list nor a map'],
    ['any Free.s as t { t == x }', 'Free.s: it is neither a list nor a map'],
    ['any Names as n, n { n == x }', 'n cannot name both index and value'],
    ['any Meta as k { k.x == 1 }', '"x" cannot be a member of a value of type text'],
    ['Deadline == 60', 'there is no member "Deadline"'],
    ['URL == x', 'there is no member "URL"'],
  ])('%j', (expression, expected) => {
    if (expected === true) expect(answer(expression)).toBe(false);
    else expect(answer(expression)).toContain(expected);
  });

  it('goes on with the next record', () => {
    const filter = compile('Maybe == true')._unsafeUnwrap();
    expect(filter.matches(record).isErr()).toBe(true);
    expect(filter.matches({ ...record, Maybe: true })._unsafeUnwrap()).toBe(true);
  });
});

it('tells which members it looks at', () => {
  const filter = compile('Text == x or any Parts as p { p.Name == Integer or "x" in p.Tags }')._unsafeUnwrap();
  expect([...filter.members]).toEqual(['Text', 'Parts']);
});

it('is compiled once', () => {
  expect(compile('Text == kept')).toBe(compile('Text == kept'));
});

describe('bounds', () => {
  const wide = { Parts: Array.from({ length: 1_000 }, (_, at) => ({ Name: `n${at}`, Size: at, Tags: [] })) };

  it('gives up when quantified expressions multiply', () => {
    const nested = (depth: number): string =>
      depth === 0 ? 'Text == x' : `any Parts as p${depth} { ${nested(depth - 1)} }`;
    expect(answer(nested(1), wide)).toBe(false);
    for (const depth of [2, 3, 10]) expect(answer(nested(depth), wide)).toContain('too much work');
  });

  it('gives up when a pattern meets a long text', () => {
    expect(answer('Text matches "a{100}b"', { Text: 'a'.repeat(1e6) })).toContain('too much work');
    expect(answer('Text matches "^a{3}"', { Text: 'a'.repeat(10_000) })).toBe(true);
  });

  it('answers the longest filters in time', () => {
    const long = Array.from({ length: 3_000 }, (_, at) => `Text == "${at}"`).join(' or ');
    expect(answer(long)).toBe(false);
  }, 2_000);
});

describe('whatever is asked of whatever', () => {
  const name = fc.constantFrom(
    'Text',
    'Maybe',
    'Integer',
    'Time',
    'Free',
    'Names',
    'Meta',
    'Parts',
    'ByName',
    'Part',
    'Pointer',
    'x',
    '__proto__',
    '0',
    'Name',
  );
  const selector = fc
    .array(name, { minLength: 1, maxLength: 4 })
    .map((names) => names.map((each, at) => (at === 0 ? each : `["${each}"]`)).join(''))
    .filter((written) => !written.startsWith('0') && !written.startsWith('_'));
  const value = fc.oneof(
    anyText(8).map((each) => `\`${each.replaceAll('`', '')}\``),
    fc.constantFrom('1', 'true', 'x', '"0x1"', '"("'),
  );
  const match = fc.oneof(
    fc
      .tuple(selector, fc.constantFrom('==', '!=', 'contains', 'not contains', 'matches'), value)
      .map((words) => words.join(' ')),
    fc
      .tuple(selector, fc.constantFrom('is empty', 'is not empty', 'is nil', 'is not nil'))
      .map((words) => words.join(' ')),
  );
  const { expression } = fc.letrec<{ expression: string; item: string }>((tie) => ({
    item: fc.oneof(
      { maxDepth: 3 },
      match,
      fc
        .tuple(fc.constantFrom('any', 'all'), selector, fc.constantFrom('x', 'i, x', '_, x'), tie('expression'))
        .map(([kind, of, names, inner]) => `(${kind} ${of} as ${names} { ${inner} })`),
      tie('expression').map((inner) => `not (${inner})`),
    ),
    expression: fc
      .array(tie('item'), { minLength: 1, maxLength: 3 })
      .chain((items) => fc.constantFrom(' and ', ' or ').map((by) => items.join(by))),
  }));

  test('there is an answer, the same each time, and a filter never changes the record', () => {
    const records = fc.oneof(
      fc.constant(record),
      fc.constant({}),
      fc.dictionary(fc.constantFrom('Text', 'Names', 'Parts', 'Meta', 'Free', 'ByName', 'Part'), fc.jsonValue()),
    );
    fc.assert(
      fc.property(expression, records, (written, of) => {
        const before = JSON.stringify(of);
        const first = answer(written, of);
        expect(answer(written, of)).toBe(first);
        if (typeof first === 'boolean') expect(answer(`not (${written})`, of)).toBe(!first);
        expect(JSON.stringify(of)).toBe(before);
      }),
      { numRuns: 500 },
    );
  });
});

describe('filters of lists', () => {
  const job = jobFrom({ ID: 'web', Type: 'service', Meta: { owner: 'ops' } });

  it.each([
    'Type == "service" and Meta.owner == ops',
    'Periodic is nil and ParameterizedJob is nil',
    'ParentID == "" and Priority == 50',
    'any TaskGroups as g { g.Count == 1 and (any g.Tasks as t { t.Driver == raw_exec }) }',
    'TaskGroups.0.Tasks.0.Resources.CPU != 0',
    'Update.Stagger == 30000000000 or Update.Stagger == 0',
  ])('of stored jobs: %s', (expression) => {
    expect(compileFilter.job(expression)._unsafeUnwrap().matches(job)._unsafeUnwrap()).toBe(true);
  });

  it('name every member of a stored job', () => {
    for (const name of Object.keys(job)) {
      const result = compileFilter.job(`${name} is nil or ${name} == x`)._unsafeUnwrap().matches(job);
      expect(result.isErr() ? result.error.message : '').not.toContain('there is no member');
    }
  });

  it('name every member of a namespace, and what no evaluation has here', () => {
    for (const name of Object.keys(defaultNamespace)) {
      const result = compileFilter
        .namespace(`${name} is nil or ${name} == x`)
        ._unsafeUnwrap()
        .matches(defaultNamespace);
      expect(result.isErr() ? result.error.message : '').not.toContain('there is no member');
    }
    const evaluation = compileFilter.evaluation('MissingNonNodeResources is empty')._unsafeUnwrap();
    expect(evaluation.matches({})._unsafeUnwrap()).toBe(true);
  });

  it('tell a token that never expires', () => {
    const filter = compileFilter.token('ExpirationTime is nil')._unsafeUnwrap();
    expect(filter.matches({ ExpirationTime: null })._unsafeUnwrap()).toBe(true);
    expect(filter.matches({ ExpirationTime: '2026-01-01T00:00:00Z' })._unsafeUnwrap()).toBe(false);
  });

  it('of jobs do not name what only stubs have', () => {
    for (const name of ['JobSummary', 'Children', 'JobVersion']) {
      const result = compileFilter.job(`${name} is nil`)._unsafeUnwrap().matches(job);
      expect(result._unsafeUnwrapErr().message).toContain('there is no member');
    }
  });
});
