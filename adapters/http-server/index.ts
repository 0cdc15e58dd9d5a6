export type { AccessOptions } from './access.js';
export { fetchHandler } from './fetch-handler.js';
export type { Vocabulary } from './header-names.js';
export { createHttpHandler, type HttpHandlerOptions } from './http-handler.js';
export {
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  headerValue,
  type RequestBody,
  type RequestHeaders,
  type RequestParts,
  requestFrom,
} from './http-message.js';
export { nodeListener } from './node-listener.js';
