import { describe, expect, it } from 'vitest';
import { dataFaults } from '../../../src/notifications/events/decide-event-type.js';

describe('dataFaults', () => {
  it.each([
    ['required without properties', { required: ['id'] }, {}, 1],
    ['required without properties, there', { required: ['id'] }, { id: null }, 0],
    ['some required', { type: 'object', required: ['a', 'b'], properties: { a: { type: 'string' } } }, { a: 'x' }, 1],
    ['required inside', { properties: { o: { type: 'object', required: ['id'] } } }, { o: {} }, 1],
    [
      'required in a list',
      { properties: { l: { type: 'array', items: { type: 'object', required: ['id'] } } } },
      { l: [{}] },
      1,
    ],
    ['a property that is called required', { properties: { required: { type: 'string' } } }, { required: 'x' }, 0],
    ['a property of the wrong type, without a type', { properties: { a: { type: 'string' } } }, { a: 1 }, 1],
    ['no schema', null, {}, 0],
  ])('%s', (_name, schema, data, faults) => {
    expect(dataFaults(schema, data, '/data')).toHaveLength(faults);
  });

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])('a property that is called %s', (name) => {
    const parsed = (text: string): unknown => JSON.parse(text.replaceAll('NAME', name));
    const required = { type: 'object', required: [name] };
    const typed = parsed('{"type":"object","properties":{"NAME":{"type":"string"}}}') as Record<string, unknown>;
    const faults = (schema: Record<string, unknown>, data: unknown) => dataFaults(schema, data, '/data');
    expect(faults(required, {})).toMatchObject([{ pointer: `/data/${name}` }]);
    expect(faults(required, parsed('{"NAME":1}'))).toEqual([]);
    expect(faults(typed, {})).toEqual([]);
    expect(faults(typed, parsed('{"NAME":"x"}'))).toEqual([]);
    expect(faults(typed, parsed('{"NAME":1}'))).toMatchObject([{ pointer: `/data/${name}` }]);
    expect(faults({ properties: { inner: required } }, { inner: {} })).toMatchObject([
      { pointer: `/data/inner/${name}`, message: expect.stringContaining(`inner.${name}:`) as string },
    ]);
  });
});
