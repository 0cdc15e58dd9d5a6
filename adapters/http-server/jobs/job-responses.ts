import type { Answer, Row } from '../../../src/index.js';
import type { HttpResponse } from '../http-message.js';
import { jsonType, textType } from '../responses.js';
import type { RouteCall } from '../route.js';
import { headerFromToken, isPretty, prettyJson } from './job-parameters.js';

/** A read's answer: the JSON text with the headers that blocking readers live on (job interface, response headers). */
export function readResponse(
  call: RouteCall,
  index: number,
  body: string | Buffer,
  nextToken?: string | null,
): HttpResponse {
  const { names } = call;
  const headers = [
    'Content-Type',
    jsonType,
    names.index,
    String(index),
    names.lastContact,
    '0',
    names.knownLeader,
    'true',
  ];
  if (nextToken !== undefined && nextToken !== null && nextToken !== '') {
    headers.push(names.nextToken, headerFromToken(nextToken));
  }
  return { status: 200, headers, body };
}

/** A read's 404: it carries the headers too, so that a reader can wait for the thing to appear. */
export function absentResponse(call: RouteCall, index: number, message: string): HttpResponse {
  const response = readResponse(call, index, message);
  response.headers[1] = textType;
  return { status: 404, headers: response.headers, body: message };
}

/** A write's answer. Without an index, as some have none, there is no index header. */
export function writeResponse(call: RouteCall, index: number | undefined, body: string): HttpResponse {
  const headers = ['Content-Type', jsonType];
  if (index !== undefined) headers.push(call.names.index, String(index));
  return { status: 200, headers, body: isPretty(call) ? prettyJson(body) : body };
}

/**
 * The body of an answer. Readers that waited for it together share one answer object, and with it one printed body for
 * each wording of the query.
 */
export function bodyOf<T>(
  call: RouteCall,
  answer: Answer<T>,
  waited: boolean,
  print: (value: T) => string,
): string | Buffer {
  if (!waited) {
    const text = print(answer.value);
    return text !== '' && isPretty(call) ? prettyJson(text) : text;
  }
  let bodies = printed.get(answer);
  if (bodies === undefined) {
    bodies = new Map();
    printed.set(answer, bodies);
  }
  let body = bodies.get(call.query.raw);
  if (body === undefined) {
    const text = print(answer.value);
    body = Buffer.from(text !== '' && isPretty(call) ? prettyJson(text) : text);
    // Readers with many different wordings must not fill the memory.
    if (bodies.size < 16) bodies.set(call.query.raw, body);
  }
  return body;
}

const printed = new WeakMap<object, Map<string, Buffer>>();

/** A list of rows as they are stored. */
export function textOfRows<R>(rows: readonly Row<R>[]): string {
  return '[' + rows.map((row) => row.text).join(',') + ']';
}

export function textOfRow<R>(row: Row<R>): string {
  return row.text;
}
