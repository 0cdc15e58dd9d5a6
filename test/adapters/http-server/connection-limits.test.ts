import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type ConnectionLimits, limitConnections } from '../../../adapters/compat/index.js';

let server: Server | undefined;
const sockets: Socket[] = [];
/** The answers to requests for `/held`, which wait until a test ends them. */
const held: ServerResponse[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  held.length = 0;
  server?.closeAllConnections();
  server?.close();
});

async function listening(limits: ConnectionLimits): Promise<number> {
  server = createServer((request, response) => {
    if (request.url === '/held') held.push(response);
    else response.end('served');
  });
  limitConnections(server, limits);
  server.on('upgrade', (_request, socket) => {
    socket.on('end', () => socket.end()).resume();
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

interface Opened {
  readonly socket: Socket;
  readonly ended: Promise<string>;
  received(): string;
}

/** A connection from a loopback address, when the server has accepted or refused it. */
async function open(port: number, from = '127.0.0.1'): Promise<Opened> {
  const accepted = once(server as Server, 'connection');
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  sockets.push(socket);
  let text = '';
  socket
    .on('error', () => undefined)
    .on('data', (chunk) => {
      text += chunk.toString();
    });
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(text)));
  await accepted;
  return { socket, ended, received: () => text };
}

async function ask({ socket, received }: Opened, path: string, further = ''): Promise<string> {
  const before = received().length;
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${further}\r\n`);
  await expect.poll(() => received().length).toBeGreaterThan(before);
  return received().slice(before);
}

async function hold(opened: Opened): Promise<void> {
  const before = held.length;
  opened.socket.write('GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await expect.poll(() => held.length).toBe(before + 1);
}

describe('a limit of connections', () => {
  it('lets a new one take the place of the one that has been idle longest', async () => {
    const port = await listening({ maximumConnections: 3, maximumConnectionsPerAddress: 3 });
    const [first, second, third] = [await open(port), await open(port), await open(port)];
    expect(await ask(first, '/')).toContain('served');
    const fourth = await open(port);
    expect(await second.ended).toBe('');
    for (const each of [first, third, fourth]) expect(await ask(each, '/')).toContain('served');
  });

  it('refuses a new one with a 503 when each has a request in progress, until one is over', async () => {
    const port = await listening({ maximumConnections: 2, maximumConnectionsPerAddress: 2 });
    for (let count = 0; count < 2; count += 1) await hold(await open(port));
    const refused = await (await open(port)).ended;
    expect(refused).toMatch(/^HTTP\/1\.1 503 /);
    expect(refused).toContain('Retry-After: 1');
    expect(refused).toContain('too many connections');
    held[0]?.end();
    await once(held[0] as ServerResponse, 'close');
    expect(await ask(await open(port), '/')).toContain('served');
  });

  it('counts a WebSocket as in progress', async () => {
    const port = await listening({ maximumConnections: 1, maximumConnectionsPerAddress: 1 });
    const upgraded = await open(port);
    expect(await ask(upgraded, '/', 'Connection: Upgrade\r\nUpgrade: websocket\r\n')).toContain('101');
    expect(await (await open(port)).ended).toMatch(/^HTTP\/1\.1 503 /);
    upgraded.socket.destroy();
    await expect.poll(async () => ask(await open(port), '/')).toContain('served');
  });

  it('gives one address half of all, so that others are served', async () => {
    const port = await listening({ maximumConnections: 4 });
    for (let count = 0; count < 2; count += 1) await hold(await open(port, '127.0.0.2'));
    expect(await (await open(port, '127.0.0.2')).ended).toMatch(/^HTTP\/1\.1 503 /);
    expect(await ask(await open(port, '127.0.0.3'), '/')).toContain('served');
  });

  it('makes room at the address with the most connections', async () => {
    const port = await listening({ maximumConnections: 4, maximumConnectionsPerAddress: 3 });
    const early = await open(port, '127.0.0.3');
    const flood: Opened[] = [];
    for (let count = 0; count < 3; count += 1) flood.push(await open(port, '127.0.0.2'));
    const late = await open(port, '127.0.0.4');
    expect(await flood[0]?.ended).toBe('');
    expect(await ask(early, '/')).toContain('served');
    expect(await ask(late, '/')).toContain('served');
  });

  it('forgets connections that end', async () => {
    const port = await listening({ maximumConnections: 2, maximumConnectionsPerAddress: 2 });
    for (let count = 0; count < 20; count += 1) {
      const opened = await open(port);
      await hold(opened);
      opened.socket.destroy();
      await once(held.at(-1) as ServerResponse, 'close');
    }
    expect(await ask(await open(port), '/')).toContain('served');
  });
});
