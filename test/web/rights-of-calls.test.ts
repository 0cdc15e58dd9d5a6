import { expect, it } from 'vitest';
import { api } from '../../src/api/index.js';
import { rightsOfCalls } from '../../web/rules/rights-of-calls.js';

it.each(Object.entries(rightsOfCalls))('%s is offered to whom the server allows it', (name, enough) => {
  const [area = '', method = ''] = name.split('.');
  const calls: Readonly<Record<string, Readonly<Record<string, { readonly access: object }>>>> = api;
  expect(calls[area]?.[method]?.access).toMatchObject({ type: 'namespace', anyOf: enough });
});
