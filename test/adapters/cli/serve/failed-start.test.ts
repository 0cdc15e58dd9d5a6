import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect as connectTo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, it, vi } from 'vitest';
import { serve } from '../../../../adapters/cli/serve/serve.js';
import { Stopped } from '../../../../adapters/cli/stopped.js';
import { connect } from '../../../../src/client/index.js';

const folder = mkdtempSync(join(tmpdir(), 'signalbox-failed-start-'));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => vi.restoreAllMocks());

const terminal = {
  out: () => undefined,
  error: () => undefined,
  read: async () => '',
  colours: false,
  environment: {},
};

function serveWith(key: string): ReturnType<typeof serve> {
  const keys = join(folder, key.slice(0, 2));
  writeFileSync(keys, `k${key.slice(0, 2)} ${key}\n`, { mode: 0o600 });
  const where = ['--listen', '127.0.0.1:0', '--store', `sqlite:${join(folder, 'store.db')}`, '--access', 'open'];
  return serve([...where, '--no-runner', '--encryption-key-file', keys], terminal);
}

it('a start that fails does not wait for a client that came meanwhile', async () => {
  const first = await serveWith('ab'.repeat(32));
  (await connect({ url: first.origin }).variables.put('app/db', { items: { password: 'x' } }))._unsafeUnwrap();
  await first.stop();

  // A client that is there before the server looks into its store, and says nothing.
  const listen = Server.prototype.listen as (this: Server, ...given: unknown[]) => Server;
  vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...given: unknown[]): Server {
    const [port, host, listening] = given as [number, string, () => void];
    return listen.call(this, port, host, () => {
      const client = connectTo((this.address() as AddressInfo).port, '127.0.0.1');
      client.on('error', () => undefined);
      void once(this, 'connection').then(() => listening());
    });
  } as typeof Server.prototype.listen);
  const refused = await serveWith('cd'.repeat(32)).catch((error: unknown) => error);
  expect(String(refused)).toContain('are encrypted with an unknown key');
});

it('a folder for allocations that cannot be one is told, as any reason not to start', async () => {
  const store = join(folder, 'other.db');
  writeFileSync(`${store}-allocations`, '');
  const args = ['--listen', '127.0.0.1:0', '--store', `sqlite:${store}`, '--access', 'open'];
  const refused = await serve(args, terminal).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Stopped);
  expect(String(refused)).toContain(`the directory ${store}-allocations cannot be used`);
});
