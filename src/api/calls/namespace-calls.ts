import type { Namespace } from '../../jobs/namespaces/namespace.js';
import { anyCaller, management } from '../access.js';
import { done, found, list } from '../answers.js';
import { readServer, writeServer } from '../call.js';
import { filterFaults, pageInputs } from '../common-inputs.js';
import { inBody, inPath, inQuery, repeatedInBody, withDefault } from '../inputs.js';
import { jsonObject, jsonText, jsonTextMap, jsonTexts, jsonUnavailable, member } from '../json-codecs.js';
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
