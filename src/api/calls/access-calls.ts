import type { OneTimeToken } from '../../access/one-time-tokens.js';
import type { Policy } from '../../access/policy/policy.js';
import type { PolicyJob, PolicyStub, StoredPolicy } from '../../access/policy-record.js';
import type { StoredRole } from '../../access/role-record.js';
import type { TokenDocument, TokenStub } from '../../access/token-document.js';
import { anyCaller, everybody, management } from '../access.js';
import { type AnswerForm, done, found, type Indexed, list, page } from '../answers.js';
import { readServer, writeServer } from '../call.js';
import { filterFaults, pageInputs } from '../common-inputs.js';
import { inBody, inPath, inQuery, repeatedInBody, required, withDefault } from '../inputs.js';
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

/** A policy with its rules as they are understood. */
export interface PolicyDocument extends StoredPolicy {
  readonly RulesJSON: Policy;
}

const policyName = inPath('name', text);

/** Policies: what their rules grant, tokens and roles name. */
export const policyCalls = {
  /** The policies: all for management, its own for every other caller. */
  list: readServer({
    path: '/v1/acl/policies',
    access: anyCaller,
    summary: 'The policies: all for management, its own for every other caller',
    inputs: { ...pageInputs, prefix: inQuery('prefix', text, 'Only names that begin with this') },
    errors: filterFaults,
    answer: page<PolicyStub>('ACLPolicyStub'),
  }),

  /** The policies that the caller's own token names, itself or through roles. */
  self: readServer({
    path: '/v1/acl/policy/self',
    access: anyCaller,
    summary: "The policies that the caller's own token names, itself or through roles",
    inputs: {},
    answer: list<PolicyStub>('ACLPolicyStub'),
  }),

  /** One policy, with its rules as they are understood. */
  read: readServer({
    path: '/v1/acl/policy/{name}',
    access: anyCaller,
    summary: 'One policy, with its rules as they are understood',
    args: ['name'],
    inputs: { name: policyName },
    answer: found<PolicyDocument | undefined>('ACLPolicy'),
    absent: 'ACL policy not found',
  }),

  /** Makes a policy, or replaces it. */
  put: writeServer({
    path: '/v1/acl/policy/{name}',
    access: management,
    summary: 'Makes a policy, or replaces it',
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

  /** Removes a policy; the tokens that name it lose its rights. */
  remove: writeServer({
    methods: ['DELETE'],
    path: '/v1/acl/policy/{name}',
    access: management,
    summary: 'Removes a policy; the tokens that name it lose its rights',
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

/** Roles: policies under one name, given to tokens. */
export const roleCalls = {
  /** The roles: all for management, its own for every other caller. */
  list: readServer({
    path: '/v1/acl/roles',
    access: anyCaller,
    summary: 'The roles: all for management, its own for every other caller',
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

  /** Makes a role. With an ID it changes that role. */
  create: writeServer({
    path: '/v1/acl/role',
    access: management,
    summary: 'Makes a role. With an ID it changes that role',
    inputs: { id: inBody('ID', jsonName), ...roleContent },
    errors: ['invalid_access'],
    answer: found<StoredRole>('ACLRole'),
  }),

  /** Changes a role. */
  update: writeServer({
    path: '/v1/acl/role/{role_id}',
    access: management,
    summary: 'Changes a role',
    args: ['id'],
    inputs: { id: repeatedInBody(roleId, { name: 'ID', required: true, what: 'role ID' }), ...roleContent },
    errors: ['invalid_access'],
    answer: found<StoredRole>('ACLRole'),
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

/** A value that stands on the wire below a name, beside the index of the write. */
function under<T>(name: string, schema: string): AnswerForm<Indexed<T>, Indexed<T>> {
  return { ...found<T>(schema), toWire: ({ index, value }) => JSON.stringify({ [name]: value, Index: index }) };
}

/** Tokens: who calls, and what they may do. */
export const tokenCalls = {
  /** The tokens, without their secrets. */
  list: readServer({
    path: '/v1/acl/tokens',
    access: management,
    summary: 'The tokens, without their secrets',
    inputs: {
      ...pageInputs,
      prefix: inQuery('prefix', beginningOfId, 'Only accessors that begin with this'),
      global: inQuery('global', text, 'Accepted; there is one region, and every token is in it'),
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

  /** One token: any for management, its own for every other caller. */
  read: readServer({
    path: '/v1/acl/token/{accessor_id}',
    access: anyCaller,
    summary: 'One token: any for management, its own for every other caller',
    args: ['accessor'],
    inputs: { accessor },
    errors: ['malformed_accessor'],
    answer: found<TokenDocument | undefined>('ACLToken'),
    absent: 'ACL token not found',
  }),

  /** Makes a token, with its secret in the answer. */
  create: writeServer({
    path: '/v1/acl/token',
    access: management,
    summary: 'Makes a token, with its secret in the answer',
    inputs: { accessor: inBody('AccessorID', jsonName), ...tokenContent },
    errors: ['invalid_access'],
    answer: found<TokenDocument>('ACLToken'),
  }),

  /** Changes what a token may do, or makes a client token with an accessor and a secret that are brought along. */
  update: writeServer({
    path: '/v1/acl/token/{accessor_id}',
    access: management,
    summary: 'Changes what a token may do, or makes a client token with the accessor and the secret given',
    args: ['accessor'],
    inputs: {
      accessor: repeatedInBody(accessor, { name: 'AccessorID', required: true, what: 'token accessor' }),
      secret: inBody('SecretID', jsonName),
      ...tokenContent,
    },
    errors: ['invalid_access'],
    answer: found<TokenDocument>('ACLToken'),
  }),

  /** Removes a token: nobody knows its secret any more. */
  remove: writeServer({
    methods: ['DELETE'],
    path: '/v1/acl/token/{accessor_id}',
    access: management,
    summary: 'Removes a token: nobody knows its secret any more',
    args: ['accessor'],
    inputs: { accessor },
    errors: ['token_not_found'],
    answer: done(),
  }),

  /** Makes a one-time token for the token of the caller: whoever has it can get that token within ten minutes, once. */
  createOneTime: writeServer({
    path: '/v1/acl/token/onetime',
    access: anyCaller,
    summary: 'Makes a one-time token, which can be exchanged for the token of the caller within ten minutes, once',
    inputs: {},
    answer: under<OneTimeToken>('OneTimeToken', 'OneTimeTokenUpsertResponse'),
    optionalBody: true,
  }),

  /** Gives the token that a one-time token was made for, with its secret. */
  exchangeOneTime: writeServer({
    path: '/v1/acl/token/onetime/exchange',
    access: everybody,
    summary: 'Gives the token that a one-time token was made for, with its secret',
    inputs: { secret: required(inBody('OneTimeSecretID', jsonName)) },
    answer: under<TokenDocument>('Token', 'OneTimeTokenExchangeResponse'),
  }),

  /** Makes the first management token, once. */
  bootstrap: writeServer({
    path: '/v1/acl/bootstrap',
    access: everybody,
    summary: 'Makes the first management token, once',
    inputs: { secret: inBody('BootstrapSecret', jsonName) },
    errors: ['bootstrap_done', 'invalid_access'],
    answer: found<TokenDocument>('ACLToken'),
    optionalBody: true,
  }),
} as const;
