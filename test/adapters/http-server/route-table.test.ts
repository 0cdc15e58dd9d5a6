import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { createHttpHandler, requestFrom } from '../../../adapters/http-server/index.js';
import { routeTable } from '../../../adapters/http-server/route-table.js';
import { hostPrincipal, putToken } from '../../../src/index.js';
import { engineUnderTest, filledEngine } from './engine-under-test.js';
import { bodyFor, targetFor } from './route-samples.js';

const named = routeTable.map((route) => ({ name: `${route.methods[0]} ${route.path}`, route }));

/** One engine for all: whoever is refused changes nothing. */
const guarded = filledEngine().then(async (engine) => {
  await putToken(engine, hostPrincipal, { secret: 'powerless', name: 'powerless' });
  return engine;
});

/** Without rights, these answer with what the caller may see: nothing. */
const visibleToEverybody = new Set(['listNamespaces']);

describe('the route table', () => {
  it('names every operation once', () => {
    const operations = routeTable.map((route) => route.operation);
    expect(new Set(operations).size).toBe(operations.length);
  });

  it('leads every path to its own route', async () => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open' });
    for (const { route, name } of named) {
      const response = await handler(requestFrom({ method: 'TRACE', target: targetFor(route) }));
      // Only the routes that take any method answer otherwise.
      if (route.anyMethod === true) expect(response.status, name).not.toBe(405);
      else {
        expect(response.status, name).toBe(405);
        expect(response.headers.join(' '), name).toContain(route.methods[0]);
      }
    }
  });

  it.each(named.filter(({ route }) => route.access.type !== 'public'))(
    '$name refuses callers without credentials before it reads their body',
    async ({ route }) => {
      const handler = createHttpHandler(engineUnderTest(), { access: 'token' });
      for (const headers of [{}, { 'x-svc-token': 'unknown' }, { authorization: 'Basic dTpw' }]) {
        const request = requestFrom({ method: route.methods[0], target: targetFor(route), headers: { ...headers } });
        const readBody = (): never => {
          throw new Error('the body was read');
        };
        const response = await handler({ ...request, readBody });
        expect(response.status).toBe(route.half === 'notifications' ? 401 : 403);
      }
    },
  );

  it.each(named.filter(({ route }) => route.access.type !== 'public' && !visibleToEverybody.has(route.operation)))(
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
      const refused = route.half === 'notifications' ? 404 : 403;
      expect([refused, response.body], response.body.toString()).toContain(response.status);
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
      expect(operation?.operationId, name).toBe(route.operation);
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
      const handler = createHttpHandler(await filledEngine(), { access: 'open' });
      const body = bodyFor(route);
      const request = { method: route.methods[0], target: targetFor(route), ...(body === undefined ? {} : { body }) };
      const response = await handler(requestFrom(request));
      expect(response.status, `${name}: ${response.body.toString()}`).toBeLessThan(300);
      const answer = route.answers[response.status];
      expect(answer, `${name}: ${response.status}`).toBeDefined();
      if (answer?.schema === undefined) {
        expect(response.body, name).toBe('');
        continue;
      }
      expect(response.headers[response.headers.indexOf('Content-Type') + 1], name).toBe(answer.contentType);
      const validate = ajv.compile(rebased(answer.schema()));
      const valid = validate(JSON.parse(response.body.toString()));
      expect(valid, `${name}: ${ajv.errorsText(validate.errors)}`).toBe(true);
    }
  });

  it('tells the truth about what the routes take', async () => {
    const handler = createHttpHandler(engineUnderTest(), { access: 'open' });
    const components = JSON.parse((await handler(requestFrom({ target: '/v1/openapi.json' }))).body.toString());
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(components, 'document');
    for (const { route, name } of named) {
      const body = bodyFor(route);
      if (route.requestBody === undefined || body === undefined) continue;
      const validate = ajv.compile(rebased(route.requestBody.schema()));
      expect(validate(body), `${name}: ${ajv.errorsText(validate.errors)}`).toBe(true);
    }
  });
});

/** References point into the document, which the validator knows by a name. */
function rebased(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/')) as object;
}
