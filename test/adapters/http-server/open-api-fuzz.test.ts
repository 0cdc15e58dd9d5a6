import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nomad, serverErrorParameters } from '../../../adapters/compat/nomad.js';
import { locator } from '../../../adapters/http-server/calls/read-inputs.js';
import { routeTable } from '../../../adapters/http-server/calls/route-table.js';
import type { Route } from '../../../adapters/http-server/calls/router.js';
import { neutral } from '../../../adapters/http-server/dialect.js';
import { jobStatuses } from '../../../adapters/http-server/errors/job-errors.js';
import { openApiDocument } from '../../../adapters/http-server/open-api/open-api.js';
import { plainType } from '../../../src/api/answers.js';
import type { ErrorTag } from '../../../src/api/errors.js';
import { hostileText, hostileValue, pathsIn, replacedAt } from '../../support/hostile-values.js';
import { overlaid, type Schema, SchemaValues } from '../../support/schema-values.js';
import { type Answered, type Asked, DescribedServer } from './described-server.js';
import { bodyFor, callOf, pathValues, targetFor } from './route-samples.js';

/*
 * Requests are made from the OpenAPI document: path, query and body as it describes them, and then with something wrong. A
 * server over HTTP, with one of everything stored, must answer as the document says: with a status that it names, and a body that
 * its schema takes. SIGNALBOX_OPENAPI_FUZZ is the number of requests for each operation.
 */

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly schema: Schema;
}

interface Operation {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, Schema>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Schema>>>>;
}

/** Every refusal that clients of Nomad expect as a 500, and why. With the default names there is none. */
const contractual: Readonly<Partial<Record<ErrorTag, string>>> = {
  admission_refused: 'a hook of the host refused the document',
  canaries_not_healthy: 'the deployment is not ready to be promoted',
  command_failed: 'the node could not do it',
  deployment_not_found: 'a write names no deployment',
  deployment_over: 'the deployment takes no more changes',
  dispatch_refused: 'the template does not take this payload or meta',
  evaluation_deletion_refused: 'the broker is not paused',
  evaluation_refused: 'templates are not evaluated',
  filter_evaluation: 'counts and statuses tell faults of filters so',
  filter_syntax: 'counts and statuses tell faults of filters so',
  force_refused: 'the job launches nothing',
  index_conflict: 'the job has changed since it was read',
  invalid_job: 'the document can be read and is no job that can run',
  invalid_namespace: 'names and descriptions of namespaces are judged like jobs',
  invalid_node_pool: 'pools that every server has are not removed',
  invalid_request: 'on single records: the identifier is none',
  invalid_variable: 'items and paths of variables are judged like jobs',
  job_not_found: 'a write names no job',
  malformed_accessor: 'the accessor is none',
  namespace_in_use: 'the namespace holds something',
  namespace_not_found: 'a removal names no namespace',
  namespace_protected: 'the namespace is always there',
  no_allocations: 'the report names none',
  node_not_found: 'a write names no node',
  node_pool_in_use: 'the pool holds something',
  node_pool_not_found: 'a removal names no pool',
  node_refused: 'the node is not taken',
  not_of_deployment: 'the allocation belongs to another deployment',
  revert_refused: 'there is nothing to go back to',
  role_not_found: 'a removal names no role',
  search_refused: 'the context is none that can be searched',
  storage_failed: 'never here',
  tag_refused: 'the name is taken',
  total_count_too_large: 'the job asks for too much',
  transition_refused: 'the job cannot become this one',
  undecipherable: 'the key of the variable is not there',
  unknown_allocation: 'clients go by the text',
  unknown_deployment_group: 'the deployment has no such group',
  unknown_region: 'the region is served elsewhere',
  version_base_not_found: 'there is no such version to compare with',
  version_not_found: 'there is no such version',
};

