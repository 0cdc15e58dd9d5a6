import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  readCommandOutput,
  readCommandRefusal,
  readNodeDescription,
  readReports,
} from '../../../src/agent/link/node-shapes.js';
import {
  count,
  flag,
  listOf,
  mapOf,
  objectOf,
  orNull,
  string,
  timestamp,
  validated,
} from '../../../src/agent/link/shape.js';

const shape = objectOf({ name: string(5), list: listOf(flag, 2) }, { more: mapOf(orNull(flag)) });

describe('shapes', () => {
  it('keep what they name, and nothing else', () => {
    const given = { name: 'x', list: [true], more: { a: null }, further: 1 };
    expect(validated(shape, given, 'it')).toEqual({ value: { name: 'x', list: [true], more: { a: null } } });
  });

  it.each([
    [null, 'it', 'an object'],
    [[], 'it', 'an object'],
    [{ list: [] }, 'it.name', 'a string of at most 5 characters'],
    [{ name: 'longer', list: [] }, 'it.name', 'a string of at most 5 characters'],
    [{ name: '', list: [true, 1] }, 'it.list[1]', 'true or false'],
    [{ name: '', list: [true, true, true] }, 'it.list', 'a list of at most 2 items'],
    [{ name: '', list: [], more: { a: 1 } }, 'it.more.a', 'true or false'],
  ])('say where %j does not fit', (given, at, expected) => {
    expect(validated(shape, given, 'it')).toEqual({ at, expected });
  });

  it('take names of prototypes for what they are: keys', () => {
    const given: unknown = JSON.parse('{"name":"x","list":[],"more":{"__proto__":true,"constructor":false}}');
    const read = validated(shape, given, 'it');
    expect(JSON.stringify(read)).toBe('{"value":{"name":"x","list":[],"more":{"__proto__":true,"constructor":false}}}');
    expect(validated(shape, JSON.parse('{"__proto__":{"name":"x","list":[]}}'), 'it')).toHaveProperty('at');
  });
});

describe('moments and counts', () => {
  it.each(['2030-01-31T12:00:00Z', '2030-01-31T12:00:00.123456789+02:00', '0001-01-01T00:00:00Z'])('are %s', (text) => {
    expect(validated(timestamp, text, 'it')).toEqual({ value: text });
  });

  it.each(['', 'yesterday', '2030-13-01T00:00:00Z', '+275760-09-13T00:00:00Z', '2030-01-31', 1])(
    'are not %j',
    (given) => {
      expect(validated(timestamp, given, 'it')).toHaveProperty('expected');
    },
  );

  it.each([
    [0, true],
    [9, true],
    [10, false],
    [1.5, false],
    [-1, false],
    [Number.NaN, false],
    ['1', false],
  ])('of at most nine: %j is one: %j', (given, fits) => {
    expect('value' in validated(count(9), given, 'it')).toBe(fits);
  });

  it('are required of the reports of tasks, whose ends begin delays', () => {
    const state = {
      State: 'dead',
      Failed: true,
      Restarts: 0,
      LastRestart: null,
      StartedAt: null,
      Events: [],
      Paused: '',
    };
    const report = (FinishedAt: unknown) => ({
      allocationId: '00000000-0000-4000-8000-000000000001',
      clientStatus: 'failed',
      clientDescription: '',
      taskStates: { main: { ...state, FinishedAt } },
    });
    expect(readReports([report('2030-01-31T12:00:00Z')]).isOk()).toBe(true);
    expect(readReports([report('garbage')])._unsafeUnwrapErr().field).toBe('reports[0].taskStates.main.FinishedAt');
  });
});

describe('what nodes send', () => {
  it('is taken from agents of earlier versions, which tell the numbers of processes only', () => {
    const used = { residentBytes: 1, userPercent: 2, systemPercent: 3 };
    const value = (processes: readonly unknown[]) => ({ tasks: { main: { ...used, processes } }, at: 5 });
    const none = { residentBytes: 0, userPercent: 0, systemPercent: 0 };
    expect(readCommandOutput('stats', { type: 'value', value: value([7, { ...used, pid: 8 }]) })).toEqual({
      type: 'value',
      value: value([
        { ...none, pid: 7 },
        { ...used, pid: 8 },
      ]),
    });
  });

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
