import { errAsync } from 'neverthrow';
import {
  type ManualClock,
  manualClock,
  memoryStorage,
  recordingDelivery,
  sequentialIds,
} from '../../adapters/memory/index.js';
import type { FunctionDefinition } from '../../src/functions/define-function.js';
import { createEngine } from '../../src/index.js';
import { createFunctions } from '../../src/operations/functions/create-functions.js';
import type { Functions, FunctionsOptions } from '../../src/operations/functions/functions-api.js';
import type { Storage } from '../../src/ports/storage.js';

/** A store, and the clock of all processes over it. */
export interface World {
  readonly clock: ManualClock;
  readonly storage: Storage;
  readonly ids: ReturnType<typeof sequentialIds>;
}

export const world = (storage: Storage = memoryStorage()): World => ({
  clock: manualClock(),
  storage,
  ids: sequentialIds(),
});

const opened: Functions[] = [];

/** Ends what the tests of a file have started. */
export function stopAll(): void {
  for (const functions of opened.splice(0)) void functions.stop({ deadline: 0 });
}

/** A process of its own over a store. */
export async function processOver(
  { clock, storage, ids }: World,
  definitions: readonly FunctionDefinition<never, unknown>[],
  options: FunctionsOptions & { readonly starts?: boolean; readonly maximumUnfinished?: number } = {},
): Promise<Functions> {
  const { starts = true, maximumUnfinished, ...rest } = options;
  const settings = maximumUnfinished === undefined ? {} : { functions: { maximumUnfinished } };
  const engine = createEngine({ storage, clock, ids, delivery: recordingDelivery({ clock }) }, settings);
  const functions = createFunctions(engine, definitions, rest);
  opened.push(functions);
  if (starts) await functions.start();
  return functions;
}

/** A process that can be killed: from then on nothing that it does reaches the store. */
export function mortal(storage: Storage): { readonly storage: Storage; readonly kill: () => void } {
  let isDead = false;
  const dead = () => errAsync({ type: 'storage_failed', reason: 'closed', message: 'killed' } as const);
  return {
    storage: {
      read: (work) => (isDead ? dead() : storage.read(work)),
      write: (work) => (isDead ? dead() : storage.write(work)),
      waitForChange: (tables, after, signal) => storage.waitForChange(tables, after, signal),
      close: () => storage.close(),
    },
    kill: () => {
      isDead = true;
    },
  };
}