const runs = Number(process.env['SIGNALBOX_OPENAPI_FUZZ'] ?? 6);
const notificationsPath = '';
const locators = {
  neutral: locator(routeTable, { basePath: '', notificationsPath, dialect: neutral }),
  upstream: locator(routeTable, { basePath: '', notificationsPath, dialect: nomad }),
};

describe('the refusals with 500', () => {
  it('stand in the list with their reasons, and nothing else does', () => {
    const told = new Set(
      routeTable.flatMap((route) =>
        (callOf(route)?.errors ?? [])
          .concat(Object.keys(jobStatuses) as ErrorTag[])
          .filter((tag) => Object.hasOwn(jobStatuses, tag) && nomad.statusesOf(tag, route.name).includes(500)),
      ),
    );
    expect(Object.keys(contractual).toSorted()).toEqual([...told].toSorted());
  });
});

describe.each(['neutral', 'upstream'] as const)('requests made from the document, with the %s names', (names) => {
  const document = openApiDocument(notificationsPath, names === 'neutral' ? neutral : nomad) as unknown as Document;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'document');
  const server = new DescribedServer(names);
  beforeAll(() => server.start());
  afterAll(() => server.stop());

  const operations = routeTable.flatMap((route) => {
    const path = (route.interface === 'notifications' ? notificationsPath : '') + route.path;
    return route.methods.map((method) => ({ name: `${method} ${path}`, route, method, path }));
  });

  // A stream that ends with its connection takes a quarter of a second.
  it.each(operations)('$name', { timeout: 30_000 + runs * 500 }, async ({ route, method, path }) => {
    const operation = operationAt(document, path, method);
    const requests = requestsFor({ route, method, path, operation }, document);
    await fc.assert(
      fc.asyncProperty(requests, async (asked) => {
        const answered = await server.ask(asked);
        const about = `${asked.method} ${asked.target} ${asked.body?.slice(0, 500) ?? ''}\n${answered.status} ${answered.body.slice(0, 500)}`;
        expect(server.failures, about).toEqual([]);
        check(document, ajv, { asked, answered, names }, about);
        if (names === 'neutral') expect(answered.status, about).toBeLessThan(500);
        else if (answered.status === 500 && isFound(asked)) await expectContractual(server, asked, about);
        const changed = await server.refillIfChanged();
        if (answered.status >= 400) expect(changed, about).toBe(false);
      }),
      { numRuns: runs },
    );
  });
});

function operationAt(document: Document, path: string, method: string): Operation {
  const operation = document.paths[path]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`the document has no ${method} ${path}`);
  return operation;
}

/** Whether the target leads to a call that is answered over HTTP, for clients of Nomad. */
function isFound({ method, target }: Asked): boolean {
  const match = locators.upstream(method, target.split('?')[0] ?? '')?.match;
  return match?.isOk() === true && match.value.type === 'found' && match.value.route.socket === undefined;
}

/** Parameters of the query whose faults clients of Nomad expect as a 500. */
function told500(): readonly string[] {
  return ['prefix', ...Object.values(serverErrorParameters).flat()];
}

/** A refusal changes nothing: asked for in the form of this package's clients, it tells its tag. */
async function expectContractual(server: DescribedServer, asked: Asked, about: string): Promise<void> {
  const { body } = await server.ask({ ...asked, headers: { ...asked.headers, accept: plainType } });
  const { error } = JSON.parse(body) as {
    error: { type: ErrorTag | 'bad_request'; message: string; parameter?: string };
  };
  if (error.type === 'bad_request')
    expect([...told500(), 'missing job ID'], about).toContain(error.parameter ?? error.message);
  else expect(Object.keys(contractual), about).toContain(error.type);
}

interface Exchange {
  readonly asked: Asked;
  readonly answered: Answered;
  readonly names: 'neutral' | 'upstream';
}

