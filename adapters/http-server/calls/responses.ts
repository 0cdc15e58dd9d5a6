import type { HttpResponse } from '../http-message.js';

export const jsonType = 'application/json';
export const textType = 'text/plain; charset=utf-8';
export const jsonApiType = 'application/vnd.api+json';

export function jsonResponse(status: number, body: string | Buffer): HttpResponse {
  return { status, headers: ['Content-Type', jsonType], body };
}

/** A document with thousands of faults would make an answer larger than itself. */
const longestText = 32_768;

/** Truncates very long strings. */
export function textResponse(status: number, text: string): HttpResponse {
  const body = text.length > longestText ? text.slice(0, longestText) + '\n… and more' : text;
  return { status, headers: ['Content-Type', textType], body };
}

export function emptyResponse(status: number): HttpResponse {
  return { status, headers: [], body: '' };
}
