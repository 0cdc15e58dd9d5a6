import { errAsync } from 'neverthrow';
import type { MalformedAccessor } from '../../access/errors.js';
import { parsePolicy } from '../../access/policy/parse-policy.js';
import { rulesOf } from '../../access/policy-record.js';
import type { PolicyDocument, policyCalls, roleCalls, tokenCalls } from '../../api/calls/access-calls.js';
import { isUuid } from '../../queries/list-tokens.js';
import type { Bindings } from '../binding.js';
import { putPolicy } from './put-policy.js';
import { putRole } from './put-role.js';
import { listOwnPolicies, listPolicies, readPolicy } from './read-policies.js';
import { listRoles, readRole } from './read-roles.js';
import { removePolicy } from './remove-policy.js';
import { removeRole } from './remove-role.js';
import { bootstrapFirstToken } from './tokens/bootstrap-management-token.js';
import { listTokenStubs } from './tokens/list-token-stubs.js';
import { createOneTimeToken, exchangeOneTimeToken } from './tokens/one-time-token.js';
import { readOwnToken, readToken } from './tokens/read-token.js';
import { removeToken } from './tokens/remove-token.js';
import { saveToken } from './tokens/save-token.js';

export const policyBindings: Bindings<typeof policyCalls> = {
  list: (context, caller, input, { waiting }) => listPolicies(context, caller, { ...input, waiting }),
  self: (context, caller, _input, { waiting }) => listOwnPolicies(context, caller, waiting),
  read: (context, caller, input, { waiting }) =>
    readPolicy(context, caller, { ...input, waiting }).map(({ index, value }) => ({
      index,
      value: value === undefined ? undefined : ({ ...value, RulesJSON: understood(value) } satisfies PolicyDocument),
    })),
  put: (context, caller, { name, description = '', rules = '', job }) =>
    putPolicy(context, caller, {
      Name: name,
      Description: description,
      Rules: rules,
      JobACL: job === undefined ? null : { Namespace: '', JobID: '', Group: '', Task: '', ...job },
    }),
  remove: removePolicy,
};

const nothing = parsePolicy('')._unsafeUnwrap();

function understood(policy: Parameters<typeof rulesOf>[0]) {
  return rulesOf(policy) ?? nothing;
}

export const roleBindings: Bindings<typeof roleCalls> = {
  list: (context, caller, input, { waiting }) => listRoles(context, caller, { ...input, waiting }),
  read: (context, caller, { id }, { waiting }) => readRole(context, caller, { role: { id }, waiting }),
  readNamed: (context, caller, { name }, { waiting }) => readRole(context, caller, { role: { name }, waiting }),
  create: (context, caller, input) => putRole(context, caller, roleContent(input)).map(stored),
  update: (context, caller, input) => putRole(context, caller, roleContent(input)).map(stored),
  remove: removeRole,
};

interface GivenRole {
  readonly id?: string;
  readonly name: string;
  readonly description?: string;
  readonly policies?: readonly { readonly name?: string }[];
}

function roleContent({ id, name, description = '', policies = [] }: GivenRole) {
  const Policies = policies.map((policy) => ({ Name: policy.name ?? '' }));
  return { ...(id === undefined ? {} : { ID: id }), Name: name, Description: description, Policies };
}

/** A stored document, with the index of its write. */
function stored<D extends { readonly ModifyIndex: number }>(value: D): { readonly index: number; readonly value: D } {
  return { index: value.ModifyIndex, value };
}

export const tokenBindings: Bindings<typeof tokenCalls> = {
  list: (context, caller, input, { waiting }) => {
    const { prefix = '' } = input;
    if (caller.management && !/^[0-9a-f-]*$/i.test(prefix)) return errAsync(malformed('the prefix of an accessor'));
    return listTokenStubs(context, caller, { ...input, waiting });
  },
  self: (context, caller, _input, { waiting }) => readOwnToken(context, caller, waiting),
  read: (context, caller, input, { waiting }) => {
    if (caller.management && !isUuid(input.accessor)) return errAsync(malformed('an accessor'));
    return readToken(context, caller, { ...input, waiting });
  },
  create: (context, caller, input) => saveToken(context, caller, input).map(stored),
  update: (context, caller, input) => saveToken(context, caller, input).map(stored),
  remove: (context, caller, { accessor }) => removeToken(context, caller, accessor),
  createOneTime: (context, caller) => createOneTimeToken(context, caller),
  exchangeOneTime: exchangeOneTimeToken,
  bootstrap: (context, _caller, input) => bootstrapFirstToken(context, input).map(stored),
};

function malformed(what: string): MalformedAccessor {
  return { type: 'malformed_accessor', message: `token lookup failed: ${what} must be that of a UUID` };
}
