import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { faultFromError } from '../../../adapters/undici/delivery-fault.js';
import { type ConnectTarget, guardedConnector } from '../../../adapters/undici/guarded-connector.js';
import type { OutboundGuard } from '../../../adapters/undici/outbound-guard.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';

let receiver: Receiver | null = null;
afterEach(async () => {
  await receiver?.close();
});

function outcomeOf(
  guard: OutboundGuard,
  target: ConnectTarget,
): Promise<{ error: Error | null; socket: Socket | null }> {
  const resolve = async (): Promise<{ address: string; family: 4 }[]> => [{ address: '127.0.0.1', family: 4 }];
  return new Promise((done) => {
    guardedConnector({ guard, resolve })(target, 2000, (error, socket) => done({ error, socket }));
  });
}

describe('guardedConnector', () => {
  it('asks about the literal, then about each resolved address, then about the one reached', async () => {
    receiver = await startReceiver();
    const asked: string[] = [];
    const guard: OutboundGuard = {
      judgeHost: (host) => {
        asked.push(`host ${host}`);
        return null;
      },
      judge: (host, address) => {
        asked.push(`${host} at ${address}`);
        return null;
      },
    };
    const target = { protocol: 'http:', hostname: 'a.example', port: String(receiver.port) };
    const { error, socket } = await outcomeOf(guard, target);
    socket?.destroy();
    expect(error).toBeNull();
    expect(asked).toEqual(['host a.example', 'a.example at 127.0.0.1', 'a.example at 127.0.0.1']);
  });

  it('gives up a connection that reached an address nobody had asked about', async () => {
    receiver = await startReceiver();
    let asked = 0;
    const guard: OutboundGuard = { judgeHost: () => null, judge: () => (++asked === 2 ? 'not this one' : null) };
    const target = { protocol: 'http:', hostname: 'a.example', port: String(receiver.port) };
    const { error, socket } = await outcomeOf(guard, target);
    expect(socket).toBeNull();
    expect(faultFromError(error, 'exchanging')).toEqual({ type: 'address_forbidden', message: 'not this one' });
    await receiver.quiet();
    expect(receiver.requests).toEqual([]);
  });
});
