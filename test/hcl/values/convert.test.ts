import { describe, expect, it } from 'vitest';
import { convert } from '../../../src/hcl/values/convert.js';
import { fromPlain, toPlain } from '../../../src/hcl/values/plain.js';
import { typeText, valueText } from '../../../src/hcl/values/render.js';
import { unifyTypes } from '../../../src/hcl/values/unify.js';
import {
  boolType,
  dynamicNull,
  dynamicType,
  type HclType,
  listOf,
  listValue,
  mapOf,
  mapValue,
  nullValue,
  numberType,
  numberValue,
  objectOf,
  setOf,
  setValue,
  stringType,
  stringValue,
  tupleOf,
  typeOf,
} from '../../../src/hcl/values/value.js';

const value = (data: unknown) => fromPlain(data)._unsafeUnwrap();
const object = (attributes: Record<string, HclType>) => objectOf(Object.entries(attributes));

describe('convert', () => {
  it.each<[unknown, HclType, string]>([
    [1.5, stringType, '"1.5"'],
    [true, stringType, '"true"'],
    ['-1.50', numberType, '-1.5'],
    ['1e3', numberType, '1000'],
    ['1', boolType, 'true'],
    ['false', boolType, 'false'],
    [[1, '2'], listOf(numberType), '[1,2]'],
    [[1, 'a'], listOf(dynamicType), '["1","a"]'],
    [[[1], ['a']], listOf(listOf(dynamicType)), '[["1"],["a"]]'],
    [['b', 'a', 'b'], setOf(stringType), '["a","b"]'],
    [{ b: 1, a: 'x' }, mapOf(dynamicType), '{"a":"x","b":"1"}'],
    [{ a: 1, extra: 2 }, object({ a: stringType }), '{"a":"1"}'],
    [[1, 'x'], tupleOf([stringType, dynamicType]), '["1","x"]'],
    [[null, 'x'], listOf(stringType), '[null,"x"]'],
    [[null, 1], listOf(dynamicType), '[null,1]'],
    [[null, null], listOf(dynamicType), '[null,null]'],
    [[null, ['a']], listOf(listOf(dynamicType)), '[null,["a"]]'],
    [{ a: null, b: ['x'] }, mapOf(dynamicType), '{"a":null,"b":["x"]}'],
    [null, listOf(stringType), 'null'],
    [[], listOf(dynamicType), '[]'],
  ])('%j to %j', (data, type, text) => {
    expect(valueText(convert(value(data), type)._unsafeUnwrap())).toBe(text);
  });

  it.each<[unknown, HclType, string]>([
    ['x', numberType, 'a number is required'],
    [' 1', numberType, 'a number is required'],
    ['', numberType, 'a number is required'],
    [true, numberType, 'a number is required'],
    ['True', boolType, 'a bool is required; write "true" in lower case'],
    [1, boolType, 'a bool is required'],
    [[1], stringType, 'a string is required'],
    ['a', listOf(stringType), 'a list of string is required'],
    [{ a: 1 }, listOf(stringType), 'a list of string is required'],
    [[1, 'x'], listOf(numberType), 'element 1: a number is required'],
    [[1, true], listOf(dynamicType), 'all elements of a list must have the same type'],
    [[null, { a: 1 }], listOf(dynamicType), 'all elements of a list must have the same type'],
    [[[], ['a'], [[]]], listOf(listOf(dynamicType)), 'all elements of a list must have the same type'],
    [[null, ['a']], setOf(listOf(dynamicType)), 'all elements of a set must have the same type'],
    [
      { a: { b: [0, 'x'] } },
      object({ a: object({ b: listOf(numberType) }) }),
      'attribute "a", attribute "b", element 1: a number is required',
    ],
    [{}, object({ a: stringType }), 'attribute "a" is required'],
    [[1], tupleOf([]), 'a tuple of 0 elements is required, not of 1'],
    [[1], object({}), 'an object is required'],
  ])('%j does not fit', (data, type, message) => {
    expect(convert(value(data), type)._unsafeUnwrapErr().message).toBe(message);
  });

  it('typed nulls convert only between types that convert', () => {
    expect(typeOf(convert(nullValue(numberType), stringType)._unsafeUnwrap())).toEqual(stringType);
    expect(convert(nullValue(numberType), listOf(stringType)).isErr()).toBe(true);
    expect(convert(dynamicNull, dynamicType)._unsafeUnwrap()).toBe(dynamicNull);
  });

  it('a null takes its open parts from its own type', () => {
    const open = object({ a: listOf(dynamicType), b: tupleOf([dynamicType]), c: stringType });
    const given = object({
      a: tupleOf([numberType, stringType]),
      b: tupleOf([numberType]),
      c: numberType,
      d: boolType,
    });
    const filled = object({ a: listOf(stringType), b: tupleOf([numberType]), c: stringType });
    expect(typeOf(convert(nullValue(given), open)._unsafeUnwrap())).toEqual(filled);
    expect(typeOf(convert(nullValue(mapOf(numberType)), mapOf(dynamicType))._unsafeUnwrap())).toEqual(
      mapOf(numberType),
    );
    const fromMap = convert(nullValue(mapOf(numberType)), object({ a: dynamicType, b: stringType }))._unsafeUnwrap();
    expect(typeOf(fromMap)).toEqual(object({ a: numberType, b: stringType }));
    expect(typeOf(convert(dynamicNull, mapOf(dynamicType))._unsafeUnwrap())).toEqual(mapOf(dynamicType));
  });

  it('an empty collection converts only to one whose elements its own convert to', () => {
    const none = listValue(stringType, []);
    expect(typeOf(convert(none, listOf(numberType))._unsafeUnwrap())).toEqual(listOf(numberType));
    expect(typeOf(convert(none, setOf(dynamicType))._unsafeUnwrap())).toEqual(setOf(stringType));
    expect(convert(none, listOf(listOf(stringType))).isErr()).toBe(true);
    expect(convert(mapValue(numberType, []), mapOf(mapOf(boolType))).isErr()).toBe(true);
    expect(typeOf(convert(mapValue(numberType, []), mapOf(dynamicType))._unsafeUnwrap())).toEqual(mapOf(numberType));
  });

  it('lists, sets and maps convert among each other', () => {
    const set = setValue(stringType, [stringValue('2'), stringValue('10')]);
    expect(valueText(convert(set, listOf(numberType))._unsafeUnwrap())).toBe('[10,2]');
    const list = listValue(numberType, [numberValue(10), numberValue(2)]);
    expect(valueText(convert(list, setOf(numberType))._unsafeUnwrap())).toBe('[2,10]');
    const map = convert(value({ a: 1, b: 2 }), mapOf(numberType))._unsafeUnwrap();
    expect(valueText(convert(map, object({ a: stringType }))._unsafeUnwrap())).toBe('{"a":"1"}');
    expect(convert(map, object({ c: stringType })).isErr()).toBe(true);
  });
});

