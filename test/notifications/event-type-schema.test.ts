import { describe, expect, it } from 'vitest';
import { dataFaults } from '../../src/notifications/event-type-schema.js';

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
});
