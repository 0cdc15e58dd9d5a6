/** The little of Express that the mounting tests use; its types are not installed. */
declare module 'express' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

  type Middleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;
  type Application = RequestListener & { use(...handlers: (string | Middleware)[]): void };
  const express: {
    (): Application;
    json(options: { type: string }): RequestListener;
    raw(options: { type: string }): RequestListener;
  };
  export default express;
}
