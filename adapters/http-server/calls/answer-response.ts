import type { CallInput } from '../../../src/api/answers.js';
import type { Call } from '../../../src/api/call.js';
import { plainType } from '../../../src/api/plain-type.js';
import { pageToken } from '../../../src/api/text-codecs.js';
import { placeOf } from '../edge/target.js';
import type { HttpResponse } from '../http-message.js';
import { jsonType, type RouteCall, textType } from './route.js';

/** An answer of an operation, to be serialized. */
interface Answered {
  readonly value: unknown;
  readonly input: CallInput;
  /** Whether it answers a blocking query, perhaps together with others. */
  readonly waited: boolean;
}

/**
 * The answer of a call, in the form of its interface or, if requested, in the engine's own form. Blocking queries that waited together
 * share one answer object and one response for each form and each query string.
 */
export function answerResponse(definition: Call, call: RouteCall, answered: Answered): HttpResponse {
  const { value, waited } = answered;
  if (!waited || typeof value !== 'object' || value === null) return respond(definition, call, answered);
  let forms = shared.get(value);
  if (forms === undefined) {
    forms = new Map();
    shared.set(value, forms);
  }
  const form = `${call.plain ? '+' : '-'}${call.names.index}?${call.query.raw}`;
  let response = forms.get(form);
  if (response === undefined) {
    const { status, headers, body } = respond(definition, call, answered);
    response = { status, headers, body: Buffer.from(body) };
    // Many different query strings must not fill the memory.
    if (forms.size < 16) forms.set(form, response);
  }
  return { status: response.status, headers: response.headers.slice(), body: response.body };
}

const shared = new WeakMap<object, Map<string, WholeResponse>>();

interface WholeResponse extends HttpResponse {
  readonly body: string | Buffer;
}

function respond(definition: Call, call: RouteCall, answered: Answered): WholeResponse {
  return call.plain ? plainResponse(definition, answered) : wireResponse(definition, call, answered);
}

function plainResponse({ answer }: Call, { value, input }: Answered): WholeResponse {
  const body = answer.clientText?.(value) ?? JSON.stringify(answer.toClient(value, input)) ?? '';
  const status = answer.statusOf?.(value) ?? answer.status;
  if (body.length === 0) return { status: status === 200 ? 204 : status, headers: [], body: '' };
  // An answer without a body in the interface's form may have one here, which 204 does not allow.
  return { status: status === 204 ? 200 : status, headers: ['Content-Type', plainType, 'Vary', 'Accept'], body };
}

/** The forms of a complete answer. */
export function isPlainOrPretty(call: RouteCall): boolean {
  return call.plain || isPretty(call);
}

/** Status and headers of a list with a streamed body. */
export function listHead(definition: Call, call: RouteCall, value: unknown): Omit<HttpResponse, 'body'> {
  const headers = ['Content-Type', jsonType, ...indexHeaders(definition, call, value)];
  return { status: definition.answer.status, headers };
}

/** The headers of reads; clients that wait for changes need the index in them (job interface, response headers). */
function indexHeaders({ answer, kind, leaderHeaders }: Call, call: RouteCall, value: unknown): string[] {
  const index = answer.indexOf(value);
  const headers = index === undefined ? [] : [call.names.index, String(index)];
  if (kind === 'waiting') headers.push(call.names.lastContact, '0', call.names.knownLeader, 'true');
  else if (leaderHeaders !== undefined) {
    headers.push(call.names.lastContact, '0', call.names.knownLeader, String(leaderHeaders === 'known'));
  }
  return headers;
}

function wireResponse(definition: Call, call: RouteCall, { value, input }: Answered): WholeResponse {
  const { answer, absent } = definition;
  const headers = indexHeaders(definition, call, value);
  const contentType = answer.contentTypeOf?.(value);
  const isNeutral = call.names.vocabulary === 'neutral';
  const text = ((isNeutral ? answer.toNeutralWire : undefined) ?? answer.toWire)(value, input);
  if (text === undefined || (text === '' && absent !== undefined)) return notFound(call, absent, headers);
  const body = indented(text, contentType === undefined && isPretty(call));
  const status = answer.statusOf?.(value) ?? answer.status;
  headers.push(...pageHeaders(definition, call, value));
  return { status, headers: body === '' ? headers : ['Content-Type', contentType ?? jsonType, ...headers], body };
}

function pageHeaders({ answer }: Call, call: RouteCall, value: unknown): string[] {
  const token = answer.nextToken?.(value) ?? '';
  return token === '' ? [] : [call.names.nextToken, pageToken.print(token)];
}

/** With the headers, so that a reader can wait for the record to appear. Clients of Nomad compare the text. */
function notFound({ names, request }: RouteCall, text: string | undefined, headers: readonly string[]): WholeResponse {
  const what = text ?? 'not found';
  const body = names.vocabulary === 'upstream' ? what : `${what}: ${placeOf(request)}`;
  return { status: 404, headers: ['Content-Type', textType, ...headers], body };
}

/** Whether to indent: the parameter is present and not `0`. */
function isPretty({ query }: RouteCall): boolean {
  if (query.isEmpty) return false;
  const asked = query.get('pretty').unwrapOr(undefined);
  return asked !== undefined && asked !== '0';
}

/** The JSON, if requested indented and with a final line feed. */
function indented(text: string, wanted: boolean): string {
  return wanted && text !== '' ? JSON.stringify(JSON.parse(text), null, 4) + '\n' : text;
}
