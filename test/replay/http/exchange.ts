import http from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { Answered, Step } from './transcript.js';

const giveUpAfterMs = 30_000;

/** Sends a request exactly as it is written: no cleaning of the path, no redirects, no retries. Never rejects. */
export function exchange(origin: string, step: Step, agent: http.Agent): Promise<Answered> {
  const payload = step.raw ?? (step.body === undefined ? undefined : JSON.stringify(step.body));
  const length = payload === undefined ? {} : { 'Content-Length': Buffer.byteLength(payload) };
  const { hostname, port } = new URL(origin);
  const path = targetOf(step);
  const began = performance.now();
  return new Promise((resolve) => {
    const settle = (status: number, headers: Answered['headers'], text: string): void =>
      resolve({ status, headers, text, ms: performance.now() - began });
    const options = {
      agent,
      hostname,
      port,
      method: step.method ?? 'GET',
      path,
      headers: { ...length, ...step.headers },
    };
    const request = http.request(options, (response) => {
      const chunks: Buffer[] = [];
      const headers = response.headers as Record<string, string>;
      const done = (): void => settle(response.statusCode ?? 0, headers, textOf(headers, Buffer.concat(chunks)));
      response
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', done)
        .on('error', done);
      if (step.stopAfterMs !== undefined) {
        setTimeout(() => {
          done();
          request.destroy();
        }, step.stopAfterMs);
      }
    });
    request.setTimeout(giveUpAfterMs, () => request.destroy(new Error('no answer')));
    request.on('error', (error: NodeJS.ErrnoException) => settle(0, {}, error.code ?? error.message));
    request.end(payload);
  });
}

/** The path and the query of a step, as they are written. */
export function targetOf({ path = '', query }: Step): string {
  return `${path.replace(/[^\x21-\x7e]+/g, encodeURIComponent)}${queryText(query)}`;
}

/** A list repeats its key; null gives the key alone. */
function queryText(query: Step['query'] = {}): string {
  const pairs = Object.entries(query).flatMap(([key, value]) =>
    [value]
      .flat()
      .map((one) => (one === null ? encodeURIComponent(key) : `${encodeURIComponent(key)}=${encodeURIComponent(one)}`)),
  );
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function textOf(headers: Answered['headers'], bytes: Buffer): string {
  return (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString('utf8');
}
