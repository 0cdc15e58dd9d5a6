import type { ConnectOptions } from '../../../src/client/index.js';

type WebSocketConstructor = NonNullable<ConnectOptions['WebSocket']>;

/** The WebSocket of the package `ws`, for every version of Node. Messages longer than `maxPayload` bytes close the socket. */
export async function boundedWebSocket(maxPayload: number): Promise<WebSocketConstructor> {
  const { WebSocket } = await import('ws');
  return class extends WebSocket {
    constructor(url: string) {
      super(url, { maxPayload, perMessageDeflate: false, handshakeTimeout: 10_000 });
    }
  } as unknown as WebSocketConstructor;
}
