import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nodeListener } from '../../../adapters/compat/index.js';

/** Texts that need one, two, three and four bytes for a character, and one that has no UTF-8 form. */
const texts: Readonly<Record<string, string>> = {
  '/ascii': '{"Name":"web"}',
  '/latin': '{"Name":"café"}',
  '/wide': '{"Name":"東京"}',
  '/astral': '{"Name":"🚀"}',
  '/surrogate': '{"Name":"\ud800"}',
  '/control': '{"Name":"\u007f\u0080"}',
};

let server: Server;
let origin: string;

beforeAll(async () => {
  const headers = (): string[] => ['Content-Type', 'application/json'];
  const listener = nodeListener(async ({ target }) => ({ status: 200, headers: headers(), body: texts[target] ?? '' }));
  server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('texts of answers', () => {
  it.each(Object.keys(texts))('%s is sent as UTF-8, with its length in bytes', async (path) => {
    const response = await fetch(origin + path);
    const expected = Buffer.from(texts[path] as string, 'utf8');
    expect(Number(response.headers.get('content-length'))).toBe(expected.length);
    expect(Buffer.from(await response.arrayBuffer()).equals(expected)).toBe(true);
  });
});
