import type { ServerResponse } from 'node:http';

/** Whether the client can get no answer any more. A response of HTTP/2 knows that by its stream. */
export function isGone(response: ServerResponse & { readonly stream?: { readonly destroyed: boolean } }): boolean {
  return response.destroyed || response.closed || response.stream?.destroyed === true;
}
