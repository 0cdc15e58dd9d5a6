import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from 'vitest';
import { drainServer } from '../../../../adapters/cli/serve/drain-server.js';
import { createHttpHandler, nodeListener } from '../../../../adapters/compat/index.js';
import { engineUnderTest } from '../../http-server/engine-under-test.js';

const request = 'GET /v1/jobs?index=1000000&wait=5m HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** A reader that asks again over its connection as soon as it has an answer; resolves with the statuses of its answers. */
async function reader(port: number): Promise<string> {
  let got = '';
  const socket = connect(port, '127.0.0.1', () => socket.write(request));
  socket.setEncoding('latin1').on('data', (text: string) => {
    got += text;
    if (socket.writable) socket.write(request);
  });
  await once(
    socket.on('error', () => undefined),
    'close',
  );
  return [...got.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => status).join();
}

it('answers a thousand waiting readers once, in one turn, and waits for none of them', async () => {
  // On a clock that stands still, so that no wait ends by itself.
  const engine = engineUnderTest();
  const server = createServer(nodeListener(createHttpHandler(engine, { access: 'open', hosts: ['localhost'] })));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const readers = Array.from({ length: 1000 }, () => reader(port));
  await expect.poll(() => engine.parked.size).toBe(1000);
  const released: number[] = [];
  const release = (): void => {
    if (engine.parked.size > 0) released.push(engine.parked.size);
    engine.parked.release();
  };
  // Nothing is cut: the grace time is longer than the test may take.
  await drainServer(server, release, 600_000);
  expect([...new Set(await Promise.all(readers))]).toEqual(['200']);
  expect(released).toEqual([1000]);
  await engine.stop();
});
