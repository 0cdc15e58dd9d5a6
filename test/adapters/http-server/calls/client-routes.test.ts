import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../../adapters/compat/index.js';
import { clientRoutes } from '../../../../adapters/http-server/calls/client-routes.js';
import { routeTable } from '../../../../adapters/http-server/calls/route-table.js';
import { engineUnderTest } from '../engine-under-test.js';

const own = new Set(routeTable.flatMap(({ methods, path }) => methods.map((method) => `${method} ${path}`)));
const calls = clientRoutes.flatMap(({ methods, path }) => methods.map((method) => ({ method, path })));

/** A target of the path whose parameters hold an id that nothing has. */
const targetOf = (path: string): string => path.replaceAll(/\{\w+\}/g, 'nobody%2Fhere');

/** With the names of Nomad: empty lists, and the root of a resource, which is redirected to the same path with a slash. */
const answeredInNomad = new Set(['GET /v1/volumes', 'GET /v1/plugins', 'PUT /v1/node/pool', 'POST /v1/node/pool']);

describe('the routes that clients know', () => {
  it('are listed once, and hold all of the job interface that this server has', () => {
    const listed = calls.map(({ method, path }) => `${method} ${path}`);
    expect(listed.filter((name, at) => listed.indexOf(name) !== at)).toEqual([]);
    // The calls of this server's own agents are nobody else's; functions of a service, ranges of logs, and the outlook of jobs and rights, are its own.
    const itsOwn =
      / \/v1\/(node\/\{node_id\}\/agent\/|acl\/(policies\/try|rights)|allocation\/\{allocation_id\}\/log\b|functions?\b|metrics\/series|jobs\/(failures|placement|restarts|runs|schedules|simulate)\b)/;
    const ofClients = [...own].filter((name) => name.includes(' /v1/') && !itsOwn.test(name));
    const further = ofClients.filter((name) => !listed.includes(name));
    expect(further.filter((name) => !name.startsWith('HEAD ') && name !== 'GET /v1/openapi.json')).toEqual([]);
  });

  it.each(calls.filter(({ method, path }) => !own.has(`${method} ${path}`)))(
    '$method $path is refused as what it is, and does nothing',
    async ({ method, path }) => {
      const engine = engineUnderTest();
      const before = (await engine.storage.read((view) => view.index))._unsafeUnwrap();
      const isPath = routeTable.some((route) => route.path === path);
      for (const names of ['neutral', 'upstream'] as const) {
        const handler = createHttpHandler(engine, { access: 'open', names });
        for (const body of [undefined, '{}', JSON.stringify({ Job: { ID: 'nobody/here' } })]) {
          const request = { method, target: targetOf(path), ...(body === undefined ? {} : { body }) };
          const response = await handler(requestFrom(request));
          const refused = isPath ? 405 : 404;
          if (names === 'upstream' && answeredInNomad.has(`${method} ${path}`)) continue;
          expect(response.status).toBe(names === 'neutral' ? refused : 501);
          expect(response.body).toContain(`${method} ${targetOf(path)}`);
        }
      }
      expect((await engine.storage.read((view) => view.index))._unsafeUnwrap()).toBe(before);
    },
  );

  it('are told apart from jobs whose ID holds a slash, and from unknown paths', async () => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open' });
    const answer = async (method: string, target: string): Promise<readonly [number, string]> => {
      const response = await handler(requestFrom({ method, target }));
      return [response.status, response.body.toString()];
    };
    expect(await answer('GET', '/v1/job/a/b')).toEqual([404, 'job not found: GET /v1/job/a/b']);
    expect(await answer('GET', '/v1/job/plan')).toEqual([404, 'job not found: GET /v1/job/plan']);
    expect(await answer('GET', '/v1/nothing')).toEqual([404, expect.stringContaining('no such path: GET /v1/nothing')]);
    expect(await answer('GET', '/v1/node/a/nothing')).toEqual([400, 'the ID must be a UUID of 36 characters']);
    expect(await answer('PATCH', '/v1/jobs')).toEqual([405, expect.stringContaining('PATCH /v1/jobs')]);
    expect(await answer('GET', '/v1/var/a/b/c')).toEqual([404, 'variable not found: GET /v1/var/a/b/c']);
  });
});
