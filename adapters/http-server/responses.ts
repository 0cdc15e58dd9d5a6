import type { HttpResponse } from './http-message.js';

export const jsonType = 'application/json';
export const textType = 'text/plain; charset=utf-8';
export const jsonApiType = 'application/vnd.api+json';

export function jsonResponse(status: number, body: string | Buffer): HttpResponse {
  return { status, headers: ['Content-Type', jsonType], body };
}

/** Errors may quote the request, so browsers must not guess another type. */
export function textResponse(status: number, body: string): HttpResponse {
  return { status, headers: ['Content-Type', textType, 'X-Content-Type-Options', 'nosniff'], body };
}

export function emptyResponse(status: number): HttpResponse {
  return { status, headers: [], body: '' };
}
