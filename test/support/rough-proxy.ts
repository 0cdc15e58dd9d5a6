import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy on loopback that simulates network faults. */
export interface RoughProxy {
  readonly port: number;
  /** The target of new connections. */
  target: number;
  /** `slow` delays every chunk, `silent` forwards nothing and closes nothing. */
  manner: 'good' | 'slow' | 'silent';
  /** Cuts every connection. */
  cut(): void;
  close(): Promise<void>;
}

/** The delay of a chunk in a slow network, in milliseconds. */
const slowness = 300;

export async function roughProxy(): Promise<RoughProxy> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  };
  const server: Server = createServer((near) => {
    const far = connect(proxy.target, '127.0.0.1');
    keep(near);
    keep(far);
    pass(near, far, proxy);
    pass(far, near, proxy);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: RoughProxy = {
    port: (server.address() as AddressInfo).port,
    target: 0,
    manner: 'good',
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    close: async () => {
      proxy.cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}

/** Chunks keep their order when the network changes. Chunks received while it is silent are lost with their connection. */
function pass(from: Socket, to: Socket, proxy: RoughProxy): void {
  let before = Promise.resolve();
  from.on('data', (piece: Buffer) => {
    const delay = proxy.manner === 'slow' ? slowness : 0;
    if (proxy.manner === 'silent') {
      from.pause();
      return;
    }
    before = before.then(async () => {
      if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
      to.write(piece);
    });
  });
  from.on('close', () => void before.then(() => to.destroy()));
}
