import {
  listNamespaces,
  type NamespaceInput,
  putNamespace,
  readNamespace,
  removeNamespace,
} from '../../../src/index.js';
import {
  described,
  type FieldValues,
  objectField,
  readFields,
  required,
  schemaOfFields,
  textField,
  textListField,
  textMapField,
  unavailableField,
} from '../fields.js';
import type { HttpResponse } from '../http-message.js';
import { objectSchema, orNull } from '../json-schema.js';
import { textParameter } from '../query.js';
import { emptyResponse } from '../responses.js';
import type { Route, RouteCall } from '../route.js';
import { badRequest, jobErrorResponse, jobErrors } from './job-errors.js';
import { needs, readRoute, writeRoute } from './job-route.js';
import { listOf } from './job-schemas.js';

const namespaceSchema = () =>
  objectSchema(
    {
      Name: { type: 'string' },
      Description: { type: 'string' },
      Meta: orNull({ type: 'object', additionalProperties: { type: 'string' } }),
      Capabilities: orNull(schemaOfFields(capabilityFields)),
    },
    ['Name', 'Description'],
  );

/** Which drivers and network modes jobs of the namespace may use; a list that is absent allows all of them. */
const capabilityFields = {
  EnabledTaskDrivers: textListField,
  DisabledTaskDrivers: textListField,
  EnabledNetworkModes: textListField,
  DisabledNetworkModes: textListField,
} as const;

const namespaceFields = {
  Name: required(textField),
  Description: textField,
  Meta: textMapField,
  Capabilities: described(objectField, () => schemaOfFields(capabilityFields)),
  Quota: unavailableField,
  NodePoolConfiguration: unavailableField,
  VaultConfiguration: unavailableField,
  ConsulConfiguration: unavailableField,
  RequiredExtraClaims: unavailableField,
  OptionalExtraClaims: unavailableField,
} as const;

/** Namespaces: read by those with any right in them, written by management. */
export const namespaceRoutes: readonly Route[] = [
  readRoute({
    path: '/v1/namespaces',
    operation: 'listNamespaces',
    summary: 'The namespaces in which the caller has any right',
    access: needs('list-jobs', 'read-job'),
    inNoNamespace: true,
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
    inNoNamespace: true,
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
    inNoNamespace: true,
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
    inNoNamespace: true,
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
    inNoNamespace: true,
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
  const capabilities = capabilitiesFrom(body.Capabilities);
  if (capabilities.isErr()) return jobErrors.badInput(capabilities.error);
  const input: NamespaceInput = {
    name: body.Name,
    ...(body.Description === undefined ? {} : { description: body.Description }),
    ...(body.Meta === undefined ? {} : { meta: body.Meta }),
    capabilities: capabilities.value,
  };
  const done = await putNamespace(call.engine, call.caller, input);
  return done.match(({ index }) => written(call, index), jobErrorResponse);
}

function capabilitiesFrom(given: FieldValues<typeof namespaceFields>['Capabilities']) {
  return readFields(capabilityFields, given ?? {}).map((lists) =>
    given === undefined
      ? null
      : {
          EnabledTaskDrivers: lists.EnabledTaskDrivers ?? null,
          DisabledTaskDrivers: lists.DisabledTaskDrivers ?? null,
          EnabledNetworkModes: lists.EnabledNetworkModes ?? null,
          DisabledNetworkModes: lists.DisabledNetworkModes ?? null,
        },
  );
}

/** These writes answer with nothing but the index. */
function written(call: RouteCall, index: number): HttpResponse {
  const response = emptyResponse(200);
  response.headers.push(call.names.index, String(index));
  return response;
}
