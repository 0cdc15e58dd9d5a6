import type { Server } from 'node:http';

/**
 * Stops an HTTP server: accepts no new connections, answers new requests over open ones with 503, and closes every
 * connection as soon as its request has been answered. Meanwhile it calls `release` repeatedly, for blocking queries that are repeated.
 * Resolves when the last connection has ended, or after `grace` milliseconds, when busy connections are cut.
 */
export function drainServer(server: Server, release: () => void, grace: number): Promise<void> {
  server.removeAllListeners('request').removeAllListeners('upgrade');
  server.on('request', (_request, response) => {
    const headers = { 'Retry-After': '1', Connection: 'close', 'X-Content-Type-Options': 'nosniff' };
    response.writeHead(503, headers).end('the server is stopping\n');
  });
  return new Promise((resolve) => {
    const turn = setInterval(() => {
      release();
      server.closeIdleConnections();
    }, 20);
    const finish = (): void => {
      clearInterval(turn);
      clearTimeout(hard);
      resolve();
    };
    const hard = setTimeout(() => {
      server.closeAllConnections();
      finish();
    }, grace);
    server.close(finish);
    release();
    server.closeIdleConnections();
  });
}
