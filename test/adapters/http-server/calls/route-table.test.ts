import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../../adapters/compat/index.js';
import { routeTable } from '../../../../adapters/http-server/calls/route-table.js';
import type { HttpResponse } from '../../../../adapters/http-server/http-message.js';
import { hostPrincipal } from '../../../../src/index.js';
import { putToken } from '../../../../src/operations/access/tokens/put-token.js';
import { bootstrapping, engineUnderTest, everything, filledEngine } from '../engine-under-test.js';
import { bodyFor, bodySchemaOf, pathValues, targetFor } from '../route-samples.js';

const named = routeTable.map((route) => ({ name: `${route.methods[0]} ${route.path}`, route }));

/** One engine for all: whoever is refused changes nothing. */
const guarded = filledEngine().then(async (engine) => {
  await putToken(engine, hostPrincipal, { secret: 'powerless', name: 'powerless' });
  return engine;
});

/** Without rights, these answer with what the caller may see: nothing. */
const visibleToEverybody = new Set([
  'namespaces.list',
  'nodePools.list',
  'policies.list',
  'policies.self',
  'roles.list',
  'tokens.self',
  'tokens.rights',
  'variables.list',
  'organizations.list',
  'notifications.search',
  'account.show',
]);

/** These need no right, only a token of one's own. */
const ofOwnToken = new Set(['tokens.createOneTime']);

/** Without rights, what is asked for is as if it were not there: these do not tell whether it is. */
const hidden = new Map([
  ['allocations.read', { status: 404, text: 'Unknown allocation "' }],
  ['allocations.collect', { status: 404, text: 'Unknown allocation "' }],
  ['search.fuzzy', { status: 200, text: '"Matches":{}' }],
]);

describe('the route table', () => {
  it('names every operation once', () => {
    const operations = routeTable.map((route) => route.name);
    expect(new Set(operations).size).toBe(operations.length);
  });

  it('leads every path to its own route', async () => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open' });
    for (const { route, name } of named) {
      const response = await handler(requestFrom({ method: 'TRACE', target: targetFor(route) }));
      expect(response.status, name).toBe(405);
      expect(response.headers.join(' '), name).toContain(route.methods[0]);
    }
  });

  it.each(named.filter(({ route }) => route.access.type !== 'public' && !hidden.has(route.name)))(
    '$name refuses callers without credentials before it reads their body',
    async ({ route }) => {
      const handler = createHttpHandler(engineUnderTest(), { access: 'token' });
      for (const headers of [{}, { 'x-svc-token': 'unknown' }, { authorization: 'Basic dTpw' }]) {
        const request = requestFrom({ method: route.methods[0], target: targetFor(route), headers: { ...headers } });
        const readBody = (): never => {
          throw new Error('the body was read');
        };
        const response = await handler({ ...request, readBody });
        // Whoever asks for no upgrade is told so; the socket itself refuses by its close code.
        const refused = route.interface === 'notifications' ? 401 : 403;
        // Without a token there are the rights of everybody; an unknown one has none.
        const visible = !('x-svc-token' in headers) && visibleToEverybody.has(route.name);
        if (route.socket !== undefined) expect([403, 426]).toContain(response.status);
        else expect(response.status).toBe(visible && route.interface === 'jobs' ? 200 : refused);
      }
    },
  );

  it.each(named.filter(({ route }) => hidden.has(route.name)))(
    '$name answers a caller without any right as if there were nothing, and refuses an unknown token',
    async ({ route }) => {
      const handler = createHttpHandler(await guarded, { access: 'token' });
      const body = bodyFor(route);
      const ask = async (headers: Record<string, string>) => {
        const request = { method: route.methods[0], target: targetFor(route), headers };
        const response = await handler(requestFrom({ ...request, ...(body === undefined ? {} : { body }) }));
        return { status: response.status, text: await firstOf(response.body) };
      };
      const { status, text } = hidden.get(route.name) ?? { status: 0, text: '' };
      for (const headers of [{}, { 'x-svc-token': 'powerless' }]) {
        expect(await ask(headers)).toEqual({ status, text: expect.stringContaining(text) });
      }
      expect((await ask({ 'x-svc-token': 'unknown' })).status).toBe(403);
    },
  );

  const closed = (name: string): boolean => !ofOwnToken.has(name) && !visibleToEverybody.has(name) && !hidden.has(name);
  it.each(named.filter(({ route }) => route.access.type !== 'public' && closed(route.name)))(
    '$name refuses a token without any right',
    async ({ route }) => {
      const handler = createHttpHandler(await guarded, { access: 'token' });
      const body = bodyFor(route);
      const response = await handler(
        requestFrom({
          method: route.methods[0],
          target: targetFor(route),
          headers: { 'x-svc-token': 'powerless' },
          ...(body === undefined ? {} : { body }),
        }),
      );
      const refused = route.interface === 'notifications' ? 404 : 403;
      // Whoever asks for no upgrade is told so; the socket itself refuses by its close code.
      const expected = route.socket === undefined ? refused : 426;
      expect([expected, response.body], String(response.body)).toContain(response.status);
    },
  );
});

