import type { Call, Framing, HttpMethod } from '../../../src/api/call.js';
import type { ErrorTag, NotificationCallError } from '../../../src/api/errors.js';
import type { NamedCall } from '../../../src/api/index.js';
import { bodyKindOf } from '../calls/read-inputs.js';
import type { JobDialect } from '../dialect.js';
import { notificationStatuses } from '../errors/notification-errors.js';
import { jsonApiType, jsonType } from '../http-message.js';
import type { JsonSchema } from './json-schema.js';

/** Every status that the call can return for this method, with the content of the response. */
export function responsesOf(named: NamedCall, method: HttpMethod, dialect: JobDialect): JsonSchema {
  const { call } = named;
  const { answer, kind } = call;
  const success = successOf(call, dialect);
  const responses: Record<string, JsonSchema> = {};
  const form = call.interface === 'notifications' ? 'DocumentError' : 'TextError';
  for (const status of refusalsOf(named, method, dialect)) {
    const name = status === 414 || status === 421 ? 'TextError' : form;
    responses[status] = { $ref: `#/components/responses/${name}${status}` };
  }
  if (call.absent !== undefined) responses[404] = { description: call.absent, content: textContent };
  const other = answer.otherSchema === undefined ? success : successOf(call, dialect, answer.otherSchema);
  for (const status of answer.otherStatuses ?? []) responses[status] = other;
  // A request without an upgrade is refused.
  if (kind === 'socket') responses[101] = { description: 'Switching to the WebSocket protocol' };
  else responses[answer.status] = success;
  return responses;
}

/** The errors of the call's operation with their statuses. */
export function errorStatuses(
  { name, call }: NamedCall,
  dialect: JobDialect,
): ReadonlyMap<ErrorTag, readonly number[]> {
  const statusesOf = (tag: ErrorTag): readonly number[] =>
    call.interface === 'notifications'
      ? [notificationStatuses[tag as NotificationCallError['type']]]
      : dialect.statusesOf(tag, name);
  return new Map(call.errors.map((tag) => [tag, statusesOf(tag)]));
}

function refusalsOf(named: NamedCall, method: HttpMethod, dialect: JobDialect): ReadonlySet<number> {
  const { call } = named;
  const isRead = method === 'GET' || method === 'HEAD';
  const ofInterface = call.interface === 'notifications' ? ofNotifications(call) : ofJobs(call);
  const ofBody = bodyKindOf(call) === 'none' ? [] : [400, 413];
  const ofUpgrade = call.kind === 'socket' ? [dialect.errors.needsUpgrade().status] : [];
  const ofWaiting = call.kind === 'waiting' ? [429] : [];
  const ofErrors = [...errorStatuses(named, dialect).values()].flat();
  return new Set([
    414,
    421,
    500,
    503,
    ...(isRead ? [] : [403]),
    ...ofBody,
    ...ofInterface,
    ...ofUpgrade,
    ...ofWaiting,
    ...ofErrors,
  ]);
}

function ofNotifications(call: Call): readonly number[] {
  const ofCaller = call.access.type === 'public' ? [] : [400, 401, 404];
  return bodyKindOf(call) === 'document' ? [...ofCaller, 415, 422] : ofCaller;
}

function ofJobs(call: Call): readonly number[] {
  const takesInputs = call.interface === 'jobs' || Object.keys(call.inputs).length > 0;
  return [...(takesInputs ? [400] : []), ...(call.access.type === 'public' ? [] : [403])];
}

function successOf(call: Call, dialect: JobDialect, schema = call.answer.schema): JsonSchema {
  const { answer, framing } = call;
  if (schema === undefined) return { description: 'Done', ...headersOf(call, dialect) };
  const own = call.framesType ?? (answer.resource === undefined ? jsonType : jsonApiType);
  const content: Record<string, JsonSchema> = {};
  if (framing !== 'bytes') content[own] = { schema };
  const other =
    framing === 'bytes' || call.bytesWhen !== undefined
      ? (call.contentType ?? 'application/octet-stream')
      : answer.otherContentType;
  if (other !== undefined) content[other] = { schema: { type: 'string' } };
  if (Object.hasOwn(call.inputs, 'download')) content['application/octet-stream'] = { schema: { type: 'string' } };
  return {
    description: framing === undefined ? 'The answer' : described[framing],
    ...headersOf(call, dialect),
    content,
  };
}

const described: Readonly<Record<Framing, string>> = {
  bytes: 'The bytes as a stream',
  lines: 'One item per line; `{}` is a heartbeat',
  joined: 'One item after the other; `{}` is a heartbeat',
};

function headersOf(call: Call, { headers: names }: JobDialect): { readonly headers?: JsonSchema } {
  const { answer, kind } = call;
  if (kind === 'stream' || kind === 'socket') return {};
  if (call.interface !== 'jobs' && kind !== 'waiting') return {};
  const header = (name: string): JsonSchema => ({ $ref: `#/components/headers/${name}` });
  const headers: Record<string, JsonSchema> = {};
  if (kind === 'waiting') headers[names.index] = header('Index');
  if (call.interface === 'jobs' && (kind === 'waiting' || call.leaderHeaders !== undefined)) {
    headers[names.lastContact] = header('LastContact');
    headers[names.knownLeader] = header('KnownLeader');
  }
  if (answer.nextToken !== undefined) headers[names.nextToken] = header('NextToken');
  return Object.keys(headers).length === 0 ? {} : { headers };
}

/** The headers of answers to reads. */
export const headerComponents: JsonSchema = {
  Index: {
    description: 'The index to wait for next',
    schema: { type: 'integer', minimum: 0 },
  },
  LastContact: { description: 'Milliseconds; 0', schema: { type: 'integer' } },
  KnownLeader: { description: 'Whether a leader is known', schema: { type: 'boolean' } },
  NextToken: { description: 'Token of the next page; absent on the last one', schema: { type: 'string' } },
};

const refusals: Readonly<Record<number, string>> = {
  400: 'The request is malformed or has an invalid value',
  401: 'No token, or an invalid one',
  403: 'The token lacks the right, or a page of another origin sent the request',
  404: 'The resource does not exist, or the token may not see it',
  409: 'The current state forbids it, or the record has changed',
  413: 'The body is too large',
  414: 'The path and query are too long',
  415: 'The body has another media type',
  421: 'The request was sent to a host that this server does not answer to',
  422: 'The body has invalid attributes',
  426: 'The path opens a WebSocket: send an upgrade request',
  429: 'Too many requests of the caller, or too many of its reads wait; try again later',
  500: 'The server or a node failed; with the names of Nomad also: the current state forbids it',
  503: 'Too many bodies are being read, or another process holds the write lock of the store; try again after `Retry-After` seconds',
};

const textContent: JsonSchema = { 'text/plain': { schema: { type: 'string' } } };
const documentContent: JsonSchema = { [jsonApiType]: { schema: { $ref: '#/components/schemas/NotificationErrors' } } };

/** The error answers: plain text from the job interface, a JSON:API document from the notification interface. */
export const responseComponents: JsonSchema = Object.fromEntries(
  Object.entries(refusals).flatMap(([status, description]) => [
    [`TextError${status}`, { description, content: textContent }],
    [`DocumentError${status}`, { description, content: documentContent }],
  ]),
);
