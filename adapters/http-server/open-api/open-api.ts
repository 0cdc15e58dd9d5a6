import { accessText } from '../../../src/api/access.js';
import { type Call, type HttpMethod, waitingInputsOf } from '../../../src/api/call.js';
import { callsOf, type NamedCall } from '../../../src/api/index.js';
import type { Input, Inputs } from '../../../src/api/inputs.js';
import { type JsonSchema, orNull } from '../../../src/api/json-codecs.js';
import { jobJsonSchema } from '../../../src/jobs/index.js';
import { bodyKindOf } from '../calls/read-inputs.js';
import type { JobDialect } from '../dialect.js';
import { jsonApiType, jsonType } from '../http-message.js';
import { jobSchemas } from './job-schemas.js';
import { anyObject } from './json-schema.js';
import { notificationSchemas } from './notification-schemas.js';
import { errorStatuses, headerComponents, responseComponents, responsesOf } from './responses.js';
import { functionSchemas } from './system-schemas.js';

/**
 * The OpenAPI 3.1 document of the interface; `notificationsPath` is where the notification interface is mounted, `dialect`
 * the form of the headers.
 */
export function openApiDocument(notificationsPath: string, dialect: JobDialect): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const named of callsOf()) {
    const { call } = named;
    const path = (call.interface === 'notifications' ? notificationsPath : '') + call.path;
    const operations = paths[path] ?? {};
    for (const method of call.methods) operations[method.toLowerCase()] = operationOf(named, method, dialect);
    paths[path] = operations;
    if (call.alias !== undefined) paths[call.alias] = aliasOf(named, dialect);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Signalbox',
      version: '1',
      description:
        'Job scheduling and workspace notifications. Errors of the job interface are plain text, those of the notification interface are JSON:API documents.',
    },
    paths: { ...paths, '/v1/openapi.json': ownPath },
    components: {
      schemas: componentSchemas(),
      responses: responseComponents,
      headers: headerComponents,
      parameters: { pretty },
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: dialect.headers.token },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  };
}

const ownPath: JsonSchema = {
  get: {
    operationId: 'openApi',
    tags: ['system'],
    summary: 'This interface as an OpenAPI 3.1 document',
    description: 'Requires no token.',
    security: [],
    parameters: [],
    responses: {
      200: { description: 'The document', content: { [jsonType]: { schema: anyObject } } },
      414: { $ref: '#/components/responses/TextError414' },
      421: { $ref: '#/components/responses/TextError421' },
    },
  },
};

function operationOf(named: NamedCall, method: HttpMethod, dialect: JobDialect): JsonSchema {
  const { name, area, call } = named;
  const main = method === call.methods[0];
  const body = requestBodyOf(call);
  return {
    operationId: main ? name : `${name}.${method.toLowerCase()}`,
    tags: [area],
    summary: call.summary,
    description: [accessText(call.access), errorsText(named, dialect)].join(' ').trim(),
    security: call.access.type === 'public' ? [] : [{ token: [] }, { bearer: [] }],
    parameters: [...pathParameters(call.path), ...queryParameters(call), ...prettyParameter(call)],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: responsesOf(named, method, dialect),
  };
}

/** The operations of a call at its second path. */
function aliasOf(named: NamedCall, dialect: JobDialect): Record<string, JsonSchema> {
  return Object.fromEntries(
    named.call.methods.map((method) => {
      const operation = operationOf(named, method, dialect);
      return [method.toLowerCase(), { ...operation, operationId: `${String(operation['operationId'])}.alias` }];
    }),
  );
}

/** The errors of the operation, by the tags that the clients of this package get. */
function errorsText(named: NamedCall, dialect: JobDialect): string {
  const errors = [...errorStatuses(named, dialect)].map(([tag, statuses]) => `${tag} (${statuses.join(' or ')})`);
  return errors.length === 0 ? '' : `Errors: ${errors.join(', ')}.`;
}

const pretty: JsonSchema = {
  name: 'pretty',
  in: 'query',
  required: false,
  description: 'Indents the JSON, unless it is `0`',
  allowEmptyValue: true,
  schema: { type: 'string' },
};

function prettyParameter({ interface: of, kind, answer }: Call): JsonSchema[] {
  const isJson = answer.schema !== undefined && kind !== 'stream' && kind !== 'socket';
  return of === 'jobs' && isJson ? [{ $ref: '#/components/parameters/pretty' }] : [];
}

function pathParameters(path: string): JsonSchema[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => ({
    name: match[1],
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

/** The query parameters, by their first form; one that stands for several inputs is listed once. */
export function queryParameters(call: Call): readonly JsonSchema[] {
  const inputs: Inputs = { ...waitingInputsOf(call), ...call.inputs };
  const parameters = Object.values(inputs).flatMap((input) =>
    input.locations.flatMap((location) =>
      location.in === 'query'
        ? [
            {
              name: location.name,
              in: 'query',
              required: isRequired(input) && input.locations.length === 1,
              description: location.description,
              schema: location.codec.schema,
            },
          ]
        : location.in === 'queries'
          ? [repeatedParameter(location)]
          : [],
    ),
  );
  return [...new Map(parameters.map((parameter) => [parameter['name'], parameter])).values()];
}

function repeatedParameter({ name, description }: { readonly name: string; readonly description: string }): JsonSchema {
  const schema = { type: 'array', items: { type: 'string' } };
  return { name, in: 'query', required: false, description, style: 'form', explode: true, schema };
}

function isRequired(input: Input<unknown>): boolean {
  return input.required && !Object.hasOwn(input, 'fallback');
}

/** The request body of the call; undefined if it has none. */
export function requestBodyOf(call: Call): JsonSchema | undefined {
  switch (bodyKindOf(call)) {
    case 'none':
      return undefined;
    case 'bytes':
      return { required: false, content: { 'application/octet-stream': { schema: {} } } };
    case 'members':
      return { required: call.optionalBody === undefined, content: { [jsonType]: { schema: bodySchema(call) } } };
    case 'document': {
      const [document] = Object.values(call.inputs).flatMap(({ locations }) =>
        locations.flatMap((location) => (location.in === 'document' ? [location.document] : [])),
      );
      return { required: true, content: { [jsonApiType]: { schema: document?.schema ?? {} } } };
    }
  }
}

/** The members of a JSON body, optional unless required. */
function bodySchema(call: Call): JsonSchema {
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  const add = (name: string, schema: JsonSchema, needed: boolean): void => {
    properties[name] = needed ? schema : orNull(schema);
    if (needed && !required.includes(name)) required.push(name);
  };
  for (const input of Object.values(call.inputs)) {
    if (input.repeated !== undefined) add(input.repeated.name, { type: 'string' }, input.repeated.required);
    for (const location of input.locations) {
      if (location.in === 'body')
        add(location.name, location.codec.schema(), isRequired(input) && input.locations.length === 1);
      if (location.in === 'members') {
        for (const { name, codec } of Object.values(location.members)) add(name, codec.schema(), false);
      }
    }
  }
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

/** Every schema that the interface names, for the components of the OpenAPI document. */
function componentSchemas(): Readonly<Record<string, JsonSchema>> {
  const { root, definitions } = jobJsonSchema();
  return {
    ...(definitions as Readonly<Record<string, JsonSchema>>),
    SubmittedJob: { ...root },
    ...jobSchemas,
    ...functionSchemas,
    ...notificationSchemas,
  };
}
