import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { faultFromError } from '../../../adapters/undici/delivery-fault.js';
import { type ConnectTarget, guardedConnector } from '../../../adapters/undici/guarded-connector.js';
import type { ResolvedAddress } from '../../../adapters/undici/name-resolver.js';
import {
  type AllowedDestinations,
  type OutboundGuard,
  outboundGuard,
} from '../../../adapters/undici/outbound-guard.js';
import { type Receiver, startReceiver } from '../../support/receiver.js';

let receiver: Receiver | null = null;
afterEach(async () => {
  await receiver?.close();
});

function outcomeOf(
  guard: OutboundGuard,
  target: ConnectTarget,
  addresses: readonly ResolvedAddress[] = [{ address: '127.0.0.1', family: 4 }],
): Promise<{ error: Error | null; socket: Socket | null }> {
  const resolve = async (): Promise<readonly ResolvedAddress[]> => addresses;
  return new Promise((done) => {
    const options = { timeout: 60_000, partition: '', clientCertificate: null };
    guardedConnector({ guard, lookup: resolve })(target, options, (error, socket) => done({ error, socket }));
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
      isListed: () => false,
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
    const guard: OutboundGuard = {
      judgeHost: () => null,
      judge: () => (++asked === 2 ? 'not this one' : null),
      isListed: () => false,
    };
    const target = { protocol: 'http:', hostname: 'a.example', port: String(receiver.port) };
    const { error, socket } = await outcomeOf(guard, target);
    expect(socket).toBeNull();
    expect(faultFromError(error, 'exchanging')).toEqual({ type: 'address_forbidden', message: 'not this one' });
    await receiver.quiet();
    expect(receiver.requests).toEqual([]);
  });

  describe('a name with several addresses', () => {
    const loopback = { address: '127.0.0.1', family: 4 } as const;
    const loopback6 = { address: '::1', family: 6 } as const;
    const metadata = { address: '169.254.169.254', family: 4 } as const;
    const open = { address: '93.184.216.34', family: 4 } as const;
    const rows: [string, AllowedDestinations, readonly ResolvedAddress[], string][] = [
      ['uses the one listed, whatever comes first', { cidrs: ['127.0.0.0/8'] }, [loopback6, loopback], 'connected'],
      ['never uses one that is not listed', { cidrs: ['127.0.0.0/8'] }, [metadata, loopback], 'connected'],
      ['is refused when a forbidden one stands beside a public one', {}, [open, metadata], 'address_forbidden'],
      ['is refused when nothing is listed', { cidrs: ['10.0.0.0/8'] }, [loopback6, loopback], 'address_forbidden'],
      ['is open when the name is allowed', { hosts: ['a.example'] }, [loopback, metadata], 'connected'],
    ];
    it.each(rows)('%s', async (_rule, allow, addresses, expected) => {
      receiver = await startReceiver();
      const target = { protocol: 'http:', hostname: 'a.example', port: String(receiver.port) };
      const { error, socket } = await outcomeOf(outboundGuard(allow), target, addresses);
      socket?.destroy();
      if (expected === 'connected') expect([error, socket?.remoteAddress]).toEqual([null, '127.0.0.1']);
      else expect(faultFromError(error, 'exchanging').type).toBe(expected);
    });
  });
});