describe('the OpenAPI document', () => {
  it('describes every route, and its schemas are schemas', async () => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'token' });
    const response = await handler(requestFrom({ target: '/v1/openapi.json' }));
    const document = JSON.parse(response.body.toString());
    expect(document.openapi).toBe('3.1.0');
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'document');
    for (const { route, name } of named) {
      const operation = document.paths[route.path]?.[(route.methods[0] as string).toLowerCase()];
      expect(operation?.operationId, name).toBe(route.name);
      const schemas = [
        ...Object.values(operation.requestBody?.content ?? {}),
        ...Object.values(operation.responses).flatMap((answer) =>
          Object.values((answer as { content?: object }).content ?? {}),
        ),
        ...operation.parameters,
      ] as { schema?: object }[];
      for (const { schema } of schemas) {
        if (schema === undefined) continue;
        expect(() => ajv.compile(rebased(schema)), name).not.toThrow();
      }
    }
  });

  it('tells the truth about what the routes answer', async () => {
    const reader = createHttpHandler(engineUnderTest(), { access: 'open' });
    const components = JSON.parse((await reader(requestFrom({ target: '/v1/openapi.json' }))).body.toString());
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(components, 'document');
    for (const { route, name } of named) {
      const isOwn = ofOwnToken.has(route.name);
      const handler =
        route.name === 'tokens.bootstrap'
          ? createHttpHandler(engineUnderTest(), bootstrapping)
          : createHttpHandler(await filledEngine(), isOwn ? { access: 'token' } : everything);
      const body = bodyFor(route);
      const headers: Record<string, string> = isOwn ? { 'x-svc-token': pathValues['token_secret'] ?? '' } : {};
      const request = { method: route.methods[0], target: targetFor(route), headers };
      const response = await handler(requestFrom({ ...request, ...(body === undefined ? {} : { body }) }));
      if (route.socket !== undefined) continue;
      const text = await firstOf(response.body);
      expect(response.status, `${name}: ${text}`).toBeLessThan(300);
      const operation = components.paths[route.path][(route.methods[0] as string).toLowerCase()];
      const answer = operation.responses[response.status];
      expect(answer, `${name}: ${response.status}`).toBeDefined();
      const [type, content] = Object.entries(answer?.content ?? {})[0] ?? [];
      const schema = (content as { schema?: object } | undefined)?.schema;
      if (schema === undefined) {
        expect(text, name).toBe('');
        continue;
      }
      expect(response.headers[response.headers.indexOf('Content-Type') + 1], name).toBe(type);
      const validate = ajv.compile(rebased(schema));
      if (type !== 'application/json') continue;
      const valid = validate(JSON.parse(text));
      expect(valid, `${name}: ${ajv.errorsText(validate.errors)}`).toBe(true);
    }
  }, 90_000);

  it('tells the truth about what the routes take', async () => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open' });
    const components = JSON.parse((await handler(requestFrom({ target: '/v1/openapi.json' }))).body.toString());
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(components, 'document');
    for (const { route, name } of named) {
      const body = bodyFor(route);
      const schema = bodySchemaOf(route);
      if (schema === undefined || body === undefined) continue;
      const validate = ajv.compile(rebased(schema));
      expect(validate(body), `${name}: ${ajv.errorsText(validate.errors)}`).toBe(true);
    }
  });
});

/** The body, or the first item of a stream. */
async function firstOf(body: HttpResponse['body']): Promise<string> {
  if (typeof body === 'string' || body instanceof Uint8Array) return body.toString();
  for await (const item of body) return item.toString();
  return '';
}

/** References point into the document, which the validator knows by a name. */
function rebased(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')) as object;
}
