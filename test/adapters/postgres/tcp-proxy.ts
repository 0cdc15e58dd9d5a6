import { connect, createServer, type Server, type Socket } from 'node:net';

/** A direction: to the server, or from it. */
export type Way = 'up' | 'down';

interface Pair {
  readonly client: Socket;
  readonly upstream: Socket;
  /** Directions in which nothing passes. */
  readonly held: Set<Way>;
  /** What has not passed, in order; undefined for the end of the connection. */
  readonly waiting: { readonly way: Way; readonly chunk: Buffer | undefined }[];
}

interface Split {
  readonly marker: string;
  readonly bytes: number;
  readonly then: () => void;
}

/** Forwards connections to a server, as a network that fails in the ways that networks do. */
export class TcpProxy {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  /** As `Pair.held`, for new connections. */
  readonly #held = new Set<Way>();
  /** The port of the server that new connections are forwarded to. */
  target: number;
  /** Bytes that still pass in each direction; then the connection is cut. */
  left: Record<Way, number> = { up: Number.POSITIVE_INFINITY, down: Number.POSITIVE_INFINITY };
  #split: Split | undefined;

  constructor(target: number) {
    this.target = target;
    this.#server = createServer((client) => this.#join(client));
  }

  /** Gives its port. */
  async open(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this.port;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  #join(client: Socket): void {
    const pair: Pair = { client, upstream: connect(this.target, '127.0.0.1'), held: new Set(this.#held), waiting: [] };
    this.#pairs.add(pair);
    this.#pass(pair, 'up');
    this.#pass(pair, 'down');
  }

  #pass(pair: Pair, way: Way): void {
    const from = way === 'up' ? pair.client : pair.upstream;
    from.on('data', (chunk: Buffer) => {
      if (pair.held.has(way)) pair.waiting.push({ way, chunk });
      else if (way === 'up' && this.#split !== undefined && chunk.includes(this.#split.marker))
        this.#hang(pair, chunk, this.#split);
      else this.#write(pair, way, chunk);
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      if (pair.held.has(way)) pair.waiting.push({ way, chunk: undefined });
      else this.#end(pair);
    });
  }

  /**
   * The next chunk to the server that contains a string passes without its last bytes; then its connection hangs, in this direction, and
   * the function is called.
   */
  splitNext(marker: string, bytes: number, then: () => void = () => undefined): void {
    this.#split = { bytes, marker, then };
  }

  #hang(pair: Pair, chunk: Buffer, { bytes, then }: Split): void {
    this.#split = undefined;
    pair.held.add('up');
    pair.upstream.write(chunk.subarray(0, -bytes));
    pair.waiting.push({ way: 'up', chunk: chunk.subarray(-bytes) });
    then();
  }

  #write(pair: Pair, way: Way, chunk: Buffer): void {
    const passing = chunk.subarray(0, Math.max(0, this.left[way]));
    this.left[way] -= chunk.length;
    if (passing.length > 0) (way === 'up' ? pair.upstream : pair.client).write(passing);
    // What has arrived is executed.
    if (this.left[way] < 0) setTimeout(() => this.#end(pair), 1);
  }

  #end(pair: Pair): void {
    pair.client.destroy();
    // What was passed on before arrives.
    pair.upstream.destroySoon();
    this.#pairs.delete(pair);
  }

  /** From now on nothing passes in these directions, not even the end of a connection: nobody notices. New connections are as those that are open. */
  hold(...ways: readonly Way[]): void {
    this.holdOpen(...ways);
    for (const way of ways) this.#held.add(way);
  }

  /** The same for the connections that are open; new ones work. */
  holdOpen(...ways: readonly Way[]): void {
    for (const { held } of this.#pairs) for (const way of ways) held.add(way);
  }

  /** What was held arrives after all. */
  release(): void {
    this.#held.clear();
    this.left = { up: Number.POSITIVE_INFINITY, down: Number.POSITIVE_INFINITY };
    for (const pair of [...this.#pairs]) {
      pair.held.clear();
      for (const { way, chunk } of pair.waiting.splice(0)) {
        if (chunk === undefined) this.#end(pair);
        else this.#write(pair, way, chunk);
      }
    }
  }

  /** Ends all connections; what was held is lost. */
  cut(): void {
    for (const { client, upstream } of this.#pairs) {
      client.destroy();
      upstream.destroy();
    }
    this.#pairs.clear();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
