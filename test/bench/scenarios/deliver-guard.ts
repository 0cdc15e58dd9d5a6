import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import { guardedConnector } from '../../../adapters/undici/guarded-connector.js';
import { type OutboundGuard, outboundGuard } from '../../../adapters/undici/outbound-guard.js';

export interface GuardCost {
  readonly name: 'deliver.guard';
  /** Processor time of one new connection, in microseconds. */
  readonly unguarded: number;
  readonly guarded: number;
  /** Median of the paired ratios, guarded to unguarded. */
  readonly ratio: number;
  readonly limit: 1.1;
}

const open: OutboundGuard = { judge: () => null, judgeHost: () => null, isListed: () => true };

/** A listener in a process of its own, so that its work is not counted: accepts and ends. */
const listener = `
  const server = require('node:net').createServer((socket) => { socket.on('error', () => {}); socket.resume(); });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

/**
 * What the outbound guard costs where it works: new connections to a name, one after the other, with the guard and with
 * one that allows everything, in alternating slices of one run. About three seconds with 12 slices.
 */
export async function deliverGuard(slices = 12, connectionsPerSlice = 250): Promise<GuardCost> {
  const child = spawn(process.execPath, ['-e', listener], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const port = await new Promise<string>((resolve) => {
      child.stdout.once('data', (line: Buffer) => resolve(String(line).trim()));
    });
    const resolve = async (): Promise<{ address: string; family: 4 }[]> => [{ address: '127.0.0.1', family: 4 }];
    const slice = (guard: OutboundGuard): Promise<number> => {
      const connect = guardedConnector({ guard, lookup: resolve });
      return processorTime(connectionsPerSlice, () => connected(connect, port));
    };
    const guarded = outboundGuard({ cidrs: ['10.0.0.0/8', '127.0.0.0/8'] });
    await slice(open);
    await slice(guarded);
    const pairs: { readonly unguarded: number; readonly guarded: number }[] = [];
    for (let count = 0; count < slices; count += 1) {
      // Turn and turn about, so that a drift of the machine falls on both.
      const first = await slice(count % 2 === 0 ? open : guarded);
      const second = await slice(count % 2 === 0 ? guarded : open);
      pairs.push(count % 2 === 0 ? { unguarded: first, guarded: second } : { unguarded: second, guarded: first });
    }
    return {
      name: 'deliver.guard',
      unguarded: median(pairs.map((pair) => pair.unguarded)),
      guarded: median(pairs.map((pair) => pair.guarded)),
      ratio: median(pairs.map((pair) => pair.guarded / pair.unguarded)),
      limit: 1.1,
    };
  } finally {
    child.kill();
  }
}

function connected(connect: ReturnType<typeof guardedConnector>, port: string): Promise<void> {
  return new Promise((resolve, reject) => {
    connect(
      { protocol: 'http:', hostname: 'receiver.example', port },
      { timeout: 5000, partition: '', clientCertificate: null },
      (error: Error | null, socket: Socket | null) => {
        if (socket === null) reject(error ?? new Error('no connection'));
        else socket.on('close', () => resolve()).resetAndDestroy();
      },
    );
  });
}

/** Microseconds of this process's processor time for each of so many runs, one after the other. */
async function processorTime(runs: number, work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  for (let count = 0; count < runs; count += 1) await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / runs;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
