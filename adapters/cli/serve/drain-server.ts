import type { Server } from 'node:http';

/**
 * Ends an HTTP server: no new connections, a 503 for what still comes over those that are open, and the end of every
 * connection as soon as its request has been answered. `release` is called until then, for readers that wait and ask
 * again. Resolves when the last connection has ended, or after `grace` milliseconds, when those still busy are cut.
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
