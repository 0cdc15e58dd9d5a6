import { namedSchema } from '../../../src/api/json-schema.js';
import {
  anyObject,
  count,
  flag,
  integer,
  type JsonSchema,
  mapOf,
  objectSchema,
  orNull,
  placed,
  strings,
  text,
  wholeObject,
} from './json-schema.js';

const variable = { Namespace: text, Path: text, Lock: anyObject, CreateTime: integer, ModifyTime: integer, ...placed };
const policy = { Name: text, Description: text, JobACL: orNull(anyObject), Hash: text, ...placed };
const token = {
  AccessorID: text,
  Name: text,
  Type: { enum: ['client', 'management', 'node'] },
  Policies: orNull(strings),
  Roles: orNull({ type: 'array', items: anyObject }),
  NodeID: text,
  NodePool: text,
  Workspaces: anyObject,
  Global: flag,
  Hash: orNull(text),
  CreateTime: text,
  ExpirationTime: orNull(text),
  ...placed,
};

/** The documents of variables and of access control, by the names that the interface gives them. */
export const accessSchemas: Readonly<Record<string, JsonSchema>> = {
  VariableStub: objectSchema(variable, ['Path']),
  Variable: objectSchema({ ...variable, Items: orNull(mapOf(text)) }, ['Path', 'Items']),
  ACLPolicyStub: objectSchema({ ...policy }, ['Name']),
  ACLPolicy: objectSchema({ ...policy, Rules: text, RulesJSON: anyObject }, ['Name', 'Rules']),
  ACLRole: objectSchema(
    { ID: text, Name: text, Description: text, Policies: { type: 'array', items: anyObject }, Hash: text, ...placed },
    ['ID', 'Name'],
  ),
  OneTimeTokenUpsertResponse: wholeObject({
    OneTimeToken: wholeObject({ OneTimeSecretID: text, AccessorID: text, ExpiresAt: text, ...placed }),
    Index: count,
  }),
  OneTimeTokenExchangeResponse: wholeObject({ Token: namedSchema('ACLToken'), Index: count }),
  ACLTokenStub: objectSchema(token, ['AccessorID', 'Type']),
  ACLToken: objectSchema({ ...token, SecretID: text, ExpirationTTL: text }, ['AccessorID', 'Type', 'SecretID']),
};
