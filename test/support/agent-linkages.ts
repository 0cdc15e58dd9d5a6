import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createHttpHandler, nodeListener, upgradeListener } from '../../adapters/compat/index.js';
import { randomIds, systemClock } from '../../adapters/node/index.js';
import { httpAgentLink, type RunnerPorts } from '../../adapters/runner/index.js';
import { agentPorts, type Engine, hostPrincipal } from '../../src/index.js';
import { saveToken } from '../../src/operations/access/tokens/save-token.js';
import { readAllocationChecks } from '../../src/operations/allocations/steer-allocation.js';

import { patience } from './patience.js';

/** A link between an agent and an engine, for tests. */
export interface AgentLinkage {
  readonly ports: RunnerPorts;
  /** Resolves when commands for the allocation reach its node. */
  reaches(allocationId: string): Promise<void>;
  close(): Promise<void>;
}

/** A served engine, and a token for the agent of a new node. */
export interface ServedEngine {
  readonly url: string;
  /** Cuts every connection, including WebSockets. */
  cut(): void;
  readonly token: string;
  close(): Promise<void>;
}

export async function serveEngine(engine: Engine, nodeId?: string): Promise<ServedEngine> {
  const handler = createHttpHandler(engine, { access: 'token' });
  const upgrades = upgradeListener(handler);
  const server = createServer(nodeListener(handler)).on('upgrade', upgrades);
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const input = { name: 'agent', type: 'node', ...(nodeId === undefined ? {} : { nodeId }) };
  const token = (await saveToken(engine, hostPrincipal, input))._unsafeUnwrap();
  return {
    url: `http://127.0.0.1:${port}`,
    cut,
    token: token.SecretID,
    close: async () => {
      engine.parked.release();
      upgrades.closeAll();
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface LinkageKind {
  readonly name: string;
  open(engine: Engine): Promise<AgentLinkage>;
}

export const agentLinkages: readonly LinkageKind[] = [
  {
    name: 'in the same process',
    open: async (engine) => ({
      ports: agentPorts(engine),
      reaches: (id) => reaches(engine, id),
      close: async () => undefined,
    }),
  },
  {
    name: 'over HTTP',
    open: async (engine) => {
      const { url, token, close } = await serveEngine(engine);
      const clock = systemClock();
      const ports = { link: httpAgentLink({ url, token, clock }), clock, ids: randomIds() };
      return { ports, reaches: (id) => reaches(engine, id), close };
    },
  },
];

async function reaches(engine: Engine, allocationId: string): Promise<void> {
  for (const limit = AbortSignal.timeout(patience); ; ) {
    const asked = await readAllocationChecks(engine, hostPrincipal, { allocationId });
    if (asked.isOk()) return;
    if (limit.aborted) throw new Error(`The node cannot be reached: ${JSON.stringify(asked.error)}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