/** Whether the answer is one that the document has for the operation that the target leads to. */
function check(document: Document, ajv: Ajv2020, { asked, answered, names }: Exchange, about: string): void {
  const { status, type, body } = answered;
  expect(body.startsWith('internal error') || body.startsWith('the store failed'), about).toBe(false);
  const target = asked.target.split('?')[0] ?? '';
  // Clients of the upstream are sent to the path that they mean.
  if (names === 'upstream' && status === 307) {
    expect(isUnclean(target), about).toBe(true);
    return;
  }
  const match = locators[names](asked.method, target)?.match;
  // A path that lacks a part has its own message.
  if (names === 'upstream' && match?.isOk() === true && match.value.type === 'incomplete_path') {
    expect({ status, body }, about).toEqual({ status: match.value.status, body: match.value.message });
    return;
  }
  if (match === undefined || match.isErr() || match.value.type !== 'found') {
    expect(names === 'upstream' ? [400, 404, 405, 501] : [400, 404, 405], about).toContain(status);
    if (names === 'neutral' && asked.method !== 'HEAD') expect(body, about).not.toBe('');
    return;
  }
  const { route } = match.value;
  const path = (route.interface === 'notifications' ? notificationsPath : '') + route.path;
  // A call that takes any method is described by those that clients use.
  const method = route.methods.some((one) => one === asked.method) ? asked.method : route.methods[0];
  const described = operationAt(document, path, method).responses[status];
  expect(described, about).toBeDefined();
  if (asked.method === 'HEAD' || described === undefined) return;
  checkBody(document, ajv, { described, type, body }, about);
}

function isUnclean(target: string): boolean {
  return /\/(?:\.{1,2}|%2e%2e|)(?:\/|$)/i.test(target) || target.includes('/.') || !target.slice(4).includes('/');
}

const validators = new Map<string, ValidateFunction>();

function checkBody(
  document: Document,
  ajv: Ajv2020,
  { described, type, body }: { readonly described: Schema; readonly type: string; readonly body: string },
  about: string,
): void {
  const reference = described['$ref'];
  const response =
    typeof reference === 'string'
      ? (document.components['responses']?.[reference.slice(reference.lastIndexOf('/') + 1)] ?? {})
      : described;
  const content = (response['content'] ?? {}) as Readonly<Record<string, { readonly schema: Schema }>>;
  if (Object.keys(content).length === 0) {
    expect(body, about).toBe('');
    return;
  }
  const entry = content[type] ?? content[type.split(';')[0] ?? ''];
  expect(entry, `${about}\n${type}`).toBeDefined();
  if (entry === undefined || !type.includes('json')) return;
  const key = JSON.stringify(entry.schema).replaceAll('"#/components/', '"document#/components/');
  const validate = validators.get(key) ?? ajv.compile(JSON.parse(key) as Schema);
  validators.set(key, validate);
  for (const item of itemsOf(body)) {
    expect(validate(item), `${about}\n${ajv.errorsText(validate.errors)}`).toBe(true);
  }
}

/** The JSON texts of an answer: one, or those of the lines of a stream. */
function itemsOf(body: string): readonly unknown[] {
  try {
    return [JSON.parse(body)];
  } catch {
    return body
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown);
  }
}

