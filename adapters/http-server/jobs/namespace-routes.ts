import {
  listNamespaces,
  type NamespaceInput,
  putNamespace,
  readNamespace,
  removeNamespace,
} from '../../../src/index.js';
import { type FieldValues, objectField, required, textField, textMapField } from '../fields.js';
import type { HttpResponse } from '../http-message.js';
import { objectSchema } from '../json-schema.js';
import { textParameter } from '../query.js';
import { emptyResponse } from '../responses.js';
import type { Route, RouteCall } from '../route.js';
import { badRequest, jobErrorResponse } from './job-errors.js';
import { needs, readRoute, writeRoute } from './job-route.js';
import { listOf } from './job-schemas.js';

const namespaceSchema = () =>
  objectSchema({ Name: { type: 'string' }, Description: { type: 'string' } }, ['Name', 'Description']);

const namespaceFields = {
  Name: required(textField),
  Description: textField,
  Meta: textMapField,
  Capabilities: objectField,
} as const;

/** Namespaces: read by those with any right in them, written by management. */
export const namespaceRoutes: readonly Route[] = [
  readRoute({
    path: '/v1/namespaces',
    operation: 'listNamespaces',
    summary: 'The namespaces in which the caller has any right',
    access: needs('list-jobs', 'read-job'),
    parameters: { prefix: textParameter('Only names that begin with this') },
    schema: () => listOf(namespaceSchema),
    run: ({ engine, caller }, { values, waiting }) =>
      listNamespaces(engine, caller, { prefix: values.prefix ?? '', waiting }),
    print: (namespaces) => JSON.stringify(namespaces),
  }),
  readRoute({
    path: '/v1/namespace/{name}',
    operation: 'readNamespace',
    summary: 'One namespace',
    access: needs('list-jobs', 'read-job'),
    parameters: {},
    schema: namespaceSchema,
    run: ({ engine, caller }, { id, waiting }) => readNamespace(engine, caller, { name: id, waiting }),
    print: (namespace) => namespace && JSON.stringify(namespace),
    absent: 'namespace not found',
  }),
  writeRoute({
    path: '/v1/namespace',
    operation: 'putNamespace',
    summary: 'Make a namespace, or change it',
    access: { type: 'management' },
    parameters: {},
    fields: namespaceFields,
    body: 'required',
    run: (call, { body }) => put(call, body),
  }),
  writeRoute({
    path: '/v1/namespace/{name}',
    operation: 'putNamedNamespace',
    summary: 'Make the namespace of the path, or change it',
    access: { type: 'management' },
    parameters: {},
    fields: namespaceFields,
    body: 'required',
    run: (call, { body, id }) =>
      body.Name === id ? put(call, body) : Promise.resolve(badRequest('the name of the body is not that of the path')),
  }),
  writeRoute({
    methods: ['DELETE'],
    path: '/v1/namespace/{name}',
    operation: 'removeNamespace',
    summary: 'Remove a namespace in which nothing lives any more',
    access: { type: 'management' },
    parameters: {},
    fields: {},
    body: 'ignored',
    run: async (call, { id }) => {
      const removed = await removeNamespace(call.engine, call.caller, { name: id });
      return removed.match(({ index }) => written(call, index), jobErrorResponse);
    },
  }),
];

async function put(call: RouteCall, body: FieldValues<typeof namespaceFields>): Promise<HttpResponse> {
  const input: NamespaceInput = {
    name: body.Name,
    ...(body.Description === undefined ? {} : { description: body.Description }),
    ...(body.Meta === undefined ? {} : { meta: body.Meta }),
  };
  const done = await putNamespace(call.engine, call.caller, input);
  return done.match(({ index }) => written(call, index), jobErrorResponse);
}

/** These writes answer with nothing but the index. */
function written(call: RouteCall, index: number): HttpResponse {
  const response = emptyResponse(200);
  response.headers.push(call.names.index, String(index));
  return response;
}
