import type { PolicyDocument, PolicyJob, PolicyStub, StoredRole } from '../../access/policy-record.js';
import type { OneTimeToken, TokenDocument, TokenStub } from '../../access/tokens.js';
import type { CallerRights } from '../../operations/access/caller-rights.js';
import type { TriedPolicy } from '../../operations/access/try-policy.js';
import { anyCaller, everybody, management } from '../access.js';
import { type AnswerForm, computed, done, found, type Indexed, list, page, stored } from '../answers.js';
import { readServer, writeServer } from '../call.js';
import { filterFaults, inBody, inPath, inQuery, pageInputs, repeatedInBody, required, withDefault } from '../inputs.js';
import {
  jsonBoolean,
  jsonDurationText,
  jsonInstant,
  jsonList,
  jsonName,
  jsonObject,
  jsonText,
  jsonTextMap,
  jsonTexts,
  member,
} from '../json-codecs.js';
import { beginningOfId, text } from '../text-codecs.js';

const policyName = inPath('name', text);

/** Policies: named sets of rules for tokens and roles. */
export const policyCalls = {
  /** All policies for management callers, the caller's policies for others. */
  list: readServer({
    path: '/v1/acl/policies',
    access: anyCaller,
    summary: "All policies for management callers, the caller's policies for others",
    inputs: { ...pageInputs, prefix: inQuery('prefix', text, 'Only names with this prefix') },
    errors: filterFaults,
    answer: page<PolicyStub>('ACLPolicyStub'),
  }),

  /** The policies of the caller's token, directly or through roles. */
  self: readServer({
    path: '/v1/acl/policy/self',
    access: anyCaller,
    summary: "The policies of the caller's token, directly or through roles",
    inputs: {},
    answer: list<PolicyStub>('ACLPolicyStub'),
  }),

  /** One policy, with its parsed rules. */
  read: readServer({
    path: '/v1/acl/policy/{name}',
    access: anyCaller,
    summary: 'One policy, with its parsed rules',
    args: ['name'],
    inputs: { name: policyName },
    answer: found<PolicyDocument | undefined>('ACLPolicy'),
    absent: 'ACL policy not found',
  }),

  /** Creates or replaces a policy. */
  put: writeServer({
    path: '/v1/acl/policy/{name}',
    access: management,
    summary: 'Creates or replaces a policy',
    args: ['name'],
    inputs: {
      name: repeatedInBody(policyName, { name: 'Name', required: true, what: 'policy name' }),
      description: inBody('Description', jsonText),
      rules: inBody('Rules', jsonText),
      job: inBody(
        'JobACL',
        jsonObject({
          Namespace: member('Namespace', jsonText),
          JobID: member('JobID', jsonText),
          Group: member('Group', jsonText),
          Task: member('Task', jsonText),
        } satisfies Readonly<Record<keyof PolicyJob, unknown>>),
      ),
    },
    errors: ['invalid_access'],
    answer: done(),
  }),

  /** Whether rules would allow a call; nothing is stored. */
  try: writeServer({
    methods: ['POST'],
    path: '/v1/acl/policies/try',
    access: management,
    summary: 'Whether rules would allow a call, and which rule decides; nothing is stored',
    inputs: {
      rules: withDefault(inBody('rules', jsonText), ''),
      call: withDefault(inBody('call', jsonText), ''),
      namespace: inBody('namespace', jsonName),
      name: inBody('name', jsonName),
    },
    errors: ['invalid_access'],
    answer: computed<TriedPolicy>('TriedPolicy'),
  }),

  /** Removes a policy; its tokens lose its rights. */
  remove: writeServer({
    methods: ['DELETE'],
    path: '/v1/acl/policy/{name}',
    access: management,
    summary: 'Removes a policy; its tokens lose its rights',
    args: ['name'],
    inputs: { name: policyName },
    answer: done(),
  }),
} as const;

const roleId = inPath('role_id', text);
const roleContent = {
  name: withDefault(inBody('Name', jsonText), ''),
  description: inBody('Description', jsonText),
  policies: inBody('Policies', jsonList(jsonObject({ name: member('Name', jsonText) }))),
} as const;

/** Roles: named sets of policies for tokens. */
export const roleCalls = {
  /** All roles for management callers, the caller's roles for others. */
  list: readServer({
    path: '/v1/acl/roles',
    access: anyCaller,
    summary: "All roles for management callers, the caller's roles for others",
    inputs: pageInputs,
    errors: filterFaults,
    answer: page<StoredRole>('ACLRole'),
  }),

  /** One role. */
  read: readServer({
    path: '/v1/acl/role/{role_id}',
    access: anyCaller,
    summary: 'One role',
    args: ['id'],
    inputs: { id: roleId },
    answer: found<StoredRole | undefined>('ACLRole'),
    absent: 'ACL role not found',
  }),

  /** One role, by its name. */
  readNamed: readServer({
    path: '/v1/acl/role/name/{name}',
    access: anyCaller,
    summary: 'One role, by its name',
    args: ['name'],
    inputs: { name: inPath('name', text) },
    answer: found<StoredRole | undefined>('ACLRole'),
    absent: 'ACL role not found',
  }),

  /** Creates a role, or with an ID changes that role. */
  create: writeServer({
    path: '/v1/acl/role',
    access: management,
    summary: 'Creates a role, or with an ID changes that role',
    inputs: { id: inBody('ID', jsonName), ...roleContent },
    errors: ['invalid_access'],
    answer: stored<StoredRole>('ACLRole'),
  }),

  /** Changes a role. */
  update: writeServer({
    path: '/v1/acl/role/{role_id}',
    access: management,
    summary: 'Changes a role',
    args: ['id'],
    inputs: { id: repeatedInBody(roleId, { name: 'ID', required: true, what: 'role ID' }), ...roleContent },
    errors: ['invalid_access'],
    answer: stored<StoredRole>('ACLRole'),
  }),

  /** Removes a role; the tokens that have it lose its policies. */
  remove: writeServer({
    methods: ['DELETE'],
    path: '/v1/acl/role/{role_id}',
    access: management,
    summary: 'Removes a role; the tokens that have it lose its policies',
    args: ['id'],
    inputs: { id: roleId },
    errors: ['role_not_found'],
    answer: done(),
  }),
} as const;