interface Described {
  readonly route: Route;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

function requestsFor({ route, method, path, operation }: Described, document: Document): fc.Arbitrary<Asked> {
  const known = [
    'job',
    'g',
    't',
    'default',
    'spare',
    'web',
    'app/one',
    'raw_exec',
    'dc1',
    ...Object.values(pathValues),
  ];
  const values = new SchemaValues(document.components['schemas'] ?? {}, known);
  const parameters = operation.parameters.map((one) => ('$ref' in one ? prettyOf(document) : one));
  return fc
    .record({
      target: targets({ route, path, parameters }, values),
      body: bodies({ route, method, operation }, values),
    })
    .map(({ target, body }) => ({
      method,
      target,
      headers: body === undefined ? {} : { 'content-type': contentTypeOf(operation) },
      body,
    }));
}

function prettyOf(document: Document): Parameter {
  return document.components['parameters']?.['pretty'] as unknown as Parameter;
}

function contentTypeOf({ requestBody }: Operation): string {
  return Object.keys(requestBody?.content ?? {})[0] ?? 'application/json';
}

function targets(
  {
    route,
    path,
    parameters,
  }: { readonly route: Route; readonly path: string; readonly parameters: readonly Parameter[] },
  values: SchemaValues,
): fc.Arbitrary<string> {
  // What is stored is known when the property runs, and again after each refill.
  const stored = fc.constant(undefined).map(() => prefixed(route, path, targetFor(route).split('?')[0] ?? ''));
  const other = fc
    .array(fc.oneof(hostileText, fc.constantFrom('job', 'default', 'web-1')), { minLength: 4, maxLength: 4 })
    .map((texts) => path.replaceAll(/\{\w+\}/g, () => escaped(texts.pop() ?? '')));
  const inQuery = parameters.filter((one) => one.in === 'query');
  const query = fc
    .subarray(inQuery, { maxLength: Math.min(4, inQuery.length) })
    .chain((chosen) => fc.tuple(...chosen.map((one) => pairOf(one, values))))
    .map((pairs) => pairs.filter((pair) => !waits.test(pair)).join('&'));
  const needed = targetFor(route).split('?')[1];
  return fc
    .tuple(fc.oneof({ arbitrary: stored, weight: 3 }, other), query, fc.boolean())
    .map(([text, asked, isWhole]) => {
      const all = [...(isWhole && needed !== undefined ? [needed] : []), ...(asked === '' ? [] : [asked])].join('&');
      return all === '' ? text : `${text}?${all}`;
    });
}

function prefixed(route: Route, path: string, target: string): string {
  return path === route.path ? target : notificationsPath + target;
}

/** A read with an index that is not reached would wait for ever: nothing moves here. */
const waits = /^index=[1-9+]/;

function pairOf({ name, schema }: Parameter, values: SchemaValues): fc.Arbitrary<string> {
  const value = fc.oneof(
    { arbitrary: values.valuesOf(schema).map((one) => (Array.isArray(one) ? one.join(',') : String(one))), weight: 3 },
    hostileText,
  );
  return value.map((text) => `${encodeURIComponent(name)}=${escaped(text)}`);
}

/** Lone surrogates become the bytes that a broken client sends for them. */
function escaped(text: string): string {
  return [...text]
    .map((character) => (/^\p{Surrogate}$/u.test(character) ? '%ED%A0%80' : encodeURIComponent(character)))
    .join('');
}

function bodies(
  { route, method, operation }: Pick<Described, 'route' | 'method' | 'operation'>,
  values: SchemaValues,
): fc.Arbitrary<string | undefined> {
  const [content] = Object.values(operation.requestBody?.content ?? {});
  if (content === undefined) {
    return method === 'GET' || method === 'HEAD' ? fc.constant(undefined) : fc.constantFrom(undefined, '{}', 'x');
  }
  const good = fc.constant(undefined).map(() => bodyFor(route));
  const fitting = values.valuesOf(content.schema);
  const merged = fc.tuple(good, fitting).map(([under, over]) => overlaid(under, over));
  const altered = fc.tuple(good, fitting, hostileValue, fc.nat()).map(([under, over, value, at]) => {
    const base = overlaid(under, at % 2 === 0 ? over : undefined);
    const paths = pathsIn(base);
    return replacedAt(base, paths[at % paths.length] ?? [], value);
  });
  const printed = fc
    .oneof(good, fitting, { arbitrary: merged, weight: 3 }, { arbitrary: altered, weight: 4 })
    .map((value) => (value === undefined ? undefined : JSON.stringify(value)));
  const raw = fc.constantFrom(
    '',
    '{',
    'null',
    '[]',
    '"x"',
    '{"__proto__":{"x":1}}',
    '[1e999]',
    '['.repeat(5000),
    '\ufeff{}',
  );
  return fc.oneof({ arbitrary: printed, weight: 8 }, raw, fc.constant(undefined));
}
