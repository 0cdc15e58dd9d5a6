/** The little of Express that tests use; its types are not installed. */
declare module 'express' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

  type Middleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;
  type Application = RequestListener & {
    use(...handlers: (string | Middleware)[]): void;
    post(
      paths: readonly string[],
      parser: RequestListener,
      handler: (request: IncomingMessage & { readonly body: unknown }, response: ServerResponse) => void,
    ): void;
  };
  const express: {
    (): Application;
    json(options?: { type: string }): RequestListener;
    raw(options: { type: string }): RequestListener;
  };
  export default express;
}
