import type { VariableWritten } from '../../operations/variables/write-variable.js';
import type { FuzzyMatches, PrefixMatches } from '../../queries/search.js';
import type { ServiceNamespaceStub, ServiceRegistration } from '../../services/service-registration.js';
import type { VariableDocument, VariableStub } from '../../variables/variable-document.js';
import { anyCaller, byOperation, inNamespace, onRecord, onVariables } from '../access.js';
import { type AnswerForm, done, found, type Indexed, inlinedMetadata, list, listSchema, page } from '../answers.js';
import { read, readServer, write } from '../call.js';
import { filterFaults, inBody, inPath, inQuery, pageInputs, withDefault } from '../inputs.js';
import { jsonDurationText, jsonName, jsonObject, jsonText, jsonTextMap, member, namedSchema } from '../json-codecs.js';
import { flag, text, unsigned } from '../text-codecs.js';

const filter = inQuery('filter', text, 'A filter expression over the registrations');

/** The built-in service catalogue: services and the addresses of their instances. */
export const serviceCalls = {
  /** The services of a namespace, or of all (`*`). */
  list: read({
    path: '/v1/services',
    access: byOperation(inNamespace('read-job')),
    summary: 'The services of a namespace, or of all (`*`), with their tags',
    inputs: { filter },
    errors: filterFaults,
    answer: list<ServiceNamespaceStub>('ServiceNamespaceStub'),
  }),

  /** A page of the instances of a service, by ID. */
  read: read({
    path: '/v1/service/{service_name}',
    access: inNamespace('read-job'),
    summary: 'A page of the instances of a service, by ID',
    args: ['name'],
    inputs: {
      name: inPath('service_name', text),
      filter,
      choose: inQuery(
        'choose',
        text,
        '`<number>|<key>`: returns this number of instances of the page, the same ones for the same key',
      ),
      perPage: pageInputs.perPage,
      nextToken: pageInputs.nextToken,
    },
    errors: ['invalid_request', ...filterFaults],
    answer: page<ServiceRegistration>('ServiceRegistration'),
  }),

  /** Removes one instance of a service from the catalogue. */
  remove: write({
    path: '/v1/service/{service_name}/{service_id}',
    methods: ['DELETE'],
    access: inNamespace('submit-job', 'delete-service-registration'),
    summary: 'Removes one instance of a service from the catalogue',
    args: ['name', 'id'],
    inputs: { name: inPath('service_name', text), id: inPath('service_id', text) },
    errors: ['invalid_request'],
    answer: done(),
  }),
} as const;

type Instances = readonly ServiceRegistration[] | undefined;

/** The service instances of a job or an allocation, or 404 if it does not exist. */
const instances: AnswerForm<Indexed<Instances>, Indexed<Instances>> = {
  ...found<Instances>('ServiceRegistration'),
  schema: listSchema('ServiceRegistration'),
};

export const jobServiceCalls = {
  /** The instances of services that a job offers. */
  services: read({
    path: '/v1/job/{job_id}/services',
    alias: '/job/{job_id}/services',
    access: inNamespace('read-job'),
    summary: 'The instances of services that a job offers',
    args: ['jobId'],
    inputs: { jobId: inPath('job_id', text) },
    answer: instances,
    absent: 'job not found',
  }),
} as const;

export const allocationServiceCalls = {
  /** The instances of services that an allocation offers. */
  services: readServer({
    path: '/v1/allocation/{allocation_id}/services',
    access: onRecord('read-job'),
    summary: 'The instances of services that an allocation offers',
    args: ['allocationId'],
    inputs: { allocationId: inPath('allocation_id', text) },
    errors: ['invalid_request'],
    answer: instances,
    absent: 'allocation not found',
  }),
} as const;

const path = inPath('path', text);
const cas = inQuery(
  'cas',
  unsigned('can not parse cas'),
  'The modify index that the variable must have; 0: it must not exist',
);

/** The variable, or with 409 the conflicting one. */
const writtenVariable: AnswerForm<VariableWritten, VariableWritten> = {
  schema: namedSchema('Variable'),
  status: 200,
  statusOf: ({ conflict }) => (conflict ? 409 : 200),
  otherStatuses: [409],
  toClient: (value) => value,
  // Clients read an object also from a variable that has only a lock.
  toWire: ({ value }) => JSON.stringify({ ...value, Items: value.Items ?? {} }),
  indexOf: ({ index }) => index,
};

