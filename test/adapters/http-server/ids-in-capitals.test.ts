import { expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import { everything, filledEngine } from './engine-under-test.js';
import { pathValues } from './route-samples.js';

it.each([
  ['GET', '/v1/allocation/', 'allocation_id', '', {}],
  ['GET', '/v1/allocation/', 'allocation_id', '/services', {}],
  ['GET', '/v1/evaluation/', 'evaluation_id', '', {}],
  ['GET', '/v1/deployment/', 'deployment_id', '', {}],
  ['GET', '/v1/scaling/policy/', 'policy_id', '', {}],
  ['PUT', '/v1/deployment/pause/', 'deployment_id', '', { Pause: true }],
  ['PUT', '/v1/deployment/fail/', 'deployment_id', '', {}],
])('%s %s finds an ID in capital letters (%s%s)', async (method, path, name, behind, more) => {
  const ask = createHttpHandler(await filledEngine(), { ...everything, names: 'upstream' });
  const id = pathValues[name] ?? '';
  const written = id.toUpperCase();
  expect(written).not.toBe(id);
  const body = method === 'PUT' ? { body: { DeploymentID: written, ...more } } : {};
  const answer = await ask(requestFrom({ method, target: `${path}${written}${behind}`, ...body }));
  expect([answer.status, answer.body.toString()]).toEqual([200, expect.not.stringContaining(written)]);
});
