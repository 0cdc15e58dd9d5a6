import type { Health } from '../../api/calls/system-calls.js';
import { second } from '../../shared/duration.js';
import type { EngineContext } from '../context/engine-context.js';
import { probeStore } from './probe-store.js';

/** How long a result is reused, in milliseconds: unauthenticated callers can request it, and a check costs a write. */
const validFor = second;
/** Timeout of the write, in milliseconds of real time, independent of the engine's clock. */
const timeout = 2 * second;

interface Known {
  readonly since: number;
  readonly health: Promise<Health>;
  /** Whether the row has been written or refused; until then no other one is tried. */
  settled: boolean;
}

const known = new WeakMap<EngineContext['storage'], Known>();

/** Whether the engine's store is writable. Never rejects. */
export function storeHealth(context: EngineContext, maximumAge = validFor): Promise<Health> {
  const now = context.clock.monotonic();
  const last = known.get(context.storage);
  if (last !== undefined && (!last.settled || now - last.since < maximumAge)) return last.health;
  const written = probe(context);
  const asked: Known = { since: now, health: withTimeout(written), settled: false };
  known.set(context.storage, asked);
  void written.then(() => {
    asked.settled = true;
  });
  return asked.health;
}

async function probe(context: EngineContext): Promise<Health> {
  return probeStore(context).match(
    () => ({ ok: true, message: 'ok' }),
    (error) => ({ ok: false, message: 'the store cannot be written: ' + error.reason }),
  );
}

async function withTimeout(written: Promise<Health>): Promise<Health> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Health>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, message: 'a write to the store took too long' }), timeout);
  });
  const health = await Promise.race([written, late]);
  clearTimeout(timer);
  return health;
}
