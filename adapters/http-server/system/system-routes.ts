import { headerValue } from '../http-message.js';
import { type JsonSchema, objectSchema } from '../json-schema.js';
import { textParameter } from '../query.js';
import { jsonResponse } from '../responses.js';
import type { AnswerDescription, Route, RouteCall } from '../route.js';
import { storeHealth } from './store-health.js';

const text: JsonSchema = { type: 'string' };
const healthSchema = objectSchema({ ok: { type: 'boolean' }, message: text }, ['ok', 'message']);

/** What the server says about itself. None of these needs a token, and none tells anything about what is stored. */
export const systemRoutes: readonly Route[] = [
  {
    half: 'system',
    methods: ['GET', 'HEAD'],
    path: '/health',
    access: { type: 'public' },
    operation: 'health',
    summary: 'Whether the process answers',
    parameters: {},
    answers: { 200: json('The process is up', () => healthSchema) },
    handle: () => Promise.resolve(jsonResponse(200, '{"ok":true,"message":"ok"}')),
  },
  {
    half: 'system',
    methods: ['GET', 'HEAD'],
    path: '/ready',
    access: { type: 'public' },
    operation: 'ready',
    summary: 'Whether the store can be written, so that requests make sense',
    parameters: {},
    answers: {
      200: json('Ready', () => healthSchema),
      503: json('The store cannot be written', () => healthSchema),
    },
    handle: async ({ engine }) => {
      const health = await storeHealth(engine);
      return jsonResponse(health.ok ? 200 : 503, JSON.stringify(health));
    },
  },
  {
    half: 'system',
    methods: ['GET'],
    path: '/v1/agent/health',
    access: { type: 'public' },
    operation: 'agentHealth',
    summary: 'Health of the server half and of the client half',
    parameters: { type: textParameter('`server` or `client`; both when absent') },
    answers: {
      200: json('Healthy', () => objectSchema({ server: healthSchema, client: healthSchema })),
      500: { description: 'Unhealthy; the same JSON, sent as text', contentType: 'text/plain' },
    },
    handle: async ({ engine, query }) => {
      const asked = query.get('type').unwrapOr(undefined);
      const health = await storeHealth(engine);
      const body = JSON.stringify({
        ...(asked !== 'client' ? { server: health } : {}),
        ...(asked !== 'server' ? { client: health } : {}),
      });
      return health.ok
        ? jsonResponse(200, body)
        : { status: 500, headers: ['Content-Type', 'text/plain; charset=utf-8'], body };
    },
  },
  {
    half: 'system',
    methods: ['GET'],
    path: '/v1/status/leader',
    access: { type: 'public' },
    operation: 'leader',
    summary: 'Address of the leader: of this server, which has no peers',
    parameters: {},
    answers: { 200: json('Host and port', () => text) },
    handle: (call) => Promise.resolve(jsonResponse(200, JSON.stringify(ownAddress(call)))),
  },
  {
    half: 'system',
    methods: ['GET'],
    path: '/v1/status/peers',
    access: { type: 'public' },
    operation: 'peers',
    summary: 'Addresses of all servers: of this one',
    parameters: {},
    answers: { 200: json('Hosts and ports', () => ({ type: 'array', items: text })) },
    handle: (call) => Promise.resolve(jsonResponse(200, JSON.stringify([ownAddress(call)]))),
  },
  {
    half: 'system',
    methods: ['GET'],
    path: '/v1/regions',
    access: { type: 'public' },
    operation: 'regions',
    summary: 'The regions known: this one',
    parameters: {},
    answers: { 200: json('Names', () => ({ type: 'array', items: text })) },
    handle: ({ engine }) => Promise.resolve(jsonResponse(200, JSON.stringify([engine.settings.jobs.region]))),
  },
];

function json(description: string, schema: () => JsonSchema): AnswerDescription {
  return { description, contentType: 'application/json', schema };
}

/** The address by which the client reached this server. */
function ownAddress({ request }: RouteCall): string {
  const host = headerValue(request, 'host') ?? headerValue(request, ':authority');
  return host !== undefined && /^[\w.:[\]-]{1,255}$/.test(host) ? host : 'localhost';
}