describe('unify', () => {
  it.each<[readonly HclType[], HclType | undefined]>([
    [[numberType, stringType], stringType],
    [[boolType, stringType, numberType], stringType],
    [[boolType, numberType], undefined],
    [[dynamicType, numberType], numberType],
    [[tupleOf([numberType, stringType]), tupleOf([stringType])], listOf(stringType)],
    [[tupleOf([numberType]), tupleOf([stringType])], tupleOf([stringType])],
    [[tupleOf([]), tupleOf([numberType, stringType])], listOf(stringType)],
    [[object({ a: numberType }), object({})], mapOf(numberType)],
    [[object({ a: numberType, b: stringType }), object({ a: numberType })], mapOf(stringType)],
    [
      [object({ a: tupleOf([numberType]) }), object({ a: tupleOf([stringType]) })],
      object({ a: tupleOf([stringType]) }),
    ],
    [[listOf(numberType), tupleOf([stringType])], listOf(stringType)],
    [[mapOf(numberType), object({ b: stringType })], mapOf(stringType)],
    [[setOf(numberType), setOf(stringType)], setOf(stringType)],
    [[setOf(stringType), listOf(stringType)], listOf(stringType)],
    [[listOf(numberType), object({})], undefined],
    [[tupleOf([]), object({})], undefined],
    [[tupleOf([]), stringType], undefined],
    [[dynamicType, tupleOf([numberType]), tupleOf([stringType])], dynamicType],
    [[dynamicType, listOf(numberType)], dynamicType],
    [[dynamicType, listOf(stringType), tupleOf([stringType])], listOf(stringType)],
    [[tupleOf([numberType, stringType, dynamicType]), listOf(object({ a: numberType }))], undefined],
    [[tupleOf([boolType]), listOf(numberType)], undefined],
    [[object({ a: object({ b: numberType }) }), mapOf(object({ a: numberType }))], mapOf(mapOf(numberType))],
    [[tupleOf([dynamicType, stringType, mapOf(stringType)]), tupleOf([])], undefined],
    [[listOf(dynamicType), listOf(listOf(numberType))], listOf(dynamicType)],
    [[], undefined],
  ])('%j', (types, expected) => {
    expect(unifyTypes(types)).toEqual(expected);
  });
});

/** Each level needs the common types of the levels below several times; without keeping them this would not end. */
it.each([
  [listOf(dynamicType), dynamicType],
  [listOf(dynamicType), setOf(dynamicType)],
  [listOf(dynamicType), tupleOf([])],
])('deep types with open parts are unified at once: %j, %j', (first, second) => {
  let type: HclType = tupleOf([first]);
  for (let level = 0; level < 60; level += 1) type = tupleOf([first, second, type]);
  expect(unifyTypes([type, tupleOf([type]), listOf(dynamicType)])?.kind).toBe('list');
});

describe('plain data', () => {
  it('refuses what is no JSON data', () => {
    const refused = [Number.NaN, () => 1, [undefined], new Date(0), Symbol('x'), 1n, { a: new Map() }];
    for (const data of refused) expect(fromPlain(data)._unsafeUnwrapErr().type).toBe('not_plain_data');
    expect(fromPlain({ a: undefined })._unsafeUnwrap()).toEqual(value({}));
    expect(toPlain(numberValue(Number.NEGATIVE_INFINITY))._unsafeUnwrapErr()).toEqual({ type: 'infinite_number' });
  });

  it('refuses nesting beyond its limit', () => {
    const deep = JSON.parse(`${'['.repeat(201)}${']'.repeat(201)}`);
    expect(fromPlain(deep)._unsafeUnwrapErr()).toEqual({ type: 'too_deep', limit: 200 });
    expect(fromPlain(deep[0]).isOk()).toBe(true);
  });

  it('keeps a key that JavaScript treats specially', () => {
    const data = JSON.parse('{"__proto__": {"x": 1}}');
    expect(valueText(value(data))).toBe('{"__proto__":{"x":1}}');
    expect(JSON.stringify(toPlain(value(data))._unsafeUnwrap())).toBe('{"__proto__":{"x":1}}');
  });
});

describe('type names', () => {
  it.each<[HclType, string]>([
    [dynamicType, 'dynamic'],
    [listOf(mapOf(setOf(numberType))), 'list of map of set of number'],
    [tupleOf([numberType]), 'tuple'],
    [object({}), 'object'],
  ])('%j', (type, name) => {
    expect(typeText(type)).toBe(name);
  });
});
