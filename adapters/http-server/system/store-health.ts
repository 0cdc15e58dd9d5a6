import { type Engine, probeStore } from '../../../src/index.js';

export interface Health {
  readonly ok: boolean;
  readonly message: string;
}

/** Everybody may ask, and asking costs a write: within this many milliseconds all are told the same. */
const validFor = 1000;
/** A store that takes longer than this many milliseconds for one row is not ready. */
const patience = 2000;

interface Known {
  readonly since: number;
  readonly health: Promise<Health>;
  /** Whether the row has been written or refused; until then no other one is tried. */
  settled: boolean;
}

const known = new WeakMap<Engine, Known>();

/** Whether the engine's store can be written. Never rejects. */
export function storeHealth(engine: Engine, maximumAge = validFor): Promise<Health> {
  const now = performance.now();
  const last = known.get(engine);
  if (last !== undefined && (!last.settled || now - last.since < maximumAge)) return last.health;
  const written = probe(engine);
  const asked: Known = { since: now, health: withinPatience(written), settled: false };
  known.set(engine, asked);
  void written.then(() => {
    asked.settled = true;
  });
  return asked.health;
}

async function probe(engine: Engine): Promise<Health> {
  return probeStore(engine).match(
    () => ({ ok: true, message: 'ok' }),
    (error) => ({ ok: false, message: 'the store cannot be written: ' + error.reason }),
  );
}

async function withinPatience(written: Promise<Health>): Promise<Health> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Health>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, message: 'the store takes too long to write' }), patience);
  });
  const health = await Promise.race([written, late]);
  clearTimeout(timer);
  return health;
}