/** Nothing, or with 409 the conflicting variable. */
const removedVariable: AnswerForm<VariableWritten, VariableWritten> = {
  ...writtenVariable,
  schema: undefined,
  otherSchema: namedSchema('Variable'),
  status: 204,
  statusOf: ({ conflict }) => (conflict ? 409 : 204),
  toWire: ({ conflict, value }) => (conflict ? JSON.stringify(value) : ''),
};

/** Variables: named strings under a path in a namespace, with check-and-set and locks. */
export const variableCalls = {
  /** The variables that the caller may list, without their items. */
  list: read({
    path: '/v1/vars',
    access: onVariables,
    summary: 'The variables that the caller may list, without their items',
    inputs: pageInputs,
    errors: filterFaults,
    answer: page<VariableStub>('VariableStub'),
  }),

  /** One variable, with its items. */
  read: read({
    path: '/v1/var/{path}',
    access: onVariables,
    summary: 'One variable, with its items',
    args: ['path'],
    inputs: { path },
    errors: ['undecipherable'],
    answer: found<VariableDocument | undefined>('Variable'),
    absent: 'variable not found',
  }),

  /** Creates a variable or replaces its items; acquires, renews or releases its lock. */
  put: write({
    path: '/v1/var/{path}',
    access: onVariables,
    summary: 'Creates a variable or replaces its items; acquires, renews or releases its lock',
    args: ['path'],
    inputs: {
      path,
      cas,
      acquire: inQuery('lock-acquire', flag, 'Acquire its lock, too'),
      renew: inQuery('lock-renew', flag, 'Renew its lock; the items are unchanged'),
      release: inQuery('lock-release', flag, 'Release its lock'),
      itsNamespace: inBody('Namespace', jsonName),
      items: inBody('Items', jsonTextMap),
      lock: inBody(
        'Lock',
        jsonObject({
          id: member('ID', jsonText),
          ttl: member('TTL', jsonDurationText),
          delay: member('LockDelay', jsonDurationText),
        }),
      ),
    },
    errors: ['invalid_variable', 'items_missing'],
    answer: writtenVariable,
  }),

  /** Removes a variable. */
  remove: write({
    methods: ['DELETE'],
    path: '/v1/var/{path}',
    access: onVariables,
    summary: 'Removes a variable',
    args: ['path'],
    inputs: { path, cas },
    answer: removedVariable,
  }),
} as const;

interface Matches {
  readonly Matches: object;
  readonly Truncations: object;
  readonly index: number;
}

function matches<T extends Matches>(): AnswerForm<T, T> {
  return {
    schema: namedSchema('SearchMatches'),
    status: 200,
    toClient: (value) => value,
    toWire: ({ Matches, Truncations, index }) =>
      JSON.stringify({ ...inlinedMetadata, KnownLeader: true, Matches, Truncations, Index: index }),
    indexOf: ({ index }) => index,
  };
}

const context = withDefault(inBody('Context', jsonText), '');

/** Searches over names and IDs. */
export const searchCalls = {
  /** Finds objects by a prefix, at most 20 of each context. */
  prefix: write({
    path: '/v1/search',
    access: byOperation(inNamespace('list-jobs', 'read-job')),
    summary: 'Finds objects by a prefix, at most 20 of each context',
    args: ['prefix', 'context'],
    inputs: { prefix: withDefault(inBody('Prefix', jsonText), ''), context },
    errors: ['search_refused'],
    answer: matches<PrefixMatches & { readonly index: number }>(),
    leaderHeaders: 'known',
  }),

  /** Finds objects whose name contains a string, including groups, tasks and services inside jobs. */
  fuzzy: write({
    path: '/v1/search/fuzzy',
    access: anyCaller,
    summary: 'Finds objects whose name contains a string, including groups, tasks and services inside jobs',
    args: ['text', 'context'],
    inputs: { text: withDefault(inBody('Text', jsonText), ''), context },
    errors: ['search_refused'],
    answer: matches<FuzzyMatches & { readonly index: number }>(),
    leaderHeaders: 'known',
  }),
} as const;
