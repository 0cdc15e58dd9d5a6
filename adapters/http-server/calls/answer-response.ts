import type { CallInput } from '../../../src/api/answers.js';
import type { Call } from '../../../src/api/call.js';
import { plainType } from '../../../src/api/plain-type.js';
import { pageToken } from '../../../src/api/text-codecs.js';
import type { HttpResponse } from '../http-message.js';
import { jsonType, textType } from './responses.js';
import type { RouteCall } from './route.js';

/** An answer of an operation, on its way to the wire. */
interface Answered {
  readonly value: unknown;
  readonly input: CallInput;
  /** Whether the reader waited for it, together with others perhaps. */
  readonly waited: boolean;
}

/** The answer of a call, in the form of its interface or, if requested, in the engine's own form. */
export function answerResponse(definition: Call, call: RouteCall, answered: Answered): HttpResponse {
  return call.plain ? plainResponse(definition, call, answered) : wireResponse(definition, call, answered);
}

function plainResponse({ answer }: Call, call: RouteCall, answered: Answered): HttpResponse {
  const { value, input } = answered;
  const print = (): string => answer.clientText?.(value) ?? JSON.stringify(answer.toClient(value, input)) ?? '';
  const body = bodyOf(call, answered, print);
  const status = answer.statusOf?.(value) ?? answer.status;
  if (body.length === 0) return { status: status === 200 ? 204 : status, headers: [], body: '' };
  // What has no body in the form of its interface may have one here, which 204 would not let through.
  return { status: status === 204 ? 200 : status, headers: ['Content-Type', plainType, 'Vary', 'Accept'], body };
}

/** Forms in which an answer is printed as a whole. */
export function isPlainOrPretty(call: RouteCall): boolean {
  return call.plain || isPretty(call);
}

/** Status and headers of a list whose body is sent in pieces. */
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

function wireResponse(definition: Call, call: RouteCall, answered: Answered): HttpResponse {
  const { answer, absent } = definition;
  const { value, input } = answered;
  const headers = indexHeaders(definition, call, value);
  const contentType = answer.contentTypeOf?.(value);
  let found = true;
  const body = bodyOf(call, answered, () => {
    const text = answer.toWire(value, input);
    if (text === undefined) found = false;
    return indented(text ?? '', contentType === undefined && isPretty(call));
  });
  // A shared body is printed once; an absent answer prints as nothing for everyone.
  if (!found || (body.length === 0 && absent !== undefined)) return notFound(absent, headers);
  const token = answer.nextToken?.(value) ?? '';
  if (token !== '') headers.push(call.names.nextToken, pageToken.print(token));
  const status = answer.statusOf?.(value) ?? answer.status;
  return { status, headers: body.length === 0 ? headers : ['Content-Type', contentType ?? jsonType, ...headers], body };
}

/** With the headers, so that a reader can wait for the thing to appear. */
function notFound(text: string | undefined, headers: readonly string[]): HttpResponse {
  return { status: 404, headers: ['Content-Type', textType, ...headers], body: text ?? 'not found' };
}

/** Indented if the parameter is present and not `0`. */
function isPretty({ query }: RouteCall): boolean {
  if (query.isEmpty) return false;
  const asked = query.get('pretty').unwrapOr(undefined);
  return asked !== undefined && asked !== '0';
}

/** The same JSON, indented with a line end when that is wanted and there is any. */
function indented(text: string, wanted: boolean): string {
  return wanted && text !== '' ? JSON.stringify(JSON.parse(text), null, 4) + '\n' : text;
}

/**
 * The body of an answer. Readers that waited for it together share one answer object, and with it one printed body for
 * each form and each wording of the query.
 */
function bodyOf(call: RouteCall, { value, waited }: Answered, print: () => string): string | Buffer {
  if (!waited || typeof value !== 'object' || value === null) return print();
  let bodies = printed.get(value);
  if (bodies === undefined) {
    bodies = new Map();
    printed.set(value, bodies);
  }
  const form = (call.plain ? '+' : '-') + call.query.raw;
  let body = bodies.get(form);
  if (body === undefined) {
    body = Buffer.from(print());
    // Readers with many different wordings must not fill the memory.
    if (bodies.size < 16) bodies.set(form, body);
  }
  return body;
}

const printed = new WeakMap<object, Map<string, Buffer>>();
