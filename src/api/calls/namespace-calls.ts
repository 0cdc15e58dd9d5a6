import type { Namespace } from '../../jobs/namespaces/namespace.js';
import type { ReadNodePool } from '../../scheduler/node-pool.js';
import { anyCaller, inArea, management, onNodePool } from '../access.js';
import { done, found, list, page } from '../answers.js';
import { readServer, writeServer } from '../call.js';
import {
  filterFaults,
  inBody,
  inPath,
  inQuery,
  nodeDetails,
  pageInputs,
  repeatedInBody,
  withDefault,
} from '../inputs.js';
import {
  jsonBoolean,
  jsonDurationText,
  jsonObject,
  jsonText,
  jsonTextMap,
  jsonTexts,
  jsonUnavailable,
  member,
} from '../json-codecs.js';
import { nodePage } from '../node-documents.js';
import { text } from '../text-codecs.js';

const name = inPath('name', text);

/** Drivers and network modes that jobs of the namespace may use; an absent list allows all. */
const capabilities = inBody(
  'Capabilities',
  jsonObject({
    EnabledTaskDrivers: member('EnabledTaskDrivers', jsonTexts),
    DisabledTaskDrivers: member('DisabledTaskDrivers', jsonTexts),
    EnabledNetworkModes: member('EnabledNetworkModes', jsonTexts),
    DisabledNetworkModes: member('DisabledNetworkModes', jsonTexts),
  }),
);

const content = {
  description: inBody('Description', jsonText),
  meta: inBody('Meta', jsonTextMap),
  capabilities,
  quota: inBody('Quota', jsonUnavailable),
  nodePoolConfiguration: inBody('NodePoolConfiguration', jsonUnavailable),
  vaultConfiguration: inBody('VaultConfiguration', jsonUnavailable),
  consulConfiguration: inBody('ConsulConfiguration', jsonUnavailable),
  requiredExtraClaims: inBody('RequiredExtraClaims', jsonUnavailable),
  optionalExtraClaims: inBody('OptionalExtraClaims', jsonUnavailable),
} as const;

/** Namespaces: read by those with any right in them, written by management. */
export const namespaceCalls = {
  /** The namespaces in which the caller has any right. */
  list: readServer({
    path: '/v1/namespaces',
    access: anyCaller,
    summary: 'The namespaces in which the caller has any right',
    inputs: {
      prefix: inQuery('prefix', text, 'Only names with this prefix'),
      filter: pageInputs.filter,
    },
    errors: filterFaults,
    answer: list<Namespace>('Namespace'),
  }),

  /** One namespace. */
  read: readServer({
    path: '/v1/namespace/{name}',
    access: anyCaller,
    summary: 'One namespace',
    args: ['name'],
    inputs: { name },
    answer: found<Namespace | undefined>('Namespace'),
    absent: 'namespace not found',
  }),

  /** Creates or replaces a namespace; omitted members are cleared. */
  put: writeServer({
    path: '/v1/namespace',
    access: management,
    summary: 'Creates or replaces a namespace; omitted members are cleared',
    args: ['name'],
    inputs: { name: withDefault(inBody('Name', jsonText), ''), ...content },
    errors: ['invalid_namespace'],
    answer: done(),
  }),

  /** The same for the namespace of the path. */
  putNamed: writeServer({
    path: '/v1/namespace/{name}',
    access: management,
    summary: 'The same for the namespace of the path',
    args: ['name'],
    inputs: { name: repeatedInBody(name, { name: 'Name', required: true, what: 'name' }), ...content },
    errors: ['invalid_namespace'],
    answer: done(),
  }),

  /** Removes an unused namespace. */
  remove: writeServer({
    methods: ['DELETE'],
    path: '/v1/namespace/{name}',
    access: management,
    summary: 'Removes an unused namespace',
    args: ['name'],
    inputs: { name },
    errors: ['namespace_not_found', 'namespace_protected', 'namespace_in_use'],
    answer: done(),
  }),
} as const;

const poolName = inPath('name', text);

const poolContent = {
  description: inBody('Description', jsonText),
  meta: inBody('Meta', jsonTextMap),
  schedulerConfiguration: inBody(
    'SchedulerConfiguration',
    jsonObject({
      SchedulerAlgorithm: member('SchedulerAlgorithm', jsonText),
      MemoryOversubscriptionEnabled: member('MemoryOversubscriptionEnabled', jsonBoolean),
    }),
  ),
  nodeIdentityTtl: inBody('NodeIdentityTTL', jsonDurationText),
} as const;

/** Node pools: sets of nodes that jobs choose by name. */
export const nodePoolCalls = {
  list: readServer({
    path: '/v1/node/pools',
    access: anyCaller,
    summary: 'The node pools that the caller may read, by name',
    inputs: { ...pageInputs, prefix: inQuery('prefix', text, 'Only names with this prefix') },
    errors: filterFaults,
    answer: page<ReadNodePool>('NodePool'),
  }),

  read: readServer({
    path: '/v1/node/pool/{name}',
    access: onNodePool('read'),
    summary: 'One node pool',
    args: ['name'],
    inputs: { name: poolName },
    answer: found<ReadNodePool | undefined>('NodePool'),
    absent: 'node pool not found',
  }),

  nodes: readServer({
    path: '/v1/node/pool/{name}/nodes',
    access: inArea('node', 'read'),
    summary: 'The nodes of a pool, by ID',
    args: ['name'],
    inputs: {
      name: poolName,
      filter: pageInputs.filter,
      perPage: pageInputs.perPage,
      nextToken: pageInputs.nextToken,
      reverse: pageInputs.reverse,
      ...nodeDetails,
    },
    errors: [...filterFaults, 'node_pool_not_found'],
    answer: nodePage,
  }),

  /** Creates or replaces a pool; omitted members are cleared. */
  put: writeServer({
    path: '/v1/node/pools',
    access: onNodePool('write'),
    summary: 'Creates or replaces a node pool; omitted members are cleared',
    args: ['name'],
    inputs: { name: withDefault(inBody('Name', jsonText), ''), ...poolContent },
    errors: ['invalid_node_pool', 'node_pool_not_found', 'node_pool_in_use'],
    answer: done(),
  }),

  putNamed: writeServer({
    path: '/v1/node/pool/{name}',
    access: onNodePool('write'),
    summary: 'The same for the pool of the path',
    args: ['name'],
    inputs: { name: repeatedInBody(poolName, { name: 'Name', required: true, what: 'name' }), ...poolContent },
    errors: ['invalid_node_pool', 'node_pool_not_found', 'node_pool_in_use'],
    answer: done(),
  }),

  remove: writeServer({
    methods: ['DELETE'],
    path: '/v1/node/pool/{name}',
    access: onNodePool('delete'),
    summary: 'Removes a node pool without nodes and live jobs',
    args: ['name'],
    inputs: { name: poolName },
    errors: ['invalid_node_pool', 'node_pool_not_found', 'node_pool_in_use'],
    answer: done(),
  }),
} as const;
