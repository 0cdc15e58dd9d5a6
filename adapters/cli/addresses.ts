import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Stopped } from './stopped.js';

/** Resolves with the server's URL once it listens. */
export function listening(server: Server, at: { readonly host: string; readonly port: number }): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(new Stopped(`cannot listen: ${error.message}`)));
    server.listen(at.port, at.host, () => {
      const { port } = server.address() as AddressInfo;
      resolve(`http://${at.host.includes(':') ? `[${at.host}]` : at.host}:${port}`);
    });
  });
}

/** Host and port of `127.0.0.1:4646` or `[::1]:0`. */
export function listenParts(text: string): { readonly host: string; readonly port: number } | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]+)):([0-9]{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const name = match?.[1] ?? match?.[2];
  return name === undefined || port > 65_535 ? undefined : { host: name, port };
}

/**
 * The URL of a server without credentials, or the invalid string as error messages show it, also without credentials: others read
 * the messages of command lines and the logs of agents.
 */
export function serverAddress(text: string): { readonly url: string } | { readonly shown: string } {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    const withoutUser = text.replace(/^([a-zA-Z][a-zA-Z0-9+.-]*:\/+)?.*@/s, '$1');
    return { shown: JSON.stringify(withoutUser.slice(0, 100)) };
  }
  const url = new URL(text);
  if (url.username === '' && url.password === '') return { url: text };
  url.username = '';
  url.password = '';
  return { url: url.href };
}

/** Whether a host stays on this machine. `localhost` is trusted to be what it says; every other name could resolve to anything. */
export function isLoopback(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || /^127(?:\.[0-9]{1,3}){3}$/.test(host);
}
