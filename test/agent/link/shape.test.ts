import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCommandOutput, readCommandRefusal } from '../../../src/agent/link/command-shapes.js';
import { readNodeDescription, readReports } from '../../../src/agent/link/node-shapes.js';
import { fitted, flag, listOf, mapOf, objectOf, orNull, text } from '../../../src/agent/link/shape.js';

const shape = objectOf({ name: text(5), list: listOf(flag, 2) }, { more: mapOf(orNull(flag)) });

describe('shapes', () => {
  it('keep what they name, and nothing else', () => {
    const given = { name: 'x', list: [true], more: { a: null }, further: 1 };
    expect(fitted(shape, given, 'it')).toEqual({ value: { name: 'x', list: [true], more: { a: null } } });
  });

  it.each([
    [null, 'it', 'an object'],
    [[], 'it', 'an object'],
    [{ list: [] }, 'it.name', 'a text of at most 5 characters'],
    [{ name: 'longer', list: [] }, 'it.name', 'a text of at most 5 characters'],
    [{ name: '', list: [true, 1] }, 'it.list[1]', 'true or false'],
    [{ name: '', list: [true, true, true] }, 'it.list', 'a list of at most 2 items'],
    [{ name: '', list: [], more: { a: 1 } }, 'it.more.a', 'true or false'],
  ])('say where %j does not fit', (given, at, expected) => {
    expect(fitted(shape, given, 'it')).toEqual({ at, expected });
  });

  it('take names of prototypes for what they are: keys', () => {
    const given: unknown = JSON.parse('{"name":"x","list":[],"more":{"__proto__":true,"constructor":false}}');
    const read = fitted(shape, given, 'it');
    expect(JSON.stringify(read)).toBe('{"value":{"name":"x","list":[],"more":{"__proto__":true,"constructor":false}}}');
    expect(fitted(shape, JSON.parse('{"__proto__":{"name":"x","list":[]}}'), 'it')).toHaveProperty('at');
  });
});

describe('what nodes send', () => {
  it('never throws, whatever it is', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true }), (sent) => {
        readNodeDescription(sent);
        readReports(sent);
        readCommandOutput('stats', sent);
        readCommandRefusal(sent);
      }),
    );
  });
});