const accessor = inPath('accessor_id', text);
const tokenContent = {
  name: withDefault(inBody('Name', jsonText), ''),
  type: withDefault(inBody('Type', jsonText), ''),
  policies: inBody('Policies', jsonTexts),
  roles: inBody('Roles', jsonList(jsonObject({ id: member('ID', jsonText), name: member('Name', jsonText) }))),
  nodeId: inBody('NodeID', jsonName),
  nodePool: inBody('NodePool', jsonName),
  workspaces: inBody('Workspaces', jsonTextMap),
  global: inBody('Global', jsonBoolean),
  lifetime: inBody('ExpirationTTL', jsonDurationText),
  expiresAt: inBody('ExpirationTime', jsonInstant),
} as const;

/** A value that is a named member on the wire, next to the index of the write. */
function under<T>(name: string, schema: string): AnswerForm<Indexed<T>, Indexed<T>> {
  return { ...found<T>(schema), toWire: ({ index, value }) => JSON.stringify({ [name]: value, Index: index }) };
}

/** Tokens: credentials of callers, with their rights. */
export const tokenCalls = {
  /** The tokens, without their secrets. */
  list: readServer({
    path: '/v1/acl/tokens',
    access: management,
    summary: 'The tokens, without their secrets',
    inputs: {
      ...pageInputs,
      prefix: inQuery('prefix', beginningOfId, 'Only accessors with this prefix'),
      global: inQuery('global', text, 'Accepted without effect: there is one region'),
    },
    errors: [...filterFaults, 'malformed_accessor'],
    answer: page<TokenStub>('ACLTokenStub'),
  }),

  /** The token of the caller. */
  self: readServer({
    path: '/v1/acl/token/self',
    access: anyCaller,
    summary: 'The token of the caller',
    inputs: {},
    answer: found<TokenDocument | undefined>('ACLToken'),
    absent: 'ACL token not found',
  }),

  /** What the caller is and may do. */
  rights: readServer({
    path: '/v1/acl/rights',
    access: anyCaller,
    summary: 'What the caller is and may do: capabilities in each namespace, rights in areas, pools and workspaces',
    inputs: {},
    answer: found<CallerRights>('CallerRights'),
  }),

  /** One token; callers without management rights can read only their own. */
  read: readServer({
    path: '/v1/acl/token/{accessor_id}',
    access: anyCaller,
    summary: 'One token; callers without management rights can read only their own',
    args: ['accessor'],
    inputs: { accessor },
    errors: ['malformed_accessor'],
    answer: found<TokenDocument | undefined>('ACLToken'),
    absent: 'ACL token not found',
  }),

  /** Creates a token; the response has its secret. */
  create: writeServer({
    path: '/v1/acl/token',
    access: management,
    summary: 'Creates a token; the response contains its secret',
    inputs: { accessor: inBody('AccessorID', jsonName), ...tokenContent },
    errors: ['invalid_access'],
    answer: stored<TokenDocument>('ACLToken'),
  }),

  /** Changes the rights of a token, or creates a client token with the given accessor and secret. */
  update: writeServer({
    path: '/v1/acl/token/{accessor_id}',
    access: management,
    summary: 'Changes the rights of a token, or creates a client token with the given accessor and secret',
    args: ['accessor'],
    inputs: {
      accessor: repeatedInBody(accessor, { name: 'AccessorID', required: true, what: 'token accessor' }),
      secret: inBody('SecretID', jsonName),
      ...tokenContent,
    },
    errors: ['invalid_access'],
    answer: stored<TokenDocument>('ACLToken'),
  }),

  /** Revokes a token. */
  remove: writeServer({
    methods: ['DELETE'],
    path: '/v1/acl/token/{accessor_id}',
    access: management,
    summary: 'Revokes a token',
    args: ['accessor'],
    inputs: { accessor },
    errors: ['token_not_found'],
    answer: done(),
  }),

  /** Creates a one-time token, which can be exchanged for the caller's token once, within ten minutes. */
  createOneTime: writeServer({
    path: '/v1/acl/token/onetime',
    access: anyCaller,
    summary: "Creates a one-time token, which can be exchanged for the caller's token once, within ten minutes",
    inputs: {},
    answer: under<OneTimeToken>('OneTimeToken', 'OneTimeTokenUpsertResponse'),
    optionalBody: true,
  }),

  /** Exchanges a one-time token for its token, with the secret. */
  exchangeOneTime: writeServer({
    path: '/v1/acl/token/onetime/exchange',
    access: everybody,
    summary: 'Exchanges a one-time token for its token, with the secret',
    inputs: { secret: required(inBody('OneTimeSecretID', jsonName)) },
    answer: under<TokenDocument>('Token', 'OneTimeTokenExchangeResponse'),
  }),

  /** Creates the first management token, once. */
  bootstrap: writeServer({
    path: '/v1/acl/bootstrap',
    access: everybody,
    summary: 'Creates the first management token, once',
    inputs: { secret: inBody('BootstrapSecret', jsonName) },
    errors: ['bootstrap_done', 'invalid_access'],
    answer: stored<TokenDocument>('ACLToken'),
    optionalBody: true,
  }),
} as const;
