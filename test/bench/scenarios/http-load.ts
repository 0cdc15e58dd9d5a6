import { connect, type Socket } from 'node:net';

/** One answer of a server. */
export interface Answered {
  readonly status: number;
  readonly headers: string;
  readonly body: string;
}

/** A keep-alive connection for one request at a time: no parsing beyond status, length and end. */
export interface Connection {
  /** Sends the text of a request and gives the answer. */
  ask(request: string): Promise<Answered>;
  close(): void;
}

export function connectionTo(port: number): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let received: Buffer = Buffer.alloc(0);
    let waiting: ((answer: Answered) => void) | undefined;
    let failed: ((error: Error) => void) | undefined;
    socket.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
      const answer = answerIn(received);
      if (answer === undefined) return;
      received = Buffer.alloc(0);
      const give = waiting;
      waiting = undefined;
      give?.(answer);
    });
    socket.on('error', (error) => {
      failed?.(error);
      reject(error);
    });
    socket.on('close', () => failed?.(new Error('the server closed the connection')));
    socket.once('connect', () =>
      resolve({
        ask: (request) =>
          new Promise((give, fail) => {
            waiting = give;
            failed = fail;
            socket.write(request);
          }),
        close: () => {
          failed = undefined;
          socket.destroy();
        },
      }),
    );
  });
}

/** Asks `count` requests over the connections, each as soon as its connection is free. Throws for an answer that is not 200. */
export async function askMany(
  connections: readonly Connection[],
  count: number,
  request: (n: number) => string,
): Promise<void> {
  let next = 0;
  await Promise.all(
    connections.map(async (connection) => {
      while (next < count) {
        const n = next;
        next += 1;
        const answer = await connection.ask(request(n));
        if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.body.slice(0, 300)}`);
      }
    }),
  );
}

function answerIn(received: Buffer): Answered | undefined {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const headers = received.toString('latin1', 0, end);
  const length = Number(/\r\ncontent-length: ([0-9]+)/i.exec(headers)?.[1] ?? 0);
  if (received.length < end + 4 + length) return undefined;
  return { status: Number(headers.slice(9, 12)), headers, body: received.toString('utf8', end + 4, end + 4 + length) };
}
