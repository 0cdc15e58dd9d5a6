import {
  anyObject,
  flag,
  type JsonSchema,
  listOf,
  objectSchema,
  orNull,
  text,
  time,
  wholeObject,
} from './json-schema.js';

function resource(type: string, attributes: Readonly<Record<string, JsonSchema>>): JsonSchema {
  // A resource without own attributes still has the member.
  const described = Object.keys(attributes).length === 0 ? anyObject : objectSchema(attributes);
  const members = { id: text, type: { const: type }, attributes: described };
  return objectSchema({ ...members, relationships: anyObject, links: anyObject }, ['id', 'type', 'attributes']);
}

function documentOf(data: JsonSchema): JsonSchema {
  return wholeObject({ data });
}

function listDocumentOf(data: JsonSchema): JsonSchema {
  const meta = objectSchema({ pagination: anyObject });
  return objectSchema({ data: listOf(data), links: anyObject, meta }, ['data', 'meta']);
}

const organization = resource('organizations', { name: text, 'created-at': time, permissions: anyObject });

const workspace = resource('workspaces', {
  name: text,
  'execution-mode': { enum: ['remote', 'agent', 'local'] },
  operations: flag,
  'assessments-enabled': flag,
  'health-assessments': flag,
  'drift-detection': flag,
  url: orNull(text),
  'created-at': time,
  permissions: anyObject,
});

const account = resource('users', { username: text, email: orNull(text), 'is-service-account': flag });

const membership = resource('organization-memberships', { status: { enum: ['active'] }, email: text });
const included = { included: listOf(account) };

/** The documents of organizations, workspaces and the account. */
export const organizationSchemas: Readonly<Record<string, JsonSchema>> = {
  OrganizationDocument: documentOf(organization),
  OrganizationListDocument: listDocumentOf(organization),
  EntitlementSetDocument: documentOf(resource('entitlement-sets', {})),
  WorkspaceDocument: documentOf(workspace),
  WorkspaceListDocument: listDocumentOf(workspace),
  AccountDocument: documentOf(account),
  MembershipDocument: objectSchema({ data: membership, ...included }, ['data']),
  MembershipListDocument: objectSchema(
    {
      data: listOf(membership),
      ...included,
      links: anyObject,
      meta: objectSchema({ pagination: anyObject }),
    },
    ['data', 'meta'],
  ),
};
