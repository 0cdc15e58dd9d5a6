import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Stopped } from './stopped.js';

/** A server of the job interface, as the commands need it. */
export interface ServerClient {
  /** The JSON answer of a write. Rejects with `Stopped`, with the server's text, for every other status than 200. */
  write(path: string, body: unknown): Promise<Readonly<Record<string, unknown>>>;
}

const timeout = 60_000;

/** The server at the address, else at that of the environment, else on this host. */
export function serverAt(
  address: string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): ServerClient {
  const text = address ?? environment['SIGNALBOX_ADDR'] ?? 'http://127.0.0.1:4646';
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new Stopped(`the address must be a URL such as http://127.0.0.1:4646, not ${JSON.stringify(text)}`, 2);
  }
  const base = new URL(text);
  const token = environment['SIGNALBOX_TOKEN'] ?? '';
  return {
    write: async (path, body) => {
      const answer = await exchange(
        new URL(base.pathname.replace(/\/$/, '') + path, base),
        token,
        JSON.stringify(body),
      );
      if (answer.status !== 200) throw new Stopped(`the server refused (${answer.status}): ${answer.text.trim()}`);
      try {
        return JSON.parse(answer.text) as Readonly<Record<string, unknown>>;
      } catch {
        throw new Stopped(`${base.origin} does not answer like a server of the job interface`);
      }
    },
  };
}

function exchange(url: URL, token: string, body: string): Promise<{ readonly status: number; readonly text: string }> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    ...(token === '' ? {} : { 'X-SVC-Token': token, 'X-Nomad-Token': token }),
  };
  return new Promise((resolve, reject) => {
    const request = send(url, { method: 'PUT', headers, timeout }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      response.on('error', reject);
    });
    request.on('timeout', () => request.destroy(new Error('it did not answer in time')));
    request.on('error', (error) => reject(new Stopped(`${url.origin} cannot be reached: ${error.message}`)));
    request.end(body);
  });
}
