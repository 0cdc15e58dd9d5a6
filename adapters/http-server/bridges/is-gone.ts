import type { ServerResponse } from 'node:http';

/** Whether the client has disconnected. An HTTP/2 response has this state in its stream. */
export function isGone(response: ServerResponse & { readonly stream?: { readonly destroyed: boolean } }): boolean {
  return response.destroyed || response.closed || response.stream?.destroyed === true;
}
