import {
  anyObject,
  flag,
  integer,
  type JsonSchema,
  listOf,
  objectSchema,
  orNull,
  strings,
  text,
  time,
  wholeObject,
} from './json-schema.js';

function identifier(type: string): JsonSchema {
  return wholeObject({ id: text, type: { const: type } });
}

function toMany(type: string): JsonSchema {
  return objectSchema({ data: listOf(identifier(type)) });
}

function toOne(type: string): JsonSchema {
  return objectSchema({ data: orNull(identifier(type)) });
}

function resource(
  type: string,
  attributes: JsonSchema,
  relationships = anyObject,
  required = ['id', 'type', 'attributes'],
): JsonSchema {
  return objectSchema({ id: text, type: { const: type }, attributes, relationships, links: anyObject }, required);
}

const deliveryResponse = objectSchema({
  url: text,
  body: text,
  code: text,
  // Null for clients that cannot read it.
  headers: { type: ['object', 'null'], additionalProperties: strings },
  'sent-at': time,
  // As a string with Nomad names.
  successful: { type: ['boolean', 'string'] },
});

const configuration = resource(
  'notification-configurations',
  objectSchema({
    enabled: flag,
    name: text,
    url: orNull(text),
    'destination-type': text,
    token: { type: 'null' },
    triggers: strings,
    'delivery-responses': listOf(deliveryResponse),
    'email-addresses': { type: 'null' },
    delivery: anyObject,
    'created-at': time,
    'updated-at': time,
  }),
  objectSchema({ subscribable: toOne('workspaces'), users: toMany('users') }),
  ['id', 'type'],
);

const delivery = resource(
  'notification-deliveries',
  objectSchema({
    trigger: text,
    kind: text,
    sample: flag,
    outcome: { enum: ['pending', 'delivered', 'partly_delivered', 'dead', 'cancelled'] },
    'waits-for': orNull(anyObject),
    recipients: listOf(anyObject),
    reason: orNull(text),
    'created-at': time,
    'next-attempt-at': orNull(time),
    'settled-at': orNull(time),
    'attempt-count': integer,
    'last-status': orNull(integer),
    'last-failure': orNull(text),
    body: orNull(text),
    attempts: listOf(anyObject),
  }),
  objectSchema({
    workspace: toOne('workspaces'),
    'notification-configuration': toOne('notification-configurations'),
    'notification-event': toOne('notification-events'),
  }),
  ['id', 'type'],
);

/** A record whose attributes depend on the operation that returns it. */
const record = wholeObject({ id: text, type: text, attributes: anyObject });

function documentOf(types: readonly string[], attributes: JsonSchema): JsonSchema {
  return wholeObject({ data: wholeObject({ type: { enum: types }, attributes }) });
}

/** A page of resources, with further members of the document. */
function pageOf(items: JsonSchema, required = ['data', 'meta'], further = {}): JsonSchema {
  const meta = objectSchema({ pagination: anyObject });
  return objectSchema({ data: listOf(items), ...further, links: anyObject, meta }, required);
}

const attributesToWrite = {
  'destination-type': { enum: ['generic', 'email', 'chat-a', 'chat-b', 'slack', 'microsoft-teams'] },
  enabled: flag,
  name: text,
  token: orNull(text),
  triggers: orNull(strings),
  url: orNull(text),
  delivery: orNull(anyObject),
};

function configurationRequest(required: readonly string[]): JsonSchema {
  return objectSchema(
    {
      data: objectSchema(
        {
          type: { enum: ['notification-configuration', 'notification-configurations'] },
          attributes: objectSchema(attributesToWrite, required),
          relationships: objectSchema({ users: toMany('users'), subscribable: toOne('workspaces') }),
        },
        required.length === 0 ? ['type'] : ['type', 'attributes'],
      ),
    },
    ['data'],
  );
}

const eventAttributes: JsonSchema = {
  type: 'object',
  required: ['trigger'],
  properties: {
    trigger: text,
    message: text,
    idempotency_key: text,
    run_id: text,
    run_url: text,
    run_message: text,
    run_created_at: time,
    run_created_by: text,
    run_status: text,
    run_updated_at: time,
    run_updated_by: text,
    speculative: flag,
    new_assessment_result: anyObject,
    prior_assessment_result: anyObject,
    auto_destroy_at: time,
    run_external_id: text,
    run_create_error_message: text,
  },
};

const event = resource(
  'notification-events',
  objectSchema({
    trigger: text,
    repeated: flag,
    backlog: integer,
    explanations: listOf(
      objectSchema({
        'configuration-id': text,
        name: text,
        fires: flag,
        obstacles: listOf(text),
      }),
    ),
  }),
  objectSchema({ workspace: toOne('workspaces'), deliveries: toMany('notification-deliveries') }),
  ['id', 'type'],
);

