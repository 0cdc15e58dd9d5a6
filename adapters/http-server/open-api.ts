import { jobJsonSchema } from '../../src/index.js';
import type { JsonSchema } from './json-schema.js';
import type { AnswerDescription, Route, RouteAccess } from './route.js';

/** The OpenAPI 3.1 document of a route table; `notificationsPath` is where the notification interface is mounted. */
export function openApiDocument(routes: readonly Route[], notificationsPath: string): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const route of routes) {
    const path = (route.half === 'notifications' ? notificationsPath : '') + route.path;
    paths[path] ??= {};
    for (const method of route.methods) {
      (paths[path] as Record<string, JsonSchema>)[method.toLowerCase()] = operationOf(route, method);
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Signalbox',
      version: '1',
      description:
        'Job scheduling and workspace notifications. Errors of the job interface are plain text, those of the notification interface are JSON:API documents.',
    },
    paths,
    components: {
      schemas: jobJsonSchema().definitions,
      securitySchemes: {
        token: { type: 'apiKey', in: 'header', name: 'X-SVC-Token' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  };
}

function operationOf(route: Route, method: string): JsonSchema {
  const main = method === route.methods[0];
  return {
    operationId: main ? route.operation : route.operation + method[0] + method.slice(1).toLowerCase(),
    tags: [route.half],
    summary: route.summary,
    description: accessText(route.access),
    security: route.access.type === 'public' ? [] : [{ token: [] }, { bearer: [] }],
    parameters: [...pathParameters(route.path), ...queryParameters(route)],
    ...(route.requestBody === undefined
      ? {}
      : {
          requestBody: {
            required: route.requestBody.required,
            content: { [route.requestBody.contentType]: { schema: route.requestBody.schema() } },
          },
        }),
    responses: responsesOf(route),
  };
}

function accessText(access: RouteAccess): string {
  switch (access.type) {
    case 'public':
      return 'Needs no token.';
    case 'namespace': {
      const place = access.namedBy === 'record' ? 'namespace of what is asked for' : 'namespace of the request';
      return `Needs one of the capabilities ${access.anyOf.join(', ')} in the ${place}.`;
    }
    case 'workspace':
      return 'Needs the right "' + access.right + '" on the workspace.';
    case 'management':
      return 'Needs a management token.';
  }
}

function pathParameters(path: string): JsonSchema[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => ({
    name: match[1],
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(route: Route): JsonSchema[] {
  return Object.entries(route.parameters).map(([name, parameter]) => ({
    name,
    in: 'query',
    required: parameter.required ?? false,
    description: parameter.description,
    schema: parameter.schema,
  }));
}

function responsesOf(route: Route): JsonSchema {
  const responses: Record<string, JsonSchema> = {};
  for (const [status, answer] of Object.entries(route.answers)) responses[status] = responseOf(answer);
  if (route.access.type === 'public') return responses;
  responses['default'] = {
    description: 'An error',
    content:
      route.half === 'notifications'
        ? { 'application/vnd.api+json': { schema: errorDocument } }
        : { 'text/plain': { schema: { type: 'string' } } },
  };
  return responses;
}

function responseOf(answer: AnswerDescription): JsonSchema {
  if (answer.contentType === undefined) return { description: answer.description };
  return {
    description: answer.description,
    content: { [answer.contentType]: answer.schema === undefined ? {} : { schema: answer.schema() } },
  };
}

const errorDocument: JsonSchema = {
  type: 'object',
  required: ['errors'],
  properties: {
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['status', 'title'],
        properties: {
          status: { type: 'string' },
          title: { type: 'string' },
          detail: { type: 'string' },
          source: {
            type: 'object',
            properties: { pointer: { type: 'string' }, parameter: { type: 'string' } },
          },
        },
      },
    },
  },
};
