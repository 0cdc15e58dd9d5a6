/** The little of Express that the mounting tests use; its types are not installed. */
declare module 'express' {
  import type { RequestListener } from 'node:http';

  type Application = RequestListener & { use(...handlers: (string | RequestListener)[]): void };
  const express: {
    (): Application;
    json(options: { type: string }): RequestListener;
    raw(options: { type: string }): RequestListener;
  };
  export default express;
}
