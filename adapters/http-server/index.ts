export type { MessageSocket, SocketEnd } from '../../src/api/message-socket.js';
export { fetchHandler } from './bridges/fetch-handler.js';
export { type FastifyExchange, fastifyRoute, type NodeListenerOptions, nodeListener } from './bridges/node-listener.js';
export type { AccessOptions } from './edge/access.js';
export { type Claimant, type ConnectionLimits, limitConnections } from './edge/shares.js';
export { createHttpHandler, type HttpHandlerOptions } from './http-handler.js';
export {
  type BodyAllowance,
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  headerValue,
  type RequestBody,
  type RequestHeaders,
  type RequestParts,
  requestFrom,
  type StreamedBody,
  type Vocabulary,
} from './http-message.js';
export {
  type Admit,
  type UpgradeAnswer,
  type UpgradeHandler,
  type UpgradeListener,
  type UpgradeOptions,
  upgradeListener,
} from './sockets/upgrade-listener.js';
export type { SocketBounds } from './sockets/web-socket.js';
