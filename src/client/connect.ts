import { type Client, clientOver } from './client.js';
import { type ConnectOptions, httpTransport } from './http-transport.js';

/**
 * The interface of a server: the same methods, arguments and errors as `engine.as(principal)` gives in the engine's own
 * process, with the rights of the token. Makes no connection before the first call. Throws a TypeError for an
 * invalid URL.
 */
export function connect(options: ConnectOptions): Client {
  return clientOver(httpTransport(options));
}