const organization = resource(
  'organizations',
  objectSchema({ name: text, 'created-at': time, permissions: anyObject }),
);

const workspace = resource(
  'workspaces',
  objectSchema({
    name: text,
    'execution-mode': { enum: ['remote', 'agent', 'local'] },
    operations: flag,
    'assessments-enabled': flag,
    'health-assessments': flag,
    'drift-detection': flag,
    url: orNull(text),
    'created-at': time,
    permissions: anyObject,
  }),
);

const account = resource('users', objectSchema({ username: text, email: orNull(text), 'is-service-account': flag }));

const membership = resource('organization-memberships', objectSchema({ status: { enum: ['active'] }, email: text }));

const error = objectSchema(
  {
    status: text,
    title: text,
    detail: text,
    source: objectSchema({ pointer: text, parameter: text }),
  },
  ['status', 'title'],
);

/** The documents of the notification interface, by the names that the interface gives them. */
export const notificationSchemas: Readonly<Record<string, JsonSchema>> = {
  NotificationConfigurationDocument: wholeObject({ data: configuration }),
  NotificationConfigurationListDocument: pageOf(configuration, ['data']),
  NotificationDeliveryDocument: wholeObject({ data: delivery }),
  NotificationDeliveryListDocument: pageOf(delivery, ['data']),
  NotificationEventDocument: wholeObject({ data: event }),
  NotificationRecoveryDocument: wholeObject({
    meta: objectSchema({ count: integer, more: flag, reached: orNull(time) }),
  }),
  CreateNotificationConfiguration: configurationRequest(['destination-type', 'name']),
  UpdateNotificationConfiguration: configurationRequest([]),
  SendNotificationEvent: wholeObject({
    data: wholeObject({ type: { enum: ['notification-events', 'notification-event'] }, attributes: eventAttributes }),
  }),
  CreateNotificationPortalToken: documentOf(
    ['notification-portal-tokens', 'notification-portal-token'],
    objectSchema({ kinds: strings, configurations: integer, lifetime: integer, name: text }, ['kinds']),
  ),
  SendNotificationSample: documentOf(['notification-samples', 'notification-sample'], wholeObject({ trigger: text })),
  RecoverNotificationDeliveries: wholeObject({
    data: objectSchema({
      type: { enum: ['notification-recoveries', 'notification-recovery'] },
      attributes: objectSchema(
        { since: time, until: time, outcome: { enum: ['dead', 'cancelled', 'partly_delivered'] } },
        ['since'],
      ),
    }),
  }),
  NotificationRecordDocument: wholeObject({ data: record }),
  NotificationRecordListDocument: wholeObject({ data: listOf(record) }),
  NotificationEventListDocument: pageOf(record),
  StartNotificationRecovery: documentOf(
    ['notification-recoveries', 'notification-recovery'],
    objectSchema(
      {
        since: time,
        until: time,
        outcome: { enum: ['dead', 'cancelled', 'partly_delivered'] },
        trigger: text,
        status: text,
        'configuration-id': text,
      },
      ['since'],
    ),
  ),
  PutNotificationEventType: documentOf(
    ['notification-event-types', 'notification-event-type'],
    objectSchema({
      description: text,
      schema: orNull(anyObject),
      example: orNull(anyObject),
      body: { enum: ['envelope', 'data'] },
    }),
  ),
  OrganizationDocument: wholeObject({ data: organization }),
  OrganizationListDocument: pageOf(organization),
  EntitlementSetDocument: wholeObject({ data: resource('entitlement-sets', anyObject) }),
  WorkspaceDocument: wholeObject({ data: workspace }),
  WorkspaceListDocument: pageOf(workspace),
  AccountDocument: wholeObject({ data: account }),
  MembershipDocument: objectSchema({ data: membership, included: listOf(account) }, ['data']),
  MembershipListDocument: pageOf(membership, ['data', 'meta'], { included: listOf(account) }),
  PutWorkspace: documentOf(
    ['workspaces', 'workspace'],
    objectSchema(
      {
        name: text,
        organization: text,
        'execution-mode': { enum: ['remote', 'agent', 'local'] },
        'drift-detection': flag,
        'health-assessments': flag,
        url: orNull(text),
      },
      ['name', 'organization'],
    ),
  ),
  PutUser: documentOf(['users', 'user'], wholeObject({ username: text, email: text, organization: text })),
  NotificationErrors: wholeObject({ errors: listOf(error) }),
};
