import { ok, ResultAsync } from 'neverthrow';
import { hostPrincipal, type Principal } from '../../access/principal.js';
import type { AgentHealth, Health } from '../../api/calls/system-calls.js';
import type { StorageError } from '../../ports/storage.js';
import { second } from '../../shared/duration.js';
import type { Instant } from '../../shared/instant.js';
import { table } from '../../shared/table.js';
import { commitValue } from '../commit.js';
import type { EngineContext } from '../context/engine-context.js';

/** How long a result is reused, in milliseconds: unauthenticated callers may request it, and a check costs a write. */
const validFor = second;
/** Timeout of the write, in milliseconds of real time, whatever clock the engine has. */
const timeout = 2 * second;

interface Known {
  readonly since: number;
  readonly health: Promise<Health>;
  /** Whether the previous write has ended; until then no other is started. */
  settled: boolean;
}

const known = new WeakMap<EngineContext['storage'], Known>();

/** Whether the engine's store is writable. Never rejects. */
export function storeHealth(context: EngineContext, maximumAge = validFor): Promise<Health> {
  const now = context.clock.monotonic();
  const last = known.get(context.storage);
  if (last !== undefined && (!last.settled || now - last.since < maximumAge)) return last.health;
  const written = probe(context);
  const asked: Known = { since: now, health: withinTimeout(written), settled: false };
  known.set(context.storage, asked);
  void written.then(() => {
    asked.settled = true;
  });
  return asked.health;
}

/** The same in the form of agents, for the server, the client or both. */
export function healthOfAgent(
  context: EngineContext,
  _caller: Principal,
  { type }: { readonly type?: string },
): ResultAsync<AgentHealth, never> {
  return ResultAsync.fromSafePromise(storeHealth(context)).map((health) => ({
    ...(type === undefined || type === 'server' ? { server: health } : {}),
    ...(type === undefined || type === 'client' ? { client: health } : {}),
  }));
}

async function probe(context: EngineContext): Promise<Health> {
  return probeStore(context).match(
    () => ({ ok: true, message: 'ok' }),
    (error) => ({ ok: false, message: 'the store cannot be written: ' + error.reason }),
  );
}

async function withinTimeout(written: Promise<Health>): Promise<Health> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Health>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, message: 'writing to the store timed out' }), timeout);
  });
  const health = await Promise.race([written, late]);
  clearTimeout(timer);
  return health;
}

/** A row written only to test that the store is writable. One for each engine over the store. */
interface StoreProbe {
  readonly ID: string;
  readonly WrittenAt: Instant;
}

const storeProbes = table<StoreProbe>('store_probes', (probe) => [probe.ID]);

/**
 * Writes a row and waits until it is durable: an engine whose store is not writable (disk full, read-only,
 * locked by another process) cannot work. No reader waits for the table, so none is woken.
 */
export function probeStore(context: EngineContext): ResultAsync<void, StorageError> {
  return commitValue(context, hostPrincipal, (tx) => {
    // Every process has a new owner name, so rows of earlier ones are removed.
    for (const { record } of tx.list(storeProbes)) tx.remove(storeProbes, [record.ID]);
    tx.put(storeProbes, { ID: context.owner, WrittenAt: tx.now });
    return ok(undefined);
  });
}
