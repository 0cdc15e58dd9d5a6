import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttpHandler, nodeListener } from '../../../adapters/compat/index.js';
import type { Engine } from '../../../src/index.js';
import type { Logger } from '../../../src/ports/index.js';
import { everything, filledEngine } from './engine-under-test.js';

/** What is asked; the target is sent as it is. */
export interface Asked {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface Answered {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** A server over HTTP with one of everything stored, which is filled anew when something was changed. */
export class DescribedServer {
  readonly failures: unknown[] = [];
  private server: Server | undefined;
  private handler: ReturnType<typeof createHttpHandler> | undefined;
  private engine: Engine | undefined;
  private before = 0;

  constructor(readonly names: 'neutral' | 'upstream') {}

  async start(): Promise<void> {
    await this.refill();
    const listener = (...[request, response]: Parameters<ReturnType<typeof nodeListener>>) => {
      if (this.handler !== undefined) nodeListener(this.handler)(request, response);
    };
    this.server = createServer(listener);
    await new Promise<void>((resolve) => this.server?.listen(0, '127.0.0.1', resolve));
  }

  async stop(): Promise<void> {
    this.server?.closeAllConnections();
    await new Promise((resolve) => this.server?.close(resolve));
  }

  /** Whether the last request changed what is stored; then the next one finds it as it was before. */
  async refillIfChanged(): Promise<boolean> {
    const changed = (await this.index()) !== this.before;
    if (changed) await this.refill();
    return changed;
  }

  /** Of an endless answer only the beginning is read. */
  ask({ method, target, headers, body }: Asked): Promise<Answered> {
    if (this.server === undefined) throw new Error('the server is not started');
    const { port } = this.server.address() as AddressInfo;
    return new Promise((resolve, reject) => {
      const sent = httpRequest(
        { host: '127.0.0.1', port, method, path: target, headers: { ...headers, ...lengthOf(body) } },
        (response) => {
          const pieces: Buffer[] = [];
          const end = (): void => {
            const { statusCode = 0, headers: got } = response;
            const text = Buffer.concat(pieces).toString();
            resolve({ status: statusCode, type: got['content-type'] ?? '', body: text });
          };
          const isEndless = got(response.headers, 'cache-control')?.startsWith('no-cache') === true;
          const cut = (): void => {
            end();
            response.destroy();
          };
          // There may be nothing to tell for as long as the stream is open.
          const silent = isEndless ? setTimeout(cut, streamPatience) : undefined;
          response.on('close', () => clearTimeout(silent));
          response.on('data', (piece: Buffer) => {
            pieces.push(piece);
            if (isEndless) cut();
          });
          response.on('end', end);
          response.on('error', (error) => (isEndless ? end() : reject(error)));
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }

  private async index(): Promise<number> {
    return (await this.engine?.storage.read((view) => view.index))?._unsafeUnwrap() ?? 0;
  }

  private async refill(): Promise<void> {
    const note = (fields: unknown): void => void this.failures.push(fields);
    const logger: Logger = { debug: ignore, info: ignore, warn: ignore, error: note };
    this.engine = await filledEngine({}, logger);
    this.handler = createHttpHandler(this.engine, { ...everything, names: this.names });
    this.before = await this.index();
  }
}

/** Without it, Node sends the body of a DELETE so that no server can tell where it ends. */
function lengthOf(body: string | undefined): Record<string, number> {
  return body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
}

/** How long the first piece of a stream without end is waited for. In milliseconds. */
const streamPatience = 200;

function ignore(): void {}

function got(headers: NodeJS.Dict<string | string[]>, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
