import pg from 'pg';
import type { PgPool } from '../../../adapters/postgres/index.js';
import type { PipelineQuery } from '../../../adapters/postgres/wire.js';

/** Statements that are about to be sent to the server. */
export interface RoundTrip {
  readonly texts: readonly string[];
  /** They are executed, and the answer arrives. */
  pass(): void;
  /** Their connection ends before they are sent. */
  drop(): Promise<void>;
  /** They are executed, and their connection ends before the answer arrives. */
  lose(): void;
  /** Their connection ends for the process, but the server gets them when the function is called, which resolves when it has executed them. */
  delay(): () => Promise<void>;
}

/** A pool that asks about each round trip of a store what is to happen to it. */
export function watchedPool(url: string, watch: (trip: RoundTrip) => unknown): PgPool & { isOpen: boolean } {
  return {
    /** Whether new connections are made. */
    isOpen: true,
    async connect() {
      if (!this.isOpen) throw new Error('The server cannot be reached.');
      const client = new pg.Client({ connectionString: url });
      client.on('error', () => undefined);
      await client.connect();
      let isKept = false;
      const send = client.query.bind(client) as (query: PipelineQuery | string) => unknown;
      const query = (sent: PipelineQuery | string): unknown => {
        if (typeof sent === 'string') return send(sent);
        return watch({
          texts: sent.pipeline.statements.map(({ text }) => text),
          pass: () => send(sent),
          drop: () => client.end(),
          lose: () => {
            sent.callback = () => void client.end();
            send(sent);
          },
          delay: () => {
            isKept = true;
            client.emit('error', new Error('The network has failed.'));
            return () =>
              new Promise((resolve) => {
                sent.callback = () => void client.end().then(resolve);
                send(sent);
              });
          },
        });
      };
      return Object.assign(client, {
        query: query as never,
        release: (): void => {
          if (!isKept) void client.end();
        },
      });
    },
  };
}
