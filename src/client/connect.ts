import { checkOptions, type OptionTable } from '../options/check-options.js';
import { amount, callable, mapOf, optional, text, textLike } from '../options/option-kinds.js';
import { type Client, clientOver } from './client.js';
import { type ConnectOptions, httpTransport } from './http-transport.js';

const optionTable: OptionTable<ConnectOptions> = {
  url: textLike(/^https?:\/\/[^/]/i, 'a URL such as https://jobs.example.org'),
  token: optional(text),
  notificationsPath: optional(text),
  timeout: optional(amount),
  headers: optional(mapOf(text)),
  fetch: optional(callable),
  WebSocket: optional(callable),
};

/**
 * A client of a server: the same methods, arguments and errors as `engine.as(principal)` in the engine's
 * process, with the rights of the token. Connects at the first call. Throws a TypeError for an
 * invalid URL, and for missing, unknown or mistyped options.
 */
export function connect(options: ConnectOptions): Client {
  checkOptions('connect', options, optionTable);
  return clientOver(httpTransport(options));
}
