import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/compat/index.js';
import { hostPrincipal } from '../../../src/index.js';
import { engineUnderTest } from './engine-under-test.js';

/** Asks with what the host's own code gives as the caller; it may have no types. */
async function ask(caller: unknown) {
  const logged: string[] = [];
  const note = (fields: Readonly<Record<string, unknown>>): void => void logged.push(String(fields['error']));
  const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: note };
  const handler = createHttpHandler(engineUnderTest({}, logger), { authenticate: () => caller as never });
  const { status, body } = await handler(requestFrom({ target: '/v1/jobs' }));
  return { status, body: String(body), logged: logged.join() };
}

const limited = { ...hostPrincipal, management: false };

describe('a caller that the host gives', () => {
  it.each([undefined, null])('is nobody when it is %s', async (caller) => {
    expect(await ask(caller)).toMatchObject({ status: 403, logged: '' });
  });

  it.each([
    ['a text', 'ada', 'a principal is an object such as hostPrincipal, not a string'],
    ['true', true, 'a principal is an object such as hostPrincipal, not true or false'],
    ['an empty object', {}, 'accessor is missing: it takes a string'],
    ['management as a text', { ...limited, management: 'false' }, 'management takes true or false, got a string'],
    ['management as a number', { ...limited, management: 1 }, 'management takes true or false, got 1'],
    ['no namespaces', { ...limited, namespaces: undefined }, 'namespaces is missing'],
    ['namespaces in a map', { ...limited, namespaces: new Map() }, 'namespaces takes an object'],
    ['a list as a rule', { ...limited, namespaces: { default: ['list-jobs'] } }, 'namespaces.default takes an object'],
    [
      'an unknown capability',
      { ...limited, namespaces: { default: { capabilities: ['Deny'] } } },
      'namespaces.default.capabilities[0] takes',
    ],
    ['an unknown right', { ...limited, workspaces: { 'ws-1': 'owner' } }, "workspaces.ws-1 takes 'admin' or 'events'"],
  ])('is refused, and logged, with %s', async (_name, caller, reason) => {
    const { status, body, logged } = await ask(caller);
    expect({ status, body }).toEqual({ status: 500, body: 'internal error; the server log has the cause' });
    expect(logged).toContain('authenticate: ');
    expect(logged).toContain(reason);
  });

  it('may have members of the host', async () => {
    expect(await ask({ ...hostPrincipal, user: { id: 7 } })).toMatchObject({ status: 200 });
  });
});
