import { anyObject, type JsonSchema, objectSchema, orNull } from '../json-schema.js';

/* The JSON Schemas of the notification interface's documents, for the OpenAPI document. */

const text: JsonSchema = { type: 'string' };
const flag: JsonSchema = { type: 'boolean' };
const time: JsonSchema = { type: 'string', format: 'date-time' };
const integer: JsonSchema = { type: 'integer' };
const texts: JsonSchema = { type: 'array', items: text };

function identifier(type: string): JsonSchema {
  return objectSchema({ id: text, type: { const: type } }, ['id', 'type']);
}

function toMany(type: string): JsonSchema {
  return objectSchema({ data: { type: 'array', items: identifier(type) } });
}

function toOne(type: string): JsonSchema {
  return objectSchema({ data: orNull(identifier(type)) });
}

function resource(type: string, attributes: JsonSchema, relationships: JsonSchema): JsonSchema {
  return objectSchema({ id: text, type: { const: type }, attributes, relationships, links: anyObject }, ['id', 'type']);
}

const deliveryResponse = objectSchema({
  url: text,
  body: text,
  code: text,
  headers: { type: 'object', additionalProperties: texts },
  'sent-at': time,
  successful: flag,
});

const configuration = resource(
  'notification-configurations',
  objectSchema({
    enabled: flag,
    name: text,
    url: orNull(text),
    'destination-type': text,
    token: { type: 'null' },
    triggers: texts,
    'delivery-responses': { type: 'array', items: deliveryResponse },
    'email-addresses': { type: 'null' },
    'created-at': time,
    'updated-at': time,
  }),
  objectSchema({ subscribable: toOne('workspaces'), users: toMany('users') }),
);

const delivery = resource(
  'notification-deliveries',
  objectSchema({
    trigger: text,
    kind: text,
    outcome: { enum: ['pending', 'delivered', 'dead', 'cancelled'] },
    reason: orNull(text),
    'created-at': time,
    'next-attempt-at': orNull(time),
    'settled-at': orNull(time),
    'attempt-count': integer,
    'last-status': orNull(integer),
    'last-failure': orNull(text),
    body: orNull(text),
    attempts: { type: 'array', items: anyObject },
  }),
  objectSchema({
    workspace: toOne('workspaces'),
    'notification-configuration': toOne('notification-configurations'),
    'notification-event': toOne('notification-events'),
  }),
);

const pagination = objectSchema({ pagination: anyObject });

export const configurationDocument = (): JsonSchema => objectSchema({ data: configuration }, ['data']);

export const configurationListDocument = (): JsonSchema =>
  objectSchema({ data: { type: 'array', items: configuration }, links: anyObject, meta: pagination }, ['data']);

export const deliveryDocument = (): JsonSchema => objectSchema({ data: delivery }, ['data']);

export const deliveryListDocument = (): JsonSchema =>
  objectSchema({ data: { type: 'array', items: delivery }, links: anyObject, meta: pagination }, ['data']);

export const eventDocument = (): JsonSchema =>
  objectSchema(
    {
      data: resource(
        'notification-events',
        objectSchema({ trigger: text, repeated: flag }),
        objectSchema({ workspace: toOne('workspaces'), deliveries: toMany('notification-deliveries') }),
      ),
    },
    ['data'],
  );

export const recoveredDocument = (): JsonSchema =>
  objectSchema({ meta: objectSchema({ count: integer, more: flag, reached: orNull(time) }) }, ['meta']);

const attributesToWrite = {
  'destination-type': { enum: ['generic', 'email', 'chat-a', 'chat-b', 'slack', 'microsoft-teams'] },
  enabled: flag,
  name: text,
  token: orNull(text),
  triggers: orNull(texts),
  url: orNull(text),
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

export const createRequest = (): JsonSchema => configurationRequest(['destination-type', 'name']);
export const updateRequest = (): JsonSchema => configurationRequest([]);

export const eventRequest = (): JsonSchema =>
  objectSchema(
    {
      data: objectSchema(
        {
          type: { enum: ['notification-events', 'notification-event'] },
          attributes: {
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
          },
        },
        ['type', 'attributes'],
      ),
    },
    ['data'],
  );

export const recoverRequest = (): JsonSchema =>
  objectSchema(
    {
      data: objectSchema({
        type: { const: 'notification-recoveries' },
        attributes: objectSchema({ since: time, until: time, outcome: { enum: ['dead', 'cancelled'] } }, ['since']),
      }),
    },
    ['data'],
  );
