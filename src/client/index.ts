/*
 * A client of a Signalbox server, for Node and for browsers: `connect({ url, token })` gives the same methods as
 * `engine.as(principal)` in the engine's own process. Imports no Node module.
 */
export type { Indexed, PageOf } from '../api/answers.js';
export type { MessageSocket, SocketEnd } from '../api/message-socket.js';
export type { WebSocketConstructor, WebSocketLike } from './browser-socket.js';
export type { CallOptions, Client, WaitingOptions } from './client.js';
export type {
  Aborted,
  BadRequest,
  ClientError,
  Refused,
  TimedOut,
  UnexpectedAnswer,
  Unreachable,
} from './client-error.js';
export { connect } from './connect.js';
export type { ConnectOptions } from './http-transport.js';
export { orThrow, SignalboxError } from './or-throw.js';
